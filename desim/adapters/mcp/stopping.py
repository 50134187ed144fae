"""A server that is stopped ends soon, though a policy may wait in a thread that goes on."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

__all__ = ["in_time"]

#: Seconds for calls under way when a server stops. A record is whole after every line.
_GRACE = 3.0

#: The exit code of a process that Ctrl-C stops.
_INTERRUPTED = 130


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """End the process if the block takes longer than `_GRACE`."""
    late = threading.Timer(_GRACE, _end)
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


def _end() -> None:
    sys.stderr.write("desim: stopped while a policy was deciding\n")
    sys.stderr.flush()
    os._exit(_INTERRUPTED)
