"""Files that models and policies open themselves, which no parameter and no argument names.

An audit hook of Python notes them while user code is imported, built or played (`noting`). What a
library opens otherwise, such as a database, is not noted. A worker sends them with the row.
"""

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from types import FrameType, ModuleType
from typing import Any

import msgspec
from attrs import define, field

from desim.engine.fingerprint import ROOMS, ROOT, file_digest, with_bases

#: The digest of every file by its absolute path.
Files = dict[str, str]

_OF_SYSTEM = ("/proc", "/dev", "/sys", "/etc", "/usr/lib", "/usr/share", "~/.cache")

#: Separates a row from its files; JSON has no such byte outside of texts, and escapes it inside.
_SEPARATOR = b"\n"


@define
class _Read:
    """When a file was modified as it was last read, and its size; and who has read it."""

    stamp: tuple[int, int] = (0, 0)
    digest: str = ""
    packages: set[str] = field(factory=set)


#: By path; never emptied, as a module may keep what it has read.
_opened: dict[str, _Read] = {}
#: Files that this process has written: they are results and no data.
_written: set[str] = set()
#: The frames that opened the `noting` contexts: those further out than the first only started the
#: play. The hook cannot be removed, and does nothing while there are none.
_noting: list[FrameType] = []


@contextlib.contextmanager
def noting() -> Iterator[None]:
    """Note the files that are opened inside, with the modules that open them."""
    _add_hook()
    _noting.append(sys._getframe(2))  # noqa: SLF001 (behind contextlib's)
    try:
        yield
    finally:
        _noting.pop()


@cache
def _add_hook() -> None:
    _ignored()  # it opens files itself
    sys.addaudithook(_note)


def opened() -> set[str]:
    """Return the files that have been read in this process and were not written by it."""
    return _opened.keys() - _written


def opened_by(parts: Iterable[object]) -> Files:
    """Return the files that code of some classes and functions, or code called by it, has read.

    A module in a package stands for the whole package. Texts do not count, and no files of Python.
    """
    if not _opened:
        return {}
    made = with_bases(parts)
    names = (one.__name__ if isinstance(one, ModuleType) else one.__module__ for one in made)
    wanted = {*map(_package, names)}
    return {path: _opened[path].digest for path in opened() if wanted & _opened[path].packages}


def with_files(row: bytes, parts: Iterable[object]) -> bytes:
    """Return a row, followed by the files that the code of its cell has opened in this process."""
    files = opened_by(parts)
    return row + _SEPARATOR + msgspec.json.encode(files) if files else row


def split(rows: Iterable[bytes]) -> tuple[list[bytes], list[Files]]:
    """Return rows without files, and the files of each."""
    parts = [row.partition(_SEPARATOR) for row in rows]
    files = [msgspec.json.decode(each or b"{}", type=Files) for *_, each in parts]
    return [row for row, _, _ in parts], files


def _package(module: str) -> str:
    return module.rpartition(".")[0] or module


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _noting:
        return
    if event == "os.rename":  # of a file that is written under another name first
        _written.add(_absolute(arguments[1]))
    if event != "open" or not isinstance(flags := arguments[2], int):
        return
    if isinstance(arguments[0], int):  # of a file that is open
        return
    path = _absolute(arguments[0])
    if flags & os.O_ACCMODE != os.O_RDONLY:
        _written.add(path)
    elif path in _written or path.startswith(_ignored()) or path.endswith((".py", ".pyc")):
        return
    elif os.path.isfile(path):  # noqa: PTH113 (at every opening of a file)
        read, found = _opened.setdefault(path, _Read()), os.stat(path)  # noqa: PTH116
        read.packages.update(_packages(sys._getframe(1)))  # noqa: SLF001
        if read.stamp != (stamp := (found.st_mtime_ns, found.st_size)):
            read.stamp = stamp  # before the content is read, which opens the file as well
            read.digest = file_digest(path)


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 (links are not resolved)


def _packages(frame: FrameType | None) -> Iterator[str]:
    outermost = next(iter(_noting), None)  # another thread may have left it
    while frame is not None and frame is not outermost:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name != __name__:
            yield _package(name)
        frame = frame.f_back


@cache
def _ignored() -> tuple[str, ...]:
    """Return the folders of Python, of desim, and in which no user keeps data of a policy."""
    python = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    folders = [*python, *map(os.path.expanduser, _OF_SYSTEM), *(str(ROOT / one) for one in ROOMS)]
    return tuple(os.path.join(os.path.abspath(one), "") for one in folders)  # noqa: PTH100, PTH118
