"""One program in a process of its own: started, read within limits, ended, cleaned up."""

import contextlib
import marshal
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from attrs import field, frozen
from attrs.validators import ge, le

from desim.errors import DesimError, UsageError
from desim.schema.validators import finite

_CHILD = Path(__file__).parent / "child" / "__main__.py"

#: Isolated but for the hash seed: sets of texts have the same order every time.
_FLAGS = ("-s", "-S", "-P", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"}

#: Seconds that the start may take on a busy machine.
_START = 30.0

#: Bytes read at once.
_CHUNK = 65_536


@frozen(kw_only=True)
class ProgramLimits:
    """Limits above which a program is killed.

    Attributes:
        seconds: Wall time from the start of the program, 0.01 to 3,600.
        cpu_seconds: Processor time, in whole seconds as systems count it, 1 to 3,600.
        memory: Bytes of address space, the interpreter's about 30 MB included; 64 MB to 64 GB.
        output: Bytes that it may print or hand back, 1,000 to 100 MB.
        source: Characters of the program, 1 to 10 million.
    """

    seconds: float = field(default=1.0, validator=[finite, ge(0.01), le(3_600)])
    cpu_seconds: int = field(default=5, validator=[finite, ge(1), le(3_600)])
    memory: int = field(default=512_000_000, validator=[finite, ge(64_000_000), le(64_000_000_000)])
    output: int = field(default=100_000, validator=[finite, ge(1_000), le(100_000_000)])
    source: int = field(default=200_000, validator=[finite, ge(1), le(10_000_000)])


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


def run_order(order: Mapping[str, Any], limits: ProgramLimits, *, prints: bool = False) -> Finished:
    """Run a program by an order, and return the bytes that it wrote.

    Args:
        order: The program and the way to run it, in types that marshal can write.
        limits: Limits of time, memory and output.
        prints: Whether its output is kept.

    Raises:
        NotConfined: The system does not confine it.
        SandboxFailed: It could not be started.
        UsageError: The system has no `fork`.
    """
    if not hasattr(os, "fork") or not sys.executable:
        raise UsageError("programs of a model are run on Linux alone, by an interpreter")
    with tempfile.TemporaryFile() as ordered, _pipe() as (result, writer):
        own = {
            "parent": os.getpid(),
            "result": writer.fileno(),
            "cpu_seconds": limits.cpu_seconds,
            "memory": limits.memory,
        }
        marshal.dump({**order, **own}, ordered)
        ordered.seek(0)
        process = _started(ordered, own["result"], prints=prints)
        try:
            writer.close()
            return _Reader(process, result, limits).read()
        finally:
            _end(process)


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a pipe; yields its reader and its writer."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0) as reader, os.fdopen(writing, "wb", 0) as writer:
        yield reader, writer


def _started(ordered: IO[bytes], result: int, *, prints: bool) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own interpreter and file
        [sys.executable, *_FLAGS, str(_CHILD)],
        stdin=ordered,
        stdout=subprocess.PIPE if prints else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(result,),
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
    """Reads the pipes of a program until all are closed, one is full, or the time is over.

    The first byte of the result is written before the program starts, which begins its time.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", result: IO[bytes], limits: ProgramLimits
    ) -> None:
        self._result, self._output, self._limits = result, process.stdout, limits
        self._read = {each: bytearray() for each in (result, process.stdout) if each}
        self._until = time.monotonic() + _START
        self._too_long = False

    def read(self) -> Finished:
        """Return what was written."""
        with selectors.DefaultSelector() as selector:
            for pipe in self._read:
                selector.register(pipe, selectors.EVENT_READ, pipe)
            while selector.get_map() and not self._too_long:
                ready = selector.select(max(0.0, self._until - time.monotonic()))
                if not ready:
                    break
                for key, _ in ready:
                    if not self._take(key.data):
                        selector.unregister(key.data)
            over = bool(selector.get_map()) and not self._too_long
        return Finished(
            answer=_answer(self._kept(self._result)),
            output=self._kept(self._output) if self._output else b"",
            timed_out=over,
            too_long=self._too_long,
        )

    def _take(self, pipe: IO[bytes]) -> bool:
        """Read what is there; return whether more may come."""
        chunk, kept = os.read(pipe.fileno(), _CHUNK), self._read[pipe]
        if pipe is self._result and chunk and not kept:
            self._until = time.monotonic() + self._limits.seconds
        kept += chunk[: self._limits.output - len(kept) + 1]
        self._too_long = self._too_long or len(kept) > self._limits.output
        return bool(chunk)

    def _kept(self, pipe: IO[bytes]) -> bytes:
        return bytes(self._read[pipe][: self._limits.output])


def _answer(written: bytes) -> bytes:
    """Return what a program wrote to the pipe of its result; see `child.worker`."""
    if written.startswith(b"s"):
        return written[1:]
    if written:
        raise NotConfined(
            "this system does not confine programs, so none is run: it takes Linux 5.13 with "
            f"Landlock on x86_64 or aarch64 ({written.decode(errors='replace')})"
        )
    raise SandboxFailed("the sandbox could not start: its process ended, or took too long")
