"""Worker processes: both ends of each, which idle ones may play the next sweep, jobs as messages.

They do not import the script that starts them, so that it needs no `if __name__ == "__main__":`.
A message is pickled, and only ever read by a worker of the process that made it. Nothing that is
kept, such as a record or a checkpoint, holds a pickle.
"""

import atexit
import contextlib
import inspect
import os
import pickle
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import IO, Any, NoReturn

from desim.engine.opened_files import noting, opened
from desim.engine.plan import Job
from desim.engine.run.play_job import play_chunk  # noqa: F401 (imported while the parent prepares)
from desim.engine.run.signals import allow_exit
from desim.episodes.child import WAITS_FOR_PARENT
from desim.errors import DesimError, UsageError
from desim.show import progress

#: Plays jobs in order and yields their rows as JSON; it may stop before the last job.
Work = Callable[[Iterable[Any]], Iterator[bytes]]

_NAME = re.compile(r"[^\W\d]\w*")

#: The program of a worker: what its parent would import, but Python's own modules first, as the
#: current folder may have a file of the same name.
_PROGRAM = """
import os, sys
ours = os.path.dirname(os.__file__)
python = [each for each in sys.path if each.startswith(ours) and "packages" not in each]
path, sys.argv = sys.argv[1:], sys.argv[:1]
sys.path = python + path
from desim.engine.run.workers import main
main(path)
"""

#: Seconds in which a process that has ended must report its exit code.
_SECONDS_TO_REPORT = 5.0

#: Exceptions of a pipe whose other end is closed.
_ENDED = (EOFError, OSError, pickle.UnpicklingError)

#: Workers that play nothing.
idle: "list[Worker]" = []

#: Seconds after which an idle worker ends; and after which it finds that it is idle, or that its
#: parent has ended.
IDLE_SECONDS, _BETWEEN_LOOKS = 60, 1.0

#: The resolution of the times of files, in nanoseconds.
_RESOLUTION = 20_000_000

#: The folders of Python and installed packages, whose files are not edited between two sweeps.
_INSTALLED = tuple(
    os.path.join(sysconfig.get_path(name), "")  # noqa: PTH118 (compared as texts)
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


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
        """Send jobs and yield their rows; an exception among the replies is raised.

        None instead of jobs asks whether the files that the worker has loaded are unchanged. Raises
        `ProcessEnded`, or `WorkerDied` if the process could not start.
        """
        with self._running():
            pickle.dump(message, self._messages)
            self._messages.flush()
            self._has_started = self._has_started or pickle.load(self._replies)  # noqa: S301 (our own child)
        while True:
            with self._running():
                reply = pickle.load(self._replies)  # noqa: S301
            if reply is None:
                return
            if isinstance(reply, BaseException):
                raise reply
            yield reply

    @contextlib.contextmanager
    def _running(self) -> Iterator[None]:
        try:
            yield
        except _ENDED:
            if not self._has_started:
                raise WorkerDied(f"a worker process cannot start ({self._ending()})") from None
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


@atexit.register
def end_idle_workers() -> None:
    """End the workers that wait for a sweep."""
    while idle:
        idle.pop().end()


# -- messages --------------------------------------------------------------------------------------


def import_path() -> list[str]:
    """Return `sys.path` for a process in another folder: an empty entry is the current folder."""
    return [each or os.getcwd() for each in sys.path]  # noqa: PTH109 (entries are texts)


def pickled(work: Work, chunk: Sequence[Job]) -> bytes:
    """Pickle a chunk.

    Classes and functions of `__main__` (a script, a notebook), and those made inside functions, are
    sent by value, with the globals that they use: a worker cannot import them. All others are sent
    by name.
    """
    import cloudpickle

    try:
        message: bytes = cloudpickle.dumps((_annotated(), work, chunk), pickle.HIGHEST_PROTOCOL)
    except Exception as fault:  # noqa: BLE001 (pickling runs users' code)
        raise UsageError(
            f"a job cannot be sent to a worker ({fault}); what its model and policies hold and the "
            "globals they use are pickled, so make locks, files and connections where they are "
            "used, or use jobs=1"
        ) from None
    return message


def rows_of(message: bytes) -> Iterator[bytes]:
    """Play a chunk in a worker, and yield each row as it is played."""
    try:
        with noting():  # it imports the modules of models and policies
            names, work, chunk = pickle.loads(message)  # noqa: S301 (it comes from our own parent)
    except Exception as fault:  # noqa: BLE001 (unpickling runs users' code)
        raise UsageError(
            f"a worker cannot load a job ({type(fault).__name__}: {fault}); the modules of its "
            "model and policies must be importable where the worker runs; or use jobs=1"
        ) from None
    vars(sys.modules["__main__"]).update(names)
    yield from work(chunk)


def rows_elsewhere(message: bytes, path: Sequence[str]) -> list[bytes]:
    """Play a chunk in a worker on another machine, which may lack folders of the import path."""
    sys.path.extend(each for each in path if each not in sys.path)
    return list(rows_of(message))


def _annotated() -> dict[str, Any]:
    """Return by name the objects that annotations of classes of `__main__` name as texts.

    A text such as `"Move | None"` is resolved in `__main__` only when a type is needed, so a class
    that is sent by value does not contain its objects.
    """
    main = vars(sys.modules["__main__"])
    classes = [each for each in [*main.values()] if isinstance(each, type)]
    own = [inspect.get_annotations(each) for each in classes if each.__module__ == "__main__"]
    texts = [text for each in own for text in each.values() if isinstance(text, str)]
    return {name: main[name] for text in texts for name in _NAME.findall(text) if name in main}


# -- in a worker -----------------------------------------------------------------------------------


def main(path: list[str]) -> NoReturn:
    """Answer the messages of a parent with this `sys.path` until it ends, or a minute without one.

    The replies to jobs are their rows, each as it is played, or an exception at the end; those to
    None whether the files that were loaded are unchanged. None ends the replies to a message.
    """
    started = time.time_ns() - _RESOLUTION
    sys.path[:] = path
    sys.modules["__main__"] = ModuleType("__main__")  # without the names of this program
    messages, results = _private_streams()
    progress.is_hidden = True
    allow_exit()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    busy = threading.Event()
    looks = (os.getppid(), busy)
    threading.Thread(None, _end_if_left, WAITS_FOR_PARENT, looks, daemon=True).start()
    _send(results, "ready")
    while True:
        try:
            message = pickle.load(messages)  # noqa: S301 (it comes from our own parent)
        except EOFError:
            os._exit(0)
        busy.set()
        for reply in _replies(message, started):
            _send(results, reply)
        busy.clear()


def _private_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output; policies read nothing, and print on standard error."""
    messages, results = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "rb"), (1, "wb")))
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return messages, results


def _replies(message: bytes | None, started: int) -> Iterator[Any]:
    try:
        if message is None:
            yield not any(_changed(file) > started for file in _files())
        else:
            yield from rows_of(message)
        yield None
    except Exception as fault:  # noqa: BLE001 (raised in the parent)
        try:
            pickle.loads(pickle.dumps(fault))  # noqa: S301
        except Exception:  # noqa: BLE001 (such as that of a class of the user's)
            yield DesimError(f"{type(fault).__name__}: {fault}")
        else:
            yield fault


def _send(results: IO[bytes], reply: Any) -> None:
    try:
        pickle.dump(reply, results)
        results.flush()
    except OSError:  # the parent has ended
        os._exit(1)


def _end_if_left(parent: int, busy: threading.Event) -> None:
    """End the process with its parent, or once it is idle for long."""
    idle = 0.0
    while os.getppid() == parent and idle < IDLE_SECONDS:
        time.sleep(_BETWEEN_LOOKS)
        idle = 0.0 if busy.is_set() else idle + _BETWEEN_LOOKS
    os._exit(1)


def _files() -> set[str]:
    """Return the files of loaded modules and of their data that may be edited."""
    # Not by `getattr`, which would run the `__getattr__` of modules that import lazily.
    files = {module.__dict__.get("__file__") for module in [*sys.modules.values()]} | opened()
    return {one for one in files if isinstance(one, str) and not one.startswith(_INSTALLED)}


def _changed(file: str) -> int:
    """Return when a file was modified or replaced; 0 for one that does not exist."""
    try:
        found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    except OSError:
        return 0
    return max(found.st_mtime_ns, found.st_ctime_ns)
