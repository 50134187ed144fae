"""Files that models and policies open themselves, which no parameter and no argument names.

An audit hook of Python notes them while user code is imported, built or played (`noting`). What is
opened otherwise than by Python, such as by a database library, is not noted.
"""

import contextlib
import hashlib
import os
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from attrs import define, field

#: The digest of every file by its absolute path.
Files = dict[str, str]

#: Packages whose files other digests cover, and folders in which no user keeps data of a policy.
_OURS = ("desim", "ledgers", "models", "policies")
_OF_SYSTEM = ("/proc", "/dev", "/sys", "/etc", "/usr/lib", "/usr/share", "~/.cache")


@define
class _Read:
    stamp: tuple[int, int] | None = None
    digest: str = ""
    modules: set[str] = field(factory=set)


#: By path; never emptied, as a module may keep what it has read.
_opened: dict[str, _Read] = {}
#: Files that this process has written: they are results and no data.
_written: set[str] = set()
#: The number of open `noting` contexts; the hook cannot be removed, and does nothing at 0.
_depth = 0
#: The frame that opened the first of them: frames further out only started the play.
_outermost: FrameType | None = None


@contextlib.contextmanager
def noting() -> Iterator[None]:
    """Note the files that are opened inside, with the modules that open them."""
    global _depth, _outermost  # noqa: PLW0603 (read by the hook at every event)
    _add_hook()
    if not _depth:
        _outermost = sys._getframe(2)  # noqa: SLF001 (behind contextlib's)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _outermost = None


@cache
def _add_hook() -> None:
    _ignored()  # it opens files itself
    sys.addaudithook(_note)


def opened() -> set[str]:
    """Return the files that have been read in this process and were not written by it."""
    return _opened.keys() - _written


def opened_by(modules: Iterable[str]) -> Files:
    """Return the data files that code of some modules, or code called by it, has read.

    A module in a package stands for the whole package.
    """
    wanted = {_package(name) for name in modules}
    read = {path: _opened[path] for path in opened()}
    found = {p: one.digest for p, one in read.items() if wanted & {*map(_package, one.modules)}}
    if not found:
        return {}
    loaded = {module.__dict__.get("__file__") for module in [*sys.modules.values()]}
    return {path: digest for path, digest in found.items() if path not in loaded and _stamp(path)}


def _package(module: str) -> str:
    return module.rpartition(".")[0] or module


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if not _depth:
        return
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes | os.PathLike) and isinstance(flags, int):
            _note_opened(_absolute(path), reads=flags & os.O_ACCMODE == os.O_RDONLY)
    elif event == "os.rename":  # a file that is written under another name first
        _written.add(_absolute(arguments[1]))


def _note_opened(path: str, *, reads: bool) -> None:
    if not reads:
        _written.add(path)
    elif path in _written or path.startswith(_ignored()) or path.endswith(".pyc"):
        return
    elif found := _stamp(path):
        read = _opened.setdefault(path, _Read())
        read.modules.update(_modules(sys._getframe(2)))  # noqa: SLF001
        if read.stamp != found:
            read.stamp = found  # before the content is read, which opens the file as well
            read.digest = _content(path)


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 (links are not resolved)


def _modules(frame: FrameType | None) -> Iterator[str]:
    while frame is not None and frame is not _outermost:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name != __name__:
            yield "__main__" if name == "__mp_main__" else name  # a worker's name of a script
        frame = frame.f_back


@cache
def _ignored() -> tuple[str, ...]:
    python = {sysconfig.get_path(n) for n in ("stdlib", "platstdlib", "purelib", "platlib")}
    root = Path(__file__).parent.parent
    folders = [*python, *map(os.path.expanduser, _OF_SYSTEM), *(str(root / one) for one in _OURS)]
    return tuple(os.path.join(os.path.abspath(one), "") for one in folders)  # noqa: PTH100, PTH118


def _stamp(path: str) -> tuple[int, int] | None:
    """Return when a regular file was modified, in nanoseconds, and its size."""
    try:
        found = os.stat(path)  # noqa: PTH116 (at every opening of a file)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None


def _content(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
