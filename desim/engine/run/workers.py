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

#: Exceptions of a pipe whose other end is closed.
_ENDED = (EOFError, OSError, pickle.UnpicklingError)

#: Workers that play nothing; each ends after a minute.
idle: "list[Worker]" = []


class WorkerDied(DesimError):
    """Worker processes cannot start or keep dying, or the workers of a cluster are lost."""


class ProcessEnded(DesimError):
    """A worker process has ended; the text says how."""


class Worker:
    """A worker process, which does one thing at a time."""

    def __init__(self) -> None:
        self._settings = _settings()
        self.process = _started(import_path())
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._messages, self._replies = self.process.stdin, self.process.stdout
        self._has_started = False

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
            pickle.dump(message, self._messages)
            self._messages.flush()
            self._has_started = self._has_started or pickle.load(self._replies)  # noqa: S301 (our own child)
            reply = pickle.load(self._replies)  # noqa: S301
        except _ENDED:
            if not self._has_started:
                raise WorkerDied(f"a worker process cannot start ({self._ending()})") from None
            raise ProcessEnded(self._ending()) from None
        while reply is not None:
            if isinstance(reply, BaseException):
                raise reply
            yield reply
            try:
                reply = pickle.load(self._replies)  # noqa: S301
            except _ENDED:
                raise ProcessEnded(self._ending()) from None

    def is_current(self) -> bool:
        """Return whether it runs, and would play as a new worker does."""
        try:
            return self._settings == _settings() and all(self.replies(None))
        except ProcessEnded:
            return False

    def end(self) -> None:
        """Kill the process, unless this one was forked from its parent, and release its files."""
        if self._settings[0] == os.getpid():
            self.process.kill()
            self.process.wait()
        for file in (self._messages, self._replies):
            with contextlib.suppress(OSError):  # what was not sent
                file.close()

    def _ending(self) -> str:
        try:
            code = self.process.wait(_SECONDS_TO_REPORT)
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
    while idle:
        worker = idle.pop()
        if worker.is_current():
            return worker
        worker.end()
    return Worker()


def end_idle_workers() -> None:
    """End the workers that wait for a sweep."""
    while idle:
        idle.pop().end()
