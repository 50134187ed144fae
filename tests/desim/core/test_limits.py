"""Limits on an episode that might never end."""

import signal
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest
from support.stage import Bid, Seen, Stage, asking

from desim import Run, World
from desim.core.limits import Alarm, Limits
from desim.errors import LimitReached
from desim.short_repr import short_repr

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")


def endless(world: World, log: list[Any]) -> Generator[Any, Any, None]:
    """Let time pass without an end."""
    while True:
        yield world.timeout(1)


def stuck(world: World, log: list[Any]) -> Generator[Any, Any, None]:
    """Never yield again."""
    yield world.timeout(2)
    while True:
        pass


def play_on(run: Run[Any]) -> None:
    """Answer every question."""
    while decisions := run.advance():
        for decision in decisions:
            run.answer(decision, Bid(1))


def never_return() -> None:
    """Run on, also after the first exception."""
    with suppress(LimitReached):
        while True:
            pass
    while True:
        pass


def reached(run: Run[Any]) -> str:
    """Play until a limit is reached; return the text, which every later call raises again."""
    with pytest.raises(LimitReached) as first:
        play_on(run)
    with pytest.raises(LimitReached) as again:
        run.advance()
    assert again.value is first.value
    return str(first.value)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(events=50), "the limit of 50 events was reached at t=49"),
        (Limits(seconds=0.05), "the limit of 0.05 seconds was reached"),
    ],
)
def test_an_endless_process_is_ended(limits: Limits, text: str) -> None:
    """By the number of events, or by the wall time."""
    assert reached(Run(Stage((endless,)), limits=limits)).startswith(text)


def test_endless_questions_are_ended() -> None:
    """The limit is on decisions that are handed out."""
    run = Run(Stage((asking(lambda: Seen(1), times=100),)), limits=Limits(decisions=7))
    assert reached(run) == "the limit of 7 decisions was reached at t=7"


def test_a_limit_that_is_just_enough_changes_nothing() -> None:
    """Seven decisions are within a limit of seven."""
    run = Run(Stage((asking(lambda: Seen(1), times=7),)), limits=Limits(decisions=7))
    while decisions := run.advance():
        run.answer(decisions[0], Bid(1))
    assert run.result().decisions == 7


def test_a_process_that_never_yields_is_ended() -> None:
    """`while True: pass` in a model is interrupted, and the timer is taken away after it."""
    run = Run(Stage((stuck,)), limits=Limits(seconds=0.1))
    assert reached(run).startswith("the limit of 0.1 seconds was reached")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_model_that_never_begins_is_ended() -> None:
    """Also without a process."""

    class Slow(Stage):
        def begin(self, world: World) -> list[Any]:
            while True:
                pass

    with pytest.raises(LimitReached, match=r"the limit of 0\.1 seconds was reached"):
        Run(Slow(()), limits=Limits(seconds=0.1))


def test_an_alarm_that_rings_while_it_ends_leaves_no_timer() -> None:
    """Signals at any moment; the episode after it must not be interrupted."""
    over = threading.Event()
    main = threading.get_ident()

    def storm() -> None:
        while not over.is_set():
            signal.pthread_kill(main, signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, lambda *_: None)
    thread = threading.Thread(target=storm)
    thread.start()
    left = 0.0
    try:
        for _ in range(3000):
            with suppress(LimitReached), Alarm(60):
                pass
            left += signal.getitimer(signal.ITIMER_REAL)[0]
    finally:
        over.set()
        thread.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert left == 0


def test_a_policy_that_never_returns_is_ended() -> None:
    """Even one that catches the first exception."""
    with pytest.raises(LimitReached), Alarm(0.05):
        never_return()


def test_of_nested_alarms_the_outer_one_rings() -> None:
    """The inner one sets none and takes none away."""
    with pytest.raises(LimitReached, match=r"0\.1 seconds"), Alarm(0.1):  # noqa: PT012
        with Alarm(0.05):
            pass
        time.sleep(5)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("name", ["seconds", "events", "decisions"])
@pytest.mark.parametrize(
    "value", [0, -1, True, "1", float("nan"), float("inf"), 10**50], ids=short_repr
)
def test_a_limit_is_a_number_above_zero(name: str, value: Any) -> None:
    """The text names the limit and what was given."""
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})
