"""Episodes that begin at a decision on record, through the session and through every adapter."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.agents import answered

import desim
from desim.adapters.seat.setup import Setup, is_same_setup
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.schema import plain_observation

WORLD, SEAT, SEED = "beer_game/poisson", "retailer", 3

#: A decision of the retailer's, counted from 1 over all roles.
AT = 41


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record of four rules."""
    path = tmp_path_factory.mktemp("records") / "four.jsonl"
    roles = ("retailer", "wholesaler", "distributor", "factory")
    desim.play(WORLD, dict.fromkeys(roles, "order_up_to"), SEED, record=path)
    return path


def setup(record: Any, at: Any = AT, **options: Any) -> Setup:
    """Return the retailer's setup, which begins on record, with its rules in the other seats."""
    starts = {"record": record, "at": at}
    return Setup.of(WORLD, seats=SEAT, starts=starts, **{"others": "order_up_to", **options})


def expected(record: Path, at: int = AT) -> Any:
    """Return the observation on record as plain values."""
    return plain_observation(Episode.read(record).steps[at - 1].observation, dict)


@pytest.mark.parametrize("at", [1, 2, AT, 205])
def test_the_recorded_answers_lead_to_the_recorded_end(record: Path, at: int) -> None:
    """Without a seed the episode goes on in the world of the record, with the same other roles."""
    past = Episode.read(record)
    with setup(record, at).begin(None) as session:
        score = session.run.score()
        assert session.rewards() == {SEAT: 0}
        total = 0.0
        for step in past.steps[at - 1 :]:
            if step.role == SEAT:
                answered(session, step.action)
                total += session.rewards()[SEAT]
        assert session.result == past.result
        assert total == pytest.approx(past.score - score)


def test_a_seed_draws_what_no_role_can_have_observed(record: Path) -> None:
    """The first observation is the same for every seed; later ones differ between seeds."""
    ends = {}
    for seed in (None, 0, 1, 1):
        with setup(record).begin(seed) as session:
            assert json.loads(session.text()) == expected(record)
            while not session.done:
                session.answer_default(session.open[0])
                session.advance()
            assert ends.setdefault(seed, session.run.score()) == session.run.score()
    assert len(set(ends.values())) == 3


def test_another_policy_of_another_role_begins_after_the_repeated_decisions(record: Path) -> None:
    """It need not have made the decisions on record."""
    with setup(record, others="constant,quantity=4").begin(None) as session:
        assert json.loads(session.text()) == expected(record)


def test_limits_count_from_the_start(record: Path) -> None:
    """An episode of three decisions begins in the middle of a record."""
    with setup(record, max_decisions=3).begin(1) as session:
        week = session.tick
        while not session.done:
            session.answer_default(session.open[0])
            session.advance()
        assert session.truncated
        assert session.answered - session.repeated == 3
        assert session.tick - week == 3


def test_the_record_of_a_started_episode_replays(record: Path, tmp_path: Path) -> None:
    """It holds the repeated decisions, where each policy began, and the redrawn future."""
    new = tmp_path / "new.jsonl"
    with setup(record).begin(5, record=new) as session:
        while not session.done:
            session.answer_default(session.open[0])
            session.advance()
    header = Episode.read(new).header
    assert (header.seed, header.starts, header.futures) == (SEED, {SEAT: AT - 1}, ((AT - 1, 5),))
    assert desim.replay(new).score == session.run.score()


def test_a_started_episode_that_was_cut_is_continued(record: Path, tmp_path: Path) -> None:
    """Its limits still count from the start, and other policies begin where they began."""
    new, begun = tmp_path / "new.jsonl", setup(record, max_decisions=5)
    with begun.begin(5, record=new) as session:
        answered(session, {"do": "order", "quantity": 7})
    past = Episode.read(new, whole=False)
    assert is_same_setup(begun, past.header, "external")
    with begun.begin(past.header.seed, past=past, record=new) as session:
        assert session.answered - session.repeated == 1
        while not session.done:
            answered(session, {"do": "order", "quantity": 7})
        assert session.answered - session.repeated == 5


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (210, "at 210 was given; .* has 208 decisions, so at most 208 is possible"),
        (0, "at 0 was given; it is a whole number of at least 1"),
        (True, "at True was given"),
        (4.0, "at 4.0 was given"),
    ],
    ids=str,
)
def test_a_number_that_the_record_does_not_have_is_refused(
    record: Path, at: Any, text: str
) -> None:
    """When the setup is made, and not in the middle of a training."""
    with pytest.raises(UsageError, match=text):
        setup(record, at)


def test_a_record_of_another_world_is_refused(record: Path, tmp_path: Path) -> None:
    """So are one of other parameters and one of other roles; the sentence names the difference."""
    other = tmp_path / "edt.jsonl"
    desim.play("edt/published", "greedy", 1, record=other)
    with pytest.raises(UsageError, match=r"of another setup .*model.*edt.*beer_game"):
        setup(other, 1)
    with pytest.raises(UsageError, match=r"setup .*horizon.* 52.* 8"):
        setup(record, 1, params={"horizon": 8})
    alone = tmp_path / "alone.jsonl"
    desim.play(WORLD, "order_up_to", 1, record=alone)
    with pytest.raises(UsageError, match=r"setup .*roles"):
        setup(alone, 1)
    for starts in ("gone.jsonl", {"record": "x"}, {"at": 3}):
        with pytest.raises(UsageError, match=r"starts .* was given; it is"):
            Setup.of(WORLD, starts=starts)


def test_a_stranger_s_record_is_data(record: Path, tmp_path: Path) -> None:
    """Another file and changed decisions are refused; no module is imported, no file is left."""
    made, new = tmp_path / "made.jsonl", tmp_path / "new.jsonl"
    lines = record.read_text().splitlines(keepends=True)
    texts = {
        "": "the file is empty",
        lines[0].replace('"beer_game"', '"no_such_module:World"'): "setup .*no_such",
        "".join(lines[:3]).replace('"incoming_order":', '"incoming_order":1'): "decision 1 ",
    }
    for text, sentence in texts.items():
        made.write_text(text)
        with pytest.raises((BadRecord, UsageError), match=sentence):
            setup(made, max(1, text.count("\n"))).begin(1, record=new)
    assert not new.exists()


# -- adapters -------------------------------------------------------------------------------------


def of_gymnasium(record: Path, seed: int | None) -> Mapping[str, Any]:
    """Return the observation of `reset`."""
    from desim.adapters.gymnasium import SeatEnv

    env = SeatEnv(WORLD, seat=SEAT, others="order_up_to", starts=begins_at(record))
    return numbers(env.reset(seed=seed)[0])


def numbers(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a member of an observation space."""
    found = {name: each for name, each in seen.items() if getattr(each, "shape", None) == ()}
    return {name: each.item() for name, each in found.items()}


def begins_at(record: Path) -> dict[str, Any]:
    """Return the one start of a curriculum."""
    return {"record": str(record), "at": AT}


def test_an_environment_begins_with_the_recorded_observation(record: Path) -> None:
    """With a redrawn future and without one."""
    pytest.importorskip("gymnasium")
    wanted = expected(record)
    for seed in (None, 11):
        seen = of_gymnasium(record, seed)
        assert seen
        assert {name: wanted[name] for name in seen} == dict(seen)
