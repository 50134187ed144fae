"""One episode at play: the notes of its policies, and policies that fail."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from support.failing_world import Grind, Mill
from support.recorded import GAME, Dies

from desim import Episode, Policy, play, play_async, sweep
from desim.errors import ModelFailed, PolicyFailed, WrongAction
from models.beer_game import Order, Stage
from policies.heuristics.beer_game import Foresight

# -- notes -----------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a record goes."""
    return tmp_path / "run.jsonl"


@define
class Thinks(Policy):
    """A policy that notes tokens."""

    notes: dict[str, Any] = field(factory=dict)

    def decide(self, stage: Stage) -> Order:
        """Order nothing, and note something in every second week."""
        self.notes = {} if stage.week % 2 else {"tokens": stage.week, "tried": ["a"]}
        return Order(0)


def test_notes_of_a_policy_are_recorded(file: Path) -> None:
    """Each with its decision; empty notes are not written."""
    episode = play(GAME, Thinks(), record=file)
    expected = [{"tokens": w, "tried": ["a"]} if w % 2 == 0 else None for w in range(6)]
    assert [s.notes for s in episode.steps] == expected
    assert [s.notes for s in Episode.read(file).steps] == expected


def test_recorded_notes_are_a_copy() -> None:
    """The policy may change its lists afterwards."""

    class Appends(Policy):
        def __init__(self) -> None:
            self.notes: dict[str, Any] = {"weeks": []}

        def decide(self, stage: Stage) -> Order:
            self.notes["weeks"].append(stage.week)
            return Order(0)

    steps = play(GAME, Appends()).steps
    assert [s.notes["weeks"] for s in steps if s.notes] == [[*range(w + 1)] for w in range(6)]


@pytest.mark.parametrize(
    "notes", [{"x": object()}, {"x": Order}, 3, "text"], ids=["object", "class", "number", "text"]
)
def test_notes_that_are_no_json_values_fail_the_policy(notes: Any) -> None:
    """Whether or not the episode is recorded."""

    class Scribbles(Policy):
        def __init__(self) -> None:
            self.notes = notes

        def decide(self, stage: Stage) -> Order:
            return Order(0)

    with pytest.raises(PolicyFailed, match="Scribbles failed as 'retailer' at t=0"):
        play(GAME, Scribbles())


# -- failing policies ------------------------------------------------------------------------------


def test_a_failing_policy_is_named() -> None:
    """The error names policy, role, tick and cause, and chains the original error."""
    fault = KeyError("missing")
    with pytest.raises(PolicyFailed) as failed:
        play(GAME, {"wholesaler": Dies(3, fault), "retailer": "typical"})
    assert str(failed.value).startswith("policy Dies(after_weeks=3")
    assert str(failed.value).endswith("failed as 'wholesaler' at t=3: KeyError: 'missing'")
    assert failed.value.__cause__ is fault
    assert len(failed.value.args) == 1


def test_a_policy_from_a_spec_is_named_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error shows the spec, not the `repr` of the instance."""

    def breaks(self: Foresight, stage: Stage) -> Order:
        raise ZeroDivisionError

    monkeypatch.setattr(Foresight, "decide", breaks)
    with pytest.raises(PolicyFailed, match=r"^policy foresight failed as 'retailer' at t=0: Zero"):
        play(GAME, "foresight")


@pytest.mark.parametrize("driver", [play, lambda *a, **k: asyncio.run(play_async(*a, **k))])
def test_a_policy_that_exits_has_failed(driver: Any, file: Path) -> None:
    """SystemExit would end the command with its own code and without a word."""

    def exits(day: Any) -> Any:
        sys.exit(0)

    with pytest.raises(PolicyFailed, match=r"failed as 'miller' at t=0: SystemExit: 0"):
        driver(Mill(), {"miller": exits}, record=file)
    record = Episode.read(file, whole=False)
    assert (record.steps, record.result, record.failure) == ((), None, None)


def test_a_model_that_exits_is_a_failed_run_and_row(file: Path) -> None:
    """The record says where; a sweep goes on with its next row."""
    with pytest.raises(ModelFailed, match=r"failed at t=0 in .*: SystemExit: 4"):
        play(Mill(), {"miller": lambda _: Grind(99)}, record=file)
    failure = Episode.read(file, whole=False).failure
    assert failure is not None
    assert failure.error.endswith("SystemExit: 4")
    rows = sweep(Mill(), {"miller": f"{__name__}:Exits"}, range(2))
    assert [row["error"].startswith("ModelFailed: model Mill failed") for row in rows] == [True] * 2


class Exits(Policy):
    """Makes the mill end its process."""

    def decide(self, day: Any) -> Grind:
        """Grind 99 sacks."""
        return Grind(99)


def test_an_error_of_desim_is_not_wrapped() -> None:
    """A policy that raises `PolicyFailed` or another `DesimError` has explained itself."""
    fault = PolicyFailed("out of script")
    for run in (play, lambda *a: asyncio.run(play_async(*a))):
        with pytest.raises(PolicyFailed) as failed:
            run(GAME, Dies(1, fault))
        assert failed.value is fault
        assert failed.value.__cause__ is None


@pytest.mark.parametrize("answer", [None, 12, {"do": "ordr"}, Order])
def test_a_wrong_action_names_role_and_tick(answer: Any) -> None:
    """The error also states what the role expects."""

    class Answers(Policy):
        def decide(self, stage: Stage) -> Any:
            return answer

    with pytest.raises(WrongAction, match=r"'retailer' answered at t=0: .*expected Order"):
        play(GAME, Answers())


def test_a_coroutine_gets_a_loop_of_its_own() -> None:
    """`play` awaits it where no event loop runs; the others decide without one."""

    class Waits(Policy):
        async def decide(self, stage: Stage) -> Order:
            await asyncio.sleep(0)
            return Order(stage.week)

    mixed = play(GAME, {"retailer": "typical", "wholesaler": Waits()})
    assert [s.action.quantity for s in mixed.steps if s.role == "wholesaler"] == [*range(6)]


def test_a_coroutine_inside_a_loop_needs_the_other_driver() -> None:
    """The error names `play_async`, and Python warns of no coroutine that was never awaited."""

    class Waits(Policy):
        async def decide(self, stage: Stage) -> Order:
            return Order(0)

    async def inside() -> None:
        play(GAME, Waits())

    with pytest.raises(PolicyFailed, match=r"'retailer' is a coroutine.*; use play_async"):
        asyncio.run(inside())
