"""Worker processes: how they start and end, and which idle ones may play the next sweep.

They do not import the script that starts them, so that it needs no `if __name__ == "__main__":`.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from desim.engine.run.job_messages import import_path
from desim.engine.run.signals import interrupts_blocked
from desim.errors import DesimError

#: The program of a worker: what its parent would import, but Python's own modules first, as the
#: current folder may have a file of the same name.
_PROGRAM = """
import os, sys
ours = os.path.dirname(os.__file__)
python = [each for each in sys.path if each.startswith(ours) and "packages" not in each]
path, sys.argv = sys.argv[1:], sys.argv[:1]
sys.path = python + path
from desim.engine.run.worker_program import main
main(path)
"""

#: Seconds in which a process that has ended must report its exit code.
_SECONDS_TO_REPORT = 5.0

#: Workers that play nothing.
_idle: "list[Worker]" = []


class WorkerDied(DesimError):
    """Worker processes cannot start or keep dying, or the workers of a cluster are lost."""


class ProcessEnded(DesimError):
    """A worker process has ended; the text says how."""


class Worker:
    """A worker process, which does one thing at a time."""

    def __init__(self) -> None:
        self._settings = _settings()
        # Ctrl-C in a terminal reaches the whole process group; the parent alone handles it. The
        # worker starts with SIGINT blocked, and ignores it before it unblocks it.
        with interrupts_blocked():
            self._process = _started(import_path())
        self._is_ready = False

    def replies(self, message: bytes | None) -> Iterator[Any]:
        """Send a message and yield the replies; an exception among them is raised.

        Args:
            message: Jobs, whose rows are the replies; None asks whether the files that the worker
                has loaded are unchanged.

        Raises:
            ProcessEnded: The process has ended.
            WorkerDied: It could not start.
        """
        try:
            self._is_ready = self._is_ready or pickle.load(self._process.stdout)  # type: ignore[arg-type]  # noqa: S301
        except (EOFError, OSError):
            raise WorkerDied(f"a worker process cannot start ({self._ending()})") from None
        try:
            pickle.dump(message, self._process.stdin)  # type: ignore[arg-type]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise ProcessEnded(self._ending()) from None
        while (reply := self._reply()) is not None:
            if isinstance(reply, BaseException):
                raise reply
            yield reply

    def is_current(self) -> bool:
        """Return whether it runs, and would play as a new worker does."""
        try:
            return self._settings == _settings() and all(self.replies(None))
        except ProcessEnded:
            return False

    def kill(self) -> None:
        """Kill the process; a thread that awaits its replies gets `ProcessEnded`."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process, unless this one was forked from its parent, and release its files."""
        if self._settings[0] == os.getpid():
            self._process.kill()
            self._process.wait()
        for file in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was not sent
                file.close()  # type: ignore[union-attr]

    def _reply(self) -> Any:
        try:
            return pickle.load(self._process.stdout)  # type: ignore[arg-type]  # noqa: S301 (it is our own child)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise ProcessEnded(self._ending()) from None

    def _ending(self) -> str:
        try:
            code = self._process.wait(_SECONDS_TO_REPORT)
        except subprocess.TimeoutExpired:
            return "no exit code"
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _started(path: list[str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", _PROGRAM, *path]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603


def _settings() -> Any:
    """Return what a worker inherits from this process; a forked process has other workers."""
    return os.getpid(), os.getcwd(), import_path(), dict(os.environ)  # noqa: PTH109 (a text)


def take_worker() -> Worker:
    """Return an idle worker that would play as a new one, or a new one; others are ended."""
    while _idle:
        worker = _idle.pop()
        if worker.is_current():
            return worker
        worker.end()
    return Worker()


def keep_workers(workers: list[Worker]) -> None:
    """Keep workers for the next sweep; each ends after a minute without one."""
    _idle.extend(workers)


def end_idle_workers() -> None:
    """End the workers that wait for a sweep."""
    while _idle:
        _idle.pop().end()
