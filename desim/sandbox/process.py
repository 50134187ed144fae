"""One program in processes of its own: started, read within limits, ended, cleaned up."""

import contextlib
import marshal
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from attrs import frozen

from desim.errors import DesimError, UsageError
from desim.sandbox.program_limits import ProgramLimits

#: The environment variable that allows programs to run where the system does not confine them. No
#: parameter of a world or policy does, because those come from records and suites of strangers.
UNCONFINED = "DESIM_UNCONFINED_PROGRAMS"

_CHILD = Path(__file__).parent / "child" / "__main__.py"

#: Isolated but for the hash seed: sets of texts have the same order every time.
_FLAGS = ("-s", "-S", "-P", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"}

#: Seconds that the start may take on a busy machine.
_START = 30.0

#: Bytes read at once, and of a status.
_CHUNK, _STATUS = 65_536, 1_000


class SandboxFailed(DesimError):
    """The sandbox itself could not start; the program is not at fault."""


class NotConfined(SandboxFailed):
    """The system does not confine programs; nothing of the program was run."""


@frozen
class Finished:
    """The raw result of a program's process.

    Attributes:
        answer: The bytes that it wrote to the pipe of its result; untrusted.
        output: The bytes that it printed; untrusted.
        timed_out: Whether it was ended because its time was over.
        too_long: Whether it was ended because it wrote more than it may.
    """

    answer: bytes
    output: bytes
    timed_out: bool
    too_long: bool


def run_order(
    order: Mapping[str, Any],
    limits: ProgramLimits,
    *,
    prints: bool = False,
    unconfined: bool = False,
) -> Finished:
    """Run a program by an order, and return the bytes that it wrote.

    Args:
        order: The program and the way to run it, in types that marshal can write. "without" names
            protections to leave out, for tests of the others.
        limits: Limits of time, memory and output.
        prints: Whether its output is kept.
        unconfined: Whether it is also run where the kernel does not confine it, see `protections`.
            So it is for all programs of a process with `DESIM_UNCONFINED_PROGRAMS=1`.

    Raises:
        NotConfined: The system does not confine it, and that is not allowed.
        SandboxFailed: It could not be started.
        UsageError: The system is not one on which programs can be confined at all.
    """
    with started(order, limits, prints=prints, unconfined=unconfined) as (process, result, status):
        return _Reader(process, result, status, limits).read()


@contextlib.contextmanager
def started(
    order: Mapping[str, Any],
    limits: ProgramLimits,
    *,
    prints: bool = False,
    unconfined: bool = False,
) -> Iterator[tuple["subprocess.Popen[bytes]", int, int]]:
    """Start a program by an order, as `run_order` does; kill it after the block.

    Args:
        order: See `run_order`.
        limits: See `run_order`.
        prints: See `run_order`.
        unconfined: See `run_order`.

    Yields:
        Its process, and the ends of the pipes of its result and of its status.

    Raises:
        UsageError: See `run_order`.
    """
    if not hasattr(os, "fork") or not sys.executable:
        raise UsageError("programs of a model are run on Linux and macOS alone, by an interpreter")
    with tempfile.TemporaryFile() as ordered, _folder() as folder, _pipes() as pipes:
        result, status = pipes
        marshal.dump(
            {
                "source": "",
                "without": (),
                **order,
                "parent": os.getpid(),
                "folder": folder,
                "result": result.writer,
                "status": status.writer,
                "seconds": limits.seconds,
                "cpu_seconds": limits.cpu_seconds,
                "memory": limits.memory,
                "file": limits.file,
                "unconfined": unconfined or os.environ.get(UNCONFINED) == "1",
            },
            ordered,
        )
        ordered.seek(0)
        given = (result.writer, status.writer)
        process = _started(ordered, given, prints=prints)
        try:
            result.close_writer()
            status.close_writer()
            yield process, result.reader, status.reader
        finally:
            _end(process)


def check_status(status: bytes) -> None:
    """Check that a program was run, by what its process wrote to the pipe of its status.

    Raises:
        NotConfined: The system does not confine it.
        SandboxFailed: It could not be started.
    """
    if status == b"u":
        raise NotConfined(
            "this system does not confine programs, so that one could read and change what you "
            f"can; unconfined=True or {UNCONFINED}=1 in the environment runs them all the same"
        )
    if status != b"s":
        reason = status.decode(errors="replace") or "its process ended, or took too long"
        raise SandboxFailed(f"The sandbox could not start: {reason}")


class _Pipe:
    """Both ends of a pipe; the writer is closed once the child has it."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self.open = True

    def close_writer(self) -> None:
        if self.open:
            os.close(self.writer)
            self.open = False


@contextlib.contextmanager
def _pipes() -> Iterator[tuple[_Pipe, _Pipe]]:
    pipes = _Pipe(), _Pipe()
    try:
        yield pipes
    finally:
        for pipe in pipes:
            pipe.close_writer()
            os.close(pipe.reader)


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """Make the folder of a program; remove it whatever the program left in it."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="desim-sandbox-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(
    ordered: IO[bytes], given: tuple[int, ...], *, prints: bool
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own interpreter and file
        [sys.executable, *_FLAGS, str(_CHILD)],
        stdin=ordered,
        stdout=subprocess.PIPE if prints else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=given,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the whole group of processes; before the first is waited for, its number is not free."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


class _Reader:
    """Reads the pipes of a program until all are closed, full, or the time is over."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", result: int, status: int, limits: ProgramLimits
    ) -> None:
        self._status = status
        self._limits = limits
        self._most = {result: limits.output, status: _STATUS}
        self._result, self._output = result, -1
        if process.stdout is not None:
            self._output = process.stdout.fileno()
            self._most[self._output] = limits.output
        self._read = {number: bytearray() for number in self._most}
        self._until = time.monotonic() + _START
        self._too_long = False

    def read(self) -> Finished:
        """Return what was written."""
        with selectors.DefaultSelector() as selector:
            for number in self._most:
                selector.register(number, selectors.EVENT_READ)
            while selector.get_map() and not self._too_long:
                ready = selector.select(max(0.0, self._until - time.monotonic()))
                if not ready:
                    break
                for key, _ in ready:
                    if not self._take(key.fd):
                        selector.unregister(key.fd)
            over = bool(selector.get_map()) and not self._too_long
        return self._finished(over=over)

    def _take(self, number: int) -> bool:
        """Read what is there; return whether more may come."""
        chunk = os.read(number, _CHUNK)
        kept = self._read[number]
        kept += chunk[: self._most[number] - len(kept) + 1]
        if number == self._status and chunk.startswith(b"s") and len(kept) == len(chunk):
            self._until = time.monotonic() + self._limits.seconds
        elif number != self._status and len(kept) > self._most[number]:
            self._too_long = True
        return bool(chunk)

    def _finished(self, *, over: bool) -> Finished:
        status = bytes(self._read[self._status])
        check_status(status)
        return Finished(
            answer=bytes(self._read[self._result][: self._limits.output]),
            output=bytes(self._read.get(self._output, b"")[: self._limits.output]),
            timed_out=over,
            too_long=self._too_long,
        )
