"""Files of code: modules that were read, and the files beside them that their code names.

A module is kept until its file changes: in memory, and on disk if it is one of desim's own.
"""

import contextlib
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from attrs import frozen

from desim.collector import rare_collections
from desim.definitions import modules, syntax
from desim.definitions.modules import Module, ModulePlace, is_ours, module_of
from desim.errors import UsageError

#: A text that may name a file or a folder beside a module, also several by `*`.
_NAME = re.compile(r"[\w*][\w .*-]*(?:/[\w*][\w .*-]*)*/?")

#: Suffixes of files that no episode depends on.
_NO_DATA = {".pyc", ".md"}

#: The state of a file: when it was modified, in nanoseconds, and its size in bytes.
_Stamp = tuple[int, int]


@frozen
class _Kept:
    """A module that was read.

    Attributes:
        stamp: The state of its file.
        reader: The state of the modules that read it.
        module: What was found.
    """

    stamp: _Stamp
    reader: tuple[_Stamp, ...]
    module: Module


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(_Kept)

#: By file and name.
_memory: dict[tuple[str, str], _Kept] = {}


def read_module(name: str, place: ModulePlace) -> Module:
    """Return the top level of a module; it is read again only where its file has changed.

    Raises:
        UsageError: The file cannot be read or parsed.
    """
    key = place.file, name
    try:
        stamp = _stamp(place.file)
        if (kept := _memory.get(key)) is None or kept.stamp != stamp:
            kept = _memory[key] = _from_disk(name, place, stamp) or _parsed(name, place, stamp)
    except OSError as fault:
        raise UsageError(f"cannot read {place.file}: {fault.strerror}") from None
    except (SyntaxError, ValueError) as fault:
        raise UsageError(f"cannot read {place.file}: {fault}") from None
    return kept.module


def modules_that_define(name: str) -> list[str]:
    """Return the modules that define a name, of those that this process has read."""
    found = (kept.module for kept in _memory.values() if name in kept.module.definitions)
    return [*dict.fromkeys(module.name for module in found)]


def _stamp(file: str) -> _Stamp:
    found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    return found.st_mtime_ns, found.st_size


def _reader() -> tuple[_Stamp, ...]:
    return tuple(_stamp(str(one.__file__)) for one in (modules, syntax))


def _parsed(name: str, place: ModulePlace, stamp: _Stamp) -> _Kept:
    package = name if place.folders else name.rpartition(".")[0]
    with rare_collections():  # a syntax tree is many objects
        module = module_of(name, package, Path(place.file).read_bytes(), place.file)
    kept = _Kept(stamp, _reader(), module)
    _to_disk(place.file, kept)
    return kept


def _from_disk(name: str, place: ModulePlace, stamp: _Stamp) -> _Kept | None:
    """Return what an earlier process has kept, if it is of the same file and the same desim."""
    if not is_ours(name):  # users edit theirs, and have few
        return None
    with contextlib.suppress(OSError, RuntimeError, msgspec.MsgspecError):
        kept = _decoder.decode(_kept_file(place.file, name).read_bytes())
        if (kept.stamp, kept.reader, kept.module.name) == (stamp, _reader(), name):
            return kept
    return None


def _to_disk(file: str, kept: _Kept) -> None:
    if not is_ours(kept.module.name):
        return
    # Without a home folder, or with one that cannot be written, every process reads anew.
    with contextlib.suppress(OSError, RuntimeError):
        path = _kept_file(file, kept.module.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as partial:
            partial.write(_encode(kept))
        Path(partial.name).replace(path)


def _kept_file(file: str, name: str) -> Path:
    """Return where a module is kept: in the user's folder for what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME")
    folder = Path(base) if base else Path.home() / ".cache"
    key = hashlib.sha256(f"{name}:{file}:{sys.version_info[:2]}".encode()).hexdigest()[:32]
    return folder / "desim" / "definitions" / key


def data_files(folder: Path, texts: Iterable[str]) -> Iterator[Path]:
    """Yield the files that texts name in a folder, with those of the folders that they name."""
    for text in texts:
        if not _NAME.fullmatch(text) or "**" in text:
            continue
        for found in sorted(folder.glob(text)) if "*" in text else [folder / text]:
            for file in sorted(found.rglob("*")) if found.is_dir() else [found]:
                if file.is_file() and file.suffix not in _NO_DATA:
                    yield file


def digest(path: str | Path) -> str:
    """Return a digest of the bytes of a file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path may be a text)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
