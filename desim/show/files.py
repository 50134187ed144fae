"""Files written completely or not at all, and files of a stranger: regular ones within a limit.

To open a pipe that nothing writes to would wait without end, and a device may have no end.
"""

import contextlib
import csv
import errno
import io
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from desim.errors import UsageError
from desim.short_repr import short_repr


def write_whole(path: Path, parts: Iterable[bytes], *, mode: int = 0o666) -> None:
    """Write a file under another name and rename it, so that it is never incomplete.

    Args:
        path: The file; one that is there is replaced.
        parts: Its content, in order.
        mode: The permissions, from which the process's umask is taken.

    Raises:
        UsageError: The file cannot be written; nothing is left behind.
    """
    _write(path, parts, mode, Path.replace)


def write_new(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that does not exist yet, completely or not at all.

    Args:
        path: The file; its folder is made.
        parts: Its content, in order.

    Raises:
        UsageError: The file exists, before it is written or after it, or cannot be written; nothing
            is left behind.
    """
    check_new([path])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    _write(path, parts, 0o666, _rename_new)


def _write(
    path: Path, parts: Iterable[bytes], mode: int, rename: Callable[[Path, Path], object]
) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(partial, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.writelines(parts)
        rename(partial, path)
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    finally:
        # On a read-only disk not even a file that does not exist can be removed.
        with contextlib.suppress(OSError):
            partial.unlink()


def _rename_new(partial: Path, path: Path) -> None:
    """Rename a file, and never replace another one."""
    try:
        os.link(partial, path)
    except OSError:  # the name is taken, or the file system has no hard links
        check_new([path])
        partial.replace(path)


def check_new(paths: Iterable[Path]) -> None:
    """Check that no file is there yet, before the first of them is written.

    Raises:
        UsageError: One exists.
    """
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} exists and is kept; choose another name or folder")


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


def read_text(path: str | Path, most_bytes: int | None = None) -> str:
    r"""Return the text of a file without its byte order mark, each line end as `\n`.

    Args:
        path: The file.
        most_bytes: See `read_regular`; with None a pipe is read as well.

    Raises:
        OSError: The file cannot be read; see `strerror`.
        UnicodeDecodeError: It is not UTF-8 text.
    """
    if most_bytes is None:
        return Path(path).read_text("utf-8-sig")
    return io.StringIO(read_regular(path, most_bytes).decode("utf-8-sig"), newline=None).read()


def read_csv(path: str | Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV file that are not empty, each with its line number.

    Blanks around a cell are left out.

    Raises:
        OSError: The file cannot be read; see `strerror`.
        ValueError: It is not UTF-8 text, no CSV, or its columns are not separated by commas.
    """
    reader = csv.reader(io.StringIO(read_text(path)))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except csv.Error as fault:
        raise ValueError(str(fault)) from None
    head = rows[0][1] if rows else []
    if len(head) == 1 and (found := [mark for mark in ";\t|" if mark in head[0]]):
        raise ValueError(
            f"{found[0]!r} separates the columns in {short_repr(head[0])}; it must be ','"
        )
    return rows


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK if os.name == "posix" else flags)
