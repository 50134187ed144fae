"""Decisions that take time: the world goes on while a role thinks."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import frozen
from support.slow_guards import Diary, Guards, Post, Step, Tokens, days_of

from desim import Model, Role, Run, World, play
from desim.composition import Composite
from desim.core.roles import MOST_TICKS, Thinking
from desim.errors import UsageError


def finished(run: Run[Any]) -> Run[Any]:
    """Answer all questions of a run with one step."""
    while decisions := run.advance():
        for decision in decisions:
            run.answer(decision, Step())
    return run


def thinking(**given: Any) -> Run[Diary]:
    """Return the finished run of guards of whom the left one thinks."""
    return finished(Run(Guards(Thinking(**given))))


USAGE = {"usage": {"seconds": 2.5, "completion_tokens": 1500}}


@pytest.mark.parametrize(
    ("given", "notes", "ticks"),
    [
        ({}, USAGE, 0),
        ({"latency": 3}, None, 3),
        ({"per_second": 2}, USAGE, 5),
        ({"per_second": 0.39}, USAGE, 0),
        ({"per_1000_tokens": 3}, USAGE, 4),
        ({"latency": 1, "per_second": 2, "per_1000_tokens": 3}, USAGE, 10),
        ({"latency": 1, "per_second": 2, "most": 4}, USAGE, 4),
        ({"per_second": 2}, {"usage": {"seconds": math.nan, "completion_tokens": "7"}}, 0),
        ({"per_second": 2}, {"usage": {"seconds": -3}}, 0),
        ({"per_second": 2}, {"usage": {"seconds": math.inf}}, MOST_TICKS),
        ({"per_1000_tokens": 2}, {"usage": {"completion_tokens": 10**400}}, MOST_TICKS),
        ({"per_second": 2}, {"usage": 5}, 0),
        ({"latency": MOST_TICKS, "per_second": 1e15}, USAGE, MOST_TICKS),
    ],
)
def test_what_a_decision_used_is_whole_ticks(
    given: dict[str, Any], notes: dict[str, Any] | None, ticks: int
) -> None:
    """Cut to whole ticks, limited, and 0 for notes without numbers."""
    assert Thinking(**given).ticks(notes) == ticks


@pytest.mark.parametrize(
    "given", [{"latency": -1}, {"latency": 1.5}, {"per_second": math.nan}, {"most": -1}]
)
def test_a_time_is_a_number_of_at_least_0(given: dict[str, Any]) -> None:
    """Others are refused when the object is made."""
    with pytest.raises(ValueError, match=r"latency|per_second|most"):
        Thinking(**given)


def test_the_world_goes_on_while_a_role_thinks() -> None:
    """The bell rings and the other guard walks every day; the slow one every third."""
    diary = thinking(latency=2).state
    assert days_of(diary, "bell") == days_of(diary, "right") == [1, 2, 3, 4, 5, 6]
    assert days_of(diary, "left") == [3, 6]


def test_an_answer_without_delay_takes_effect_at_once() -> None:
    """As in a role that takes no time."""
    assert thinking(per_second=9).state == thinking().state


@pytest.mark.parametrize("before", [None, 1])
def test_a_late_answer_has_the_place_of_its_question(before: int | None) -> None:
    """Behind the events of its tick that come before the question, before the others."""
    diary = finished(Run(Guards(Thinking(latency=1), before=before))).state
    entries = [who for day, who, _ in diary.entries if day == 2 and who != "right"]
    assert entries == (["bell", "left"] if before is None else ["left", "bell"])


@pytest.mark.parametrize("before", [None, 1])
def test_a_late_answer_comes_before_the_questions_of_its_tick(before: int | None) -> None:
    """The right guard observes on day 2 what the left one has done then."""
    run: Run[Diary] = Run(Guards(Thinking(latency=1), before=before))
    for decision in run.advance():
        run.answer(decision, Step())
    (decision,) = run.advance()
    assert (decision.role, decision.observation) == ("right", Post(2, 2))


def test_an_answer_after_the_end_has_no_effect() -> None:
    """The episode ends while the guard thinks; the decision counts as one."""
    run = thinking(latency=50)
    assert days_of(run.state, "left") == []
    assert run.result().ended == "horizon"
    assert run.result().decisions == 7


def test_a_delay_may_be_given_with_the_answer() -> None:
    """It replaces the latency of the role, in both directions."""
    run: Run[Diary] = Run(Guards(Thinking(latency=50)))
    while decisions := run.advance():
        for decision in decisions:
            run.answer(decision, Step(), {"left": 0, "right": 3}[decision.role])
    assert days_of(run.state, "left") == [1, 2, 3, 4, 5, 6]
    assert days_of(run.state, "right") == [4]


@pytest.mark.parametrize("delay", [-1, 1.0, True, MOST_TICKS + 1, math.nan])
def test_a_delay_is_a_whole_number_of_ticks(delay: Any) -> None:
    """Another one is refused, and the question stays open."""
    run: Run[Diary] = Run(Guards())
    left, right = run.advance()
    with pytest.raises(UsageError, match=r"a delay of .* was given for 'left'; it is a whole"):
        run.answer(left, Step(), delay)
    assert run.open == [left, right]


@frozen
class Patience(Model[list[Any]]):
    """Waits two days for an answer, then goes on without."""

    thinking: Thinking

    @property
    def roles(self) -> dict[str, Role]:
        """Return the only role."""
        return {"one": Role(int, Step, thinking=self.thinking)}

    def begin(self, world: World) -> list[Any]:
        """Start the only process."""
        log: list[Any] = []
        world.process(self._wait(world, log))
        return log

    def _wait(self, world: World, log: list[Any]) -> Iterator[Any]:
        question = world.ask("one", lambda: 0)
        yield question | world.timeout(2, rank=1)
        log.append((world.now, question.processed))
        yield world.timeout(9)

    def score(self, log: list[Any]) -> float:
        """Return nothing of interest."""
        return 0.0

    def metrics(self, log: list[Any]) -> dict[str, Any]:
        """Return none."""
        return {}


@pytest.mark.parametrize(("latency", "seen"), [(1, (1, True)), (2, (2, False)), (7, (2, False))])
def test_a_world_may_go_on_without_an_answer(latency: int, seen: tuple[int, bool]) -> None:
    """It waits for the answer or a deadline; a later answer changes nothing."""
    run: Run[Any] = finished(Run(Patience(Thinking(latency=latency))))
    assert run.state == [seen]
    assert run.world.now == max(2, 9 + seen[0])


def test_a_part_delays_answers_in_its_own_ticks() -> None:
    """Days in the microseconds of the common clock; what was alone is the same in a group."""
    alone = Guards(Thinking(latency=2))
    group = Composite({"gate": alone, "tower": Guards(Thinking(latency=1))}, ends="all")
    run = finished(Run(group))
    assert run.state.parts["gate"].state == finished(Run(alone)).state
    assert days_of(run.state.parts["tower"].state, "left") == [2, 4, 6]


def test_notes_of_a_policy_become_ticks() -> None:
    """By its tokens; a policy without notes takes the latency alone."""
    model = Guards(Thinking(latency=1, per_1000_tokens=2))
    tokens = play(model, {"left": Tokens(500), "right": Tokens(9000)})
    assert [step.delay for step in tokens.steps if step.role == "left"] == [2, 2]
    assert {step.delay for step in tokens.steps if step.role == "right"} == {0}
    without = play(model, "greedy")
    assert [step.delay for step in without.steps if step.role == "left"] == [1, 1, 1]
