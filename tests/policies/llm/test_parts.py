"""Language models in seats of several models on one clock: whose world, prompts, sums, kills."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.groups import Inn, Town
from support.scripted import conversation_at
from support.stub import Served, Stub, call, serving, text

from desim import Episode, Run, catalog, play, play_series, resume
from desim.composition import Composite
from desim.episodes.lineup import seat_of

#: Tokens that each of the two models reports for a reply: read and written.
TOKENS = {"miller": (100, 1), "host": (20, 7)}
#: Sacks and beds that they answer with.
SACKS, BEDS = 2, 1
#: Decisions of the miller and of the landlord.
MONTHS, WEEKS = 5, 4


def answers(_: int, body: dict[str, Any]) -> Served:
    """Answer as one of the two models, by its name."""
    name = body["model"]
    read, written = TOKENS[name]
    usage = {"prompt_tokens": read, "completion_tokens": written}
    given = {"miller": ("grind", {"sacks": SACKS}), "host": ("invest", {"beds": BEDS})}
    return call(given[name], usage=usage)


@pytest.fixture
def stub() -> Iterator[Stub]:
    """One endpoint with two models."""
    with serving(answers) as server:
        yield server


def specs(stub: Stub, more: str = "") -> dict[str, str]:
    """Return two models and two rules."""
    return {
        "mill.miller": f"llm,model=miller,base_url={stub.url}{more}",
        "mill.carter": "greedy",
        "inn.landlord": f"llm,model=host,base_url={stub.url}{more}",
    }


def asked(stub: Stub, name: str) -> list[list[dict[str, Any]]]:
    """Return the messages of all requests to one of the models."""
    return [body["messages"] for body in stub.requests if body["model"] == name]


def usage(episode: Episode) -> dict[str, dict[str, float]]:
    """Return what was used by role."""
    assert episode.result is not None
    return episode.result.usage


# -- whose world -----------------------------------------------------------------------------------


#: The worlds that are not made of others.
SINGLE = [name for name in catalog.models() if not catalog.model(name).models]


@pytest.mark.parametrize("name", SINGLE)
def test_shipped_worlds_have_their_conversations_in_a_part(name: str) -> None:
    """The first question of every world is that of the world alone, with its own file's prompt."""
    model = catalog.model(name)
    group = Composite({"one": model, "inn": Inn()})
    for role in model.roles:
        seat = seat_of(group, f"one.{role}", 3)
        here, alone = conversation_at(seat), conversation_at(seat_of(model, role, 3))
        assert type(here).__module__ == f"policies.llm.worlds.{name}"
        seen = _first_observation(model, role, seat.seed)
        assert here.question(seen) == alone.question(seen)


def _first_observation(model: Any, role: str, seed: int) -> Any:
    """Return what a role is shown when it is first asked; the others take their default action."""
    run = Run(model, seed, [role, *model.default_roles])
    while decisions := run.advance():
        for each in decisions:
            if each.role == role:
                return each.observation
            run.answer(each, model.roles[each.role].default_for(each.observation))
    raise AssertionError(f"{role} is never asked")


def test_prompts_speak_of_the_part_and_its_role(stub: Stub) -> None:
    """Not of the whole, and not of the other part's conversation."""
    play(Town(), specs(stub), 4)
    [mill, inn] = (asked(stub, name) for name in ("miller", "host"))
    assert (len(mill), len(inn)) == (MONTHS, WEEKS)
    rules = {name: messages[0][0]["content"] for name, messages in (("m", mill), ("i", inn))}
    assert "You play 'miller' in a simulation" in rules["m"]
    assert rules["m"].startswith("The mill whose every part can fail")
    assert "You play 'landlord' in a simulation" in rules["i"]
    assert rules["i"].startswith("An inn whose landlord buys beds")
    every = json.dumps(stub.requests)
    assert "mill.miller" not in every
    assert "inn.landlord" not in every
    assert [json.loads(messages[-1]["content"])["week"] for messages in inn] == [0, 1, 2, 3]


def test_a_model_learns_from_the_episode_of_its_part() -> None:
    """As it does alone: the five metrics of the firm and its own decision."""
    plan = {"C": 9, "R": 0, "P": [[1, 0, 95]] * 10}
    with serving(text(json.dumps(plan))) as stub:
        spec = f"llm,model=m,base_url={stub.url}"
        group = Composite({"firm": catalog.model("edt"), "inn": Inn()})
        play_series(group, {"firm": spec, "inn": "greedy"}, range(2))
        play_series("edt", spec, range(2))
    _, second, _, alone = (body["messages"][-1]["content"] for body in stub.requests)
    assert '"decision": {"C": 9' in second
    assert second == alone


# -- one episode -----------------------------------------------------------------------------------


def test_a_cut_record_is_resumed_without_a_second_request(stub: Stub, tmp_path: Path) -> None:
    """Wherever it was cut, each model gets its own replies back."""
    whole = tmp_path / "whole.jsonl"
    episode = play(Town(), specs(stub), 4, record=whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        cut = tmp_path / f"cut{kept}.jsonl"
        cut.write_bytes(b"".join(lines[:kept]))
        paid = sum(
            json.loads(line).get("entry", {}).get("reply") is not None for line in lines[:kept]
        )
        del stub.requests[:]
        resumed = resume(cut, trust=True)
        assert len(stub.requests) == MONTHS + WEEKS - paid
        assert (resumed.score, resumed.ledger_digest) == (episode.score, episode.ledger_digest)
        assert {r: u["replies"] for r, u in usage(resumed).items()} == {
            "mill.miller": MONTHS,
            "inn.landlord": WEEKS,
        }


# -- kills -----------------------------------------------------------------------------------------
