"""Scores in forked processes: what comes back, and what is left behind."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from desim.core.limits import Alarm
from desim.episodes import child
from desim.episodes.child import WAITS_FOR_PARENT, can_fork, in_child
from desim.errors import LimitReached

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a POSIX system")


#: The children of this module; others belong to other tests.
CHILDREN: list[int] = []


@pytest.fixture(autouse=True)
def _children_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Note each child that is forked."""
    fork = child._fork

    def counted() -> int:
        CHILDREN.append(pid := fork())
        return pid

    CHILDREN.clear()
    monkeypatch.setattr(child, "_fork", counted)


def no_child_is_left() -> bool:
    """Return whether the children of a test have ended and were awaited."""
    for pid in CHILDREN:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
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


# -- what comes back -------------------------------------------------------------------------------


def test_a_score_comes_back_and_nothing_else_changes() -> None:
    """The float is the same, bit for bit; what the child changes stays there."""
    changed: list[int] = []

    def score() -> float:
        changed.append(1)
        return 0.1 + 0.2

    before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    assert in_child(score) == 0.1 + 0.2
    assert not changed
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == before
    assert no_child_is_left()


@pytest.mark.parametrize("score", [fails, is_killed])
def test_a_child_without_a_score_returns_none(score: Callable[[], float]) -> None:
    """Its caller plays the score itself, and raises what that raises."""
    assert in_child(score) is None
    assert no_child_is_left()


def test_a_child_that_opens_a_file_returns_none(tmp_path: Path) -> None:
    """The files on which results depend are noted in this process."""
    file = tmp_path / "demand.txt"
    file.write_text("4")
    assert in_child(lambda: float(file.read_text())) is None


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


@pytest.mark.parametrize(("name", "safe"), [("other", False), (WAITS_FOR_PARENT, True)])
def test_a_process_with_threads_does_not_fork(
    name: str, *, safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may hold a lock; the one of a worker that waits for its parent holds none."""
    present = [threading.main_thread(), threading.Thread(name=name)]
    monkeypatch.setattr(threading, "enumerate", lambda: present)
    assert can_fork() is safe
