"""What a fault inside a model does: the run names it and is dead."""

import pickle
import sys
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from structlog.testing import capture_logs
from support.cases import stable
from support.stage import Bid, Seen, Stage, asking

from desim import Run, World, errors
from desim.errors import (
    DesimError,
    ModelFailed,
)


class Strange(Exception):
    """An exception that takes two arguments and has no text."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(a, b)

    def __str__(self) -> str:
        raise ValueError("no text")


def breaks() -> Any:
    """Fail as a model does."""
    return {}[0]


def failing_process(world: World, log: list[Any]) -> Generator[Any, Any, None]:
    """Fail at tick 3."""
    yield world.timeout(3)
    breaks()


@frozen
class Broken(Stage):
    """A model of which one member fails."""

    fails: str = ""

    def begin(self, world: World) -> list[Any]:
        """Start, or fail."""
        return breaks() if self.fails == "begin" else super().begin(world)

    def score(self, state: list[Any]) -> float:
        """Score, or fail."""
        return breaks() if self.fails == "score" else 0.0

    def metrics(self, state: list[Any]) -> dict[str, Any]:
        """Report, or fail."""
        return breaks() if self.fails == "metrics" else {}


def dead(run: Run[Any], act: Callable[[], Any]) -> ModelFailed:
    """Return the error that an act raises, once every later act is known to raise it too."""
    with pytest.raises(ModelFailed) as fault:
        act()
    for again in (run.advance, run.result, partial(run.answer, None, Bid(1))):
        with pytest.raises(ModelFailed) as same:
            again()  # type: ignore[operator]
        assert same.value is fault.value
    return fault.value


@pytest.mark.parametrize(("story", "tick"), [(failing_process, 3), (asking(breaks), 0)], ids=stable)
def test_a_fault_in_a_process_or_an_observation_ends_the_run(story: Any, tick: int) -> None:
    """The error names model, tick, function and line, and keeps the exception as its cause."""
    run = Run(Stage((story,)))
    fault = dead(run, run.advance)
    line = breaks.__code__.co_firstlineno + 2
    assert str(fault) == (
        f"model Stage failed at t={tick} in breaks (test_faults.py, line {line}): KeyError: 0"
    )
    assert isinstance(fault.__cause__, KeyError)


def refused_bid(_world: World, _log: list[Any]) -> Generator[Any, Any, None]:
    """Build an action that its own validator refuses."""
    yield Bid(-1)


def test_the_place_of_a_refused_value_is_in_the_model() -> None:
    """Not in the methods of attrs, which a user does not read."""
    with pytest.raises(ModelFailed, match=r"in refused_bid \(test_faults.py, line \d+\): Value"):
        Run(Stage((refused_bid,)), 1).advance()


@pytest.mark.parametrize("member", ["score", "metrics"])
def test_a_fault_in_the_score_is_no_result(member: str) -> None:
    """The episode ended, and has none."""
    run = Run(Broken((), fails=member))
    assert run.advance() == []
    dead(run, run.result)


def exits() -> Any:
    """End the process, as a script does."""
    sys.exit(3)


def exiting_process(world: World, log: list[Any]) -> Generator[Any, Any, None]:
    """Exit at tick 3."""
    yield world.timeout(3)
    exits()


@pytest.mark.parametrize("story", [exiting_process, asking(exits)], ids=stable)
def test_a_model_that_exits_has_failed(story: Any) -> None:
    """SystemExit is a fault like any other; Ctrl-C is none and stays what it is."""
    run = Run(Stage((story,)))
    assert str(dead(run, run.advance)).endswith("SystemExit: 3")

    def stopped() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run(Stage((asking(stopped),))).advance()


def test_an_error_of_the_kernel_is_dead_too() -> None:
    """A process that asks for half a tick raises what it always did, and again after that."""

    def halves(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.timeout(0.5)

    run = Run(Stage((halves,)))
    for _ in range(2):
        with pytest.raises(ModelFailed, match=r"a delay of 0\.5 was given"):
            run.advance()


@pytest.mark.parametrize(
    "fault", [Strange(1, 2), KeyError(10**5_000), ValueError("x" * 10**7)], ids=type
)
def test_the_text_of_any_exception_can_be_made(fault: Exception) -> None:
    """One without a text, one that Python refuses to write, and one of 10 MB."""

    def fails(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        yield world.timeout(1)
        raise fault

    run = Run(Stage((fails,)))
    assert len(str(dead(run, run.advance))) < 1_000


# -- observations ----------------------------------------------------------------------------------


@frozen
class Part:
    """A part of an observation."""

    name: str
    size: float


@frozen
class Whole:
    """An observation with a field of every kind."""

    n: int
    x: float
    either: int | str | None
    parts: tuple[Part, ...] = ()
    table: dict[str, int] = field(factory=dict)
    pair: tuple[int, str] = (1, "a")
    other: Part | None = None
    anything: Any = None


FITTING = [
    Whole(1, 2.0, None),
    Whole(1, 2, "a"),
    Whole(True, 2, 3),  # noqa: FBT003 (numpy's and Python's truth values: see below)
    Whole(1, 2.0, 3, (Part("a", 1),), {"a": 1}, (2, "b"), Part("c", 2.5), object()),
    Whole(np.int64(1), np.float64(2), None, (Part("a", np.float32(1)),), {"a": np.int32(4)}),
]

WRONG = [
    (3, "3 is not of class Whole"),
    (Whole("1", 2.0, None), "Expected `int`, got `str` - at `$.n`"),
    (Whole(1, "x" * 10**6, None), "at `$.x`"),
    (Whole(1, 2.0, None, (Part("a", 1), Part("b", "c"))), "at `$.parts[1].size`"),
    (Whole(1, 2.0, None, table={"a": "b"}), "at `$.table"),
]


def test_an_observation_of_the_right_types_is_handed_out() -> None:
    """Numpy's numbers count as numbers, whole numbers as floats, and anything as `Any`."""
    for fitting in (FITTING[0], FITTING[1], FITTING[3], FITTING[4]):
        fit = fitting if fitting.anything is None else Whole(1, 2.0, None, anything=[{}])
        [decision] = Run(Stage((asking(lambda fit=fit: fit),), Whole)).advance()
        assert decision.observation is fit


@pytest.mark.parametrize(("given", "text"), WRONG, ids=stable)
def test_a_wrong_observation_is_refused_where_it_crosses_the_kernel(given: Any, text: str) -> None:
    """The error names the role, the tick, the model's function and the path."""

    def look(_: int) -> Any:
        return given

    run = Run(Stage((asking(partial(look, 1)),), Whole))
    fault = dead(run, run.advance)
    assert type(fault) is ModelFailed
    start = "the observation for 'ann' at t=0, made by test_a_wrong_observation_is_refused"
    assert str(fault).startswith(start)
    assert "<locals>.look, does not fit: " in str(fault)
    assert text in str(fault)
    assert len(str(fault)) < 2_000


# -- questions and ends ----------------------------------------------------------------------------


def test_a_question_must_be_yielded() -> None:
    """Without the yield the process would never receive the answer."""

    def forgets(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        world.ask("ann", lambda: Seen(1))
        yield world.timeout(1)

    run = Run(Stage((forgets,)))
    fault = dead(run, run.advance)
    assert type(fault) is ModelFailed
    assert str(fault) == (
        "the question to 'ann' at t=0 was asked but never yielded; "
        "write action = yield world.ask(...)"
    )


def waits(world: World, log: list[Any]) -> Generator[Any, Any, None]:
    """Wait for an event that no process triggers."""
    yield world.event()


def test_an_end_without_events_says_who_waits() -> None:
    """The result and a warning name the processes and their events; twelve are ten and two more."""
    with capture_logs() as lines:
        run = Run(Stage((waits,) * 12))
        assert run.advance() == []
    waiting = run.result().waiting
    assert waiting == ("waits waits for an event of class Event",) * 10 + ("and 2 more",)
    assert lines[0]["event"] == "no event is left and processes still wait"
    assert lines[0]["waiting"] == waiting


ERRORS = [
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, Exception)
]


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_survives_pickling(name: str) -> None:
    """Errors cross process borders with type, text, attributes and notes."""
    fault: DesimError = getattr(errors, name)("text")
    fault.add_note("a note")
    fault.code = 7  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301 (our own bytes)
    assert (type(again), again.args, str(again)) == (type(fault), ("text",), "text")
    assert vars(again) == vars(fault)
