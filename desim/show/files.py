"""Writes a file completely or not at all.

Reads files that may come from a stranger: regular files alone, within a limit.

To open a pipe that nothing writes to would wait without end, and a device may have no end.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from desim.errors import UsageError


def write_whole(path: Path, parts: Iterable[bytes], *, mode: int = 0o666) -> None:
    """Write a file under another name and rename it, so that it is never incomplete.

    Args:
        path: The file; one that is there is replaced.
        parts: Its content, in order.
        mode: The permissions, from which the process's umask is taken.

    Raises:
        UsageError: The file cannot be written; nothing is left behind.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(partial, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
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


def is_foreign(about: os.stat_result) -> bool:
    """Return whether a file belongs to another user; False where files have no owners."""
    return os.name == "posix" and about.st_uid != os.geteuid()


def is_open_to_others(about: os.stat_result) -> bool:
    """Return whether others than the owner may read, change or execute a file."""
    return os.name == "posix" and bool(about.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def open_regular(path: str | Path) -> Any:
    """Open a regular file to read its bytes.

    Returns:
        A buffered reader, which the caller closes.

    Raises:
        OSError: The file cannot be opened, or is a pipe, a device or a folder; see `strerror`.
    """
    file: Any = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115 (has opener)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a pipe or device, and no regular file", str(path))
    return file


def read_regular(path: str | Path, most_bytes: int) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: See `open_regular`; or the file has more than *most_bytes*; see `strerror`.
    """
    with open_regular(path) as file:
        content: bytes = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        limit = f"{most_bytes >> 20:,} MiB" if most_bytes >= 1 << 20 else f"{most_bytes:,} bytes"
        raise OSError(errno.EFBIG, f"it is larger than {limit}, the limit", str(path))
    return content


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK if os.name == "posix" else flags)
