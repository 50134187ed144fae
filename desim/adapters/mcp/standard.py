"""A server on the standard streams, which then carry the protocol alone."""

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server

#: Bytes of a message, at most.
LONGEST_LINE = 4 * 1024 * 1024

#: Stands for a longer one, so that its sender gets an error and the next message is read.
_TOO_LONG = "a message of more than 4 MiB"


async def run(server: Any) -> None:
    """Serve one client until its stream ends.

    Meanwhile prints of the world, a policy or a library go to standard error, and reads of standard
    input return nothing.
    """
    with _claimed_streams() as (incoming, outgoing):
        streams: Any = stdio_server(_Lines(incoming), _Out(outgoing))  # type: ignore[arg-type, unused-ignore]
        async with streams as (read, write):
            await server.run(read, write, server.create_initialization_options())


@contextlib.contextmanager
def _claimed_streams() -> Iterator[tuple[int, int]]:
    """Yield private descriptors of standard input and output; redirect the originals meanwhile."""
    private = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield private
    finally:
        sys.stdout.flush()  # where a library kept it, and printed to it
        for number, descriptor in enumerate(private):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(nothing)


class _Lines:
    """The lines of a descriptor; a too long line is replaced by a text that is not a message."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        kept, too_long = bytearray(), False
        while chunk := await self._chunk():
            *ended, rest = chunk.split(b"\n")
            for line in ended:
                kept += line
                yield (
                    _TOO_LONG
                    if too_long or len(kept) > LONGEST_LINE
                    else kept.decode("utf-8", "replace")
                )
                kept, too_long = bytearray(), False
            kept += rest
            if len(kept) > LONGEST_LINE:
                kept, too_long = bytearray(), True

    async def _chunk(self) -> bytes:
        # Not read in a thread, which would keep the process until the client sends something.
        with contextlib.suppress(PermissionError):  # a file, from which reading never waits
            await anyio.wait_readable(self._descriptor)
        return os.read(self._descriptor, 1 << 16)


class _Out:
    """A descriptor that texts are written to, each of them whole."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        await to_thread.run_sync(self._write, text.encode())

    async def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def _write(self, left: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # the client reads no more; its stream ends, too
            while left:
                left = left[os.write(self._descriptor, left) :]
