"""Questions that take some actions of their role alone, in every way in which an episode is played.

The owner of the strict workshop saves on even days and repairs the lathe on odd days.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.stub import call, serving
from support.two_questions import Repair, Save, Workshop

from desim import Episode, Role, Run, World, play, replay
from desim.composition import Composite
from desim.episodes.replay import branch, repeated
from desim.episodes.resume import resume
from desim.errors import BadRecord, UsageError, WrongAction
from desim.records.writer import cut
from desim.studies.check import check
from desim.ui.game import Game

STRICT = Workshop(strict=True)

POSSIBLE = [("save",), ("repair",), ("save",), ("repair",)]


def saved(episode: Episode) -> list[Any]:
    """Return the actions of an episode."""
    return [step.action for step in episode.steps]


def test_another_action_of_the_role_is_wrong() -> None:
    """The error names those that the question takes, and the question stays open."""
    run = Run(STRICT)
    run.answer(run.advance()[0], Save(1))
    (decision,) = run.advance()
    with pytest.raises(
        WrongAction, match=r"'owner' answered at t=1: Save\(amount=1\); expected Re"
    ):
        run.answer(decision, Save(1))
    with pytest.raises(WrongAction, match=r"Possible: repair.*takes no other action"):
        run.answer(decision, {"do": "save", "amount": 1})
    assert run.open == [decision]
    run.answer(decision, {"do": "repair"})
    assert decision.action == Repair()


@pytest.mark.parametrize("policy", ["greedy", "random", "rollout,samples=2"])
def test_policies_that_choose_options_choose_among_those(policy: str) -> None:
    """The other options that the role offers are left out."""
    for seed in range(4):
        made = saved(play(STRICT, policy, seed))
        assert [type(action) for action in made] == [Save, Repair, Save, Repair]


def test_the_default_action_is_one_of_those() -> None:
    """The role's own if the question takes it, or else the first option that it takes."""
    role = Role(int, Save | Repair, STRICT.options, default_action=lambda _: Save(7))
    seen = Run(STRICT).advance()[0].observation
    assert role.narrowed(Save).default_for(seen) == Save(7)
    with pytest.raises(UsageError, match="no option of the role is Repair"):
        role.narrowed(Repair).default_for(seen)
    with pytest.raises(UsageError, match="no option of the role is Repair"):
        Role(int, Save | Repair, None, default_action=lambda _: Save(7)).narrowed(
            Repair
        ).default_for(seen)


def test_records_say_what_was_possible(tmp_path: Path) -> None:
    """In memory as on disk; a replay compares it, and nothing is written at other questions."""
    file = tmp_path / "a.jsonl"
    played = play(STRICT, "greedy", record=file)
    kept = Episode.read(file)
    assert [step.possible for step in played.steps] == POSSIBLE
    assert [step.possible for step in kept.steps] == POSSIBLE
    kept.write(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == file.read_bytes()
    assert replay(file, trust=True).score == played.score
    free = play(Workshop(), "greedy", record=tmp_path / "free.jsonl")
    assert [step.possible for step in free.steps] == [()] * 4
    assert "possible" not in (tmp_path / "free.jsonl").read_text()
    with pytest.raises(BadRecord, match=r"decision 1 .*\$\.possible"):
        repeated(Workshop(), played.header, played.steps)


def test_a_cut_record_is_played_on(tmp_path: Path) -> None:
    """By a policy that follows the questions."""
    whole = play(STRICT, "random", 3, record=tmp_path / "a.jsonl")
    cut(tmp_path / "a.jsonl", 2)
    assert saved(resume(tmp_path / "a.jsonl", trust=True)) == saved(whole)
    run = branch(whole, 1)
    assert run.open[0].possible == ("repair",)


def test_a_part_narrows_too() -> None:
    """The question goes out again on the common clock."""
    firms = Composite({"east": STRICT, "west": Workshop()})
    made = play(firms, "random", 1).steps
    assert [step.possible for step in made if step.role == "east.owner"] == POSSIBLE
    assert {step.possible for step in made if step.role == "west.owner"} == {()}


@pytest.mark.parametrize("mode", ["tools", "json", "schema"])
def test_a_language_model_is_offered_those_alone(mode: str) -> None:
    """As tools, in the prompt and in the schema of the answer; another action is a bad reply."""
    save, repair = call(("save", {"amount": 2})), call(("repair", {}))
    with serving(save, save, repair, save, repair) as stub:
        episode = play(STRICT, f"llm,model=stub,base_url={stub.url},mode={mode}")
    assert [type(action) for action in saved(episode)] == [Save, Repair, Save, Repair]
    offered = [json.dumps({**body, "messages": body["messages"][:1]}) for body in stub.requests]
    # The second request is repeated, because its reply was an action of another question.
    assert ["Put money" in text for text in offered] == [True, False, False, True, False]
    assert ["Repair the machine" in text for text in offered] == [False, True, True, False, True]


def test_a_person_is_offered_those_alone(tmp_path: Path) -> None:
    """As options and as forms; another action is refused."""
    with Game(STRICT, 0, tmp_path / "game.jsonl") as game:
        assert [option.action for option in game.view.options] == [Save(2), Save(1)]
        game.answer(game.view.turn, Save(1))
        assert [option.action for option in game.view.options] == [Repair()]
        with pytest.raises(WrongAction, match="expected Repair"):
            game.answer(game.view.turn, Save(1))
        assert game.view.spec is not None
        assert game.view.spec.tags == ("repair",)


def test_a_world_that_narrows_passes_its_checks() -> None:
    """Every action is tried where a question takes it."""
    found = {one.check: one for one in check(STRICT).findings}
    assert [one for one in found.values() if one.outcome == "FAILED"] == []
    assert found["options"].text == "18 options: in the schema, and none refused"
    assert "extreme actions" in found["actions"].text


@frozen
class Asks(Workshop):
    """A workshop that narrows its first question to something."""

    to: Any = None

    def _run(self, world: World, till: Any) -> Iterator[Any]:
        yield world.ask("owner", lambda: STRICT and till, actions=self.to)


@pytest.mark.parametrize("to", [(), (Save, int), Workshop, [], "save", [["save"]]])
def test_a_question_that_takes_something_else_is_refused(to: Any) -> None:
    """The error names the tick and the classes that are possible."""
    with pytest.raises(UsageError, match=r"the question to 'owner' at t=0: .*possible: Save, Rep"):
        Run(Asks(to=to)).advance()
