"""Scores in forked processes: what comes back, what is left behind, and when a fork is tried."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desim.core.limits import Alarm
from desim.episodes.ahead import child_process
from desim.episodes.ahead.child_process import (
    WAITS_FOR_PARENT,
    FasterWay,
    can_fork,
    in_child,
)
from desim.errors import LimitReached
from desim.opened_files import noting

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a POSIX system")


#: The children of this module; others belong to other tests.
CHILDREN: list[int] = []


@pytest.fixture(autouse=True)
def _children_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Note each child that is forked."""
    fork = child_process._fork

    def counted() -> int:
        CHILDREN.append(child := fork())
        return child

    CHILDREN.clear()
    monkeypatch.setattr(child_process, "_fork", counted)


def no_child_is_left() -> bool:
    """Return whether the children of a test have ended and were awaited."""
    for child in CHILDREN:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
    return bool(CHILDREN)


def forever() -> float:
    """Compute without an end."""
    while True:
        time.sleep(0.01)


def fails() -> float:
    """Raise an exception."""
    raise ValueError("lost")


def is_killed() -> float:
    """End the process that calls it."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 0.0


def exits() -> float:
    """Exit from Python."""
    sys.exit(0)


# -- what comes back -------------------------------------------------------------------------------


def test_a_score_comes_back_and_nothing_else_changes() -> None:
    """The float is the same, bit for bit; what the child changes stays there."""
    changed: list[int] = []

    def score() -> float:
        changed.append(1)
        return 0.1 + 0.2

    assert in_child(score) == 0.1 + 0.2
    assert not changed
    assert no_child_is_left()


@pytest.mark.parametrize("score", [fails, is_killed, exits])
def test_a_child_without_a_score_returns_none(score: Callable[[], float]) -> None:
    """Its caller plays the score itself, and raises what that raises."""
    assert in_child(score) is None
    assert no_child_is_left()


def test_a_child_that_opens_a_file_returns_none(tmp_path: Path) -> None:
    """The files on which results depend are noted in this process."""
    file = tmp_path / "demand.txt"
    file.write_text("4")
    with noting():
        assert in_child(lambda: float(file.read_text())) is None


def test_what_a_child_prints_appears_once(capfd: pytest.CaptureFixture[str]) -> None:
    """Text printed before the fork is neither lost nor printed twice."""

    def score() -> float:
        sys.stdout.write("inside\n")
        return 1.0

    sys.stdout.write("before\n")
    assert in_child(score) == 1
    sys.stdout.flush()
    assert capfd.readouterr().out == "before\ninside\n"


def test_without_processes_there_is_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may have no room for a further process."""

    def refused() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)
    assert in_child(lambda: 1.0) is None


# -- what is left behind ---------------------------------------------------------------------------


def test_an_exception_kills_the_child() -> None:
    """A limit of wall time, as Ctrl-C, does not leave a child that computes for ever."""
    with pytest.raises(LimitReached), Alarm(0.1):
        in_child(forever)
    assert no_child_is_left()


def test_a_child_ends_after_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the parent is killed and cannot end it."""
    monkeypatch.setattr(child_process, "_LEFT_BEHIND", 0.02)
    read, write = os.pipe()

    def held() -> float:
        os.write(write, b"begun")
        return forever()

    if (parent := os.fork()) == 0:
        os.close(read)
        in_child(held)
        os._exit(0)
    os.close(write)
    assert os.read(read, 5) == b"begun"
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert os.read(read, 5) == b""  # closed by the end of the last process that could write
    os.close(read)


def test_handlers_of_signals_are_as_before() -> None:
    """Nothing stays blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    in_child(lambda: 1.0)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == before


# -- when a fork is tried --------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "safe"), [("other", False), (WAITS_FOR_PARENT, True)])
def test_a_process_with_threads_does_not_fork(
    name: str, *, safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may hold a lock; the one of a worker that waits for its parent holds none."""
    present = [threading.main_thread(), threading.Thread(name=name)]
    monkeypatch.setattr(threading, "enumerate", lambda: present)
    assert can_fork() is safe


class Clock:
    """Two ways of playing a score, whose seconds it states."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, repeated: float, forked: float) -> None:
        self.seconds, self.repeated, self.forked = 0.0, repeated, forked
        self.children, self.found = 0, 1.0
        monkeypatch.setattr(child_process, "_seconds", lambda: self.seconds)
        monkeypatch.setattr(child_process, "can_fork", lambda: True)

    def repeats(self) -> float:
        """Play by repetition."""
        self.seconds += self.repeated
        return 1.0

    def forks(self) -> Any:
        """Play in a child."""
        self.children += 1
        self.seconds += self.forked
        return self.found


def test_scores_are_left_to_children_once_these_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three in a row, with a past as long."""
    clock, way = Clock(monkeypatch, repeated=0.02, forked=0.01), FasterWay()
    for _ in range(3):
        assert way.score(40, clock.repeats, clock.forks) == 1
    assert way.forks_from == 40
    before = clock.seconds
    assert way.score(41, clock.repeats, clock.forks) == 1
    assert clock.seconds == pytest.approx(before + 0.01)
    way.score(39, clock.repeats, clock.forks)
    assert clock.seconds == pytest.approx(before + 0.01 + 0.02 + 0.01)
    assert way.forks_from == 39


@pytest.mark.parametrize(("repeated", "tries"), [(0.005, 0), (0.02, 1)])
def test_a_slower_child_is_tried_again_when_the_past_has_grown(
    repeated: float, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half as long again; a quick score is never tried."""
    clock, way = Clock(monkeypatch, repeated, forked=0.03), FasterWay()
    for past in (40, 41, 59):
        way.score(past, clock.repeats, clock.forks)
    assert clock.children == tries
    way.score(60, clock.repeats, clock.forks)
    assert clock.children == 2 * tries


def test_another_score_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that does not repeat itself is found by the repetition."""
    clock, way = Clock(monkeypatch, repeated=0.02, forked=0.001), FasterWay()
    clock.found = 2.0
    for past in range(1, 100):
        assert way.score(past, clock.repeats, clock.forks) == 1
    assert way.forks_from > 100


def test_what_a_child_cannot_play_is_played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It raises the error of the repetition."""
    clock, way = Clock(monkeypatch, repeated=0.02, forked=0.01), FasterWay(forks_from=0)
    clock.found = None  # type: ignore[assignment]
    assert way.score(5, clock.repeats, clock.forks) == 1
    with pytest.raises(ValueError, match="lost"):
        way.score(5, fails, clock.forks)
