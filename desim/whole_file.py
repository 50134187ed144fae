"""Writes a file completely or not at all."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from desim.errors import UsageError

__all__ = ["write_whole"]


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file under another name and rename it, so that it is never incomplete.

    Args:
        path: The file; one that is there is replaced.
        parts: Its content, in order.

    Raises:
        UsageError: It cannot be written; nothing is left behind.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.writelines(parts)
        partial.replace(path)
    except OSError as fault:
        # On a read-only disk not even a file that does not exist can be removed.
        with contextlib.suppress(OSError):
            partial.unlink()
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
