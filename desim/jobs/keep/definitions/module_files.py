"""Modules that were read, kept until their files change: in memory, and desim's own on disk."""

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import msgspec
from attrs import frozen

from desim.episodes.collector import rare_collections
from desim.errors import UsageError
from desim.jobs.keep.definitions import modules, syntax
from desim.jobs.keep.definitions.modules import Module, Place, is_ours, module_of

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


def read_module(name: str, place: Place) -> Module:
    """Return the top level of a module; it is read again only where its file has changed.

    Raises:
        UsageError: The file cannot be read or parsed.
    """
    key = place.file, name
    try:
        stamp = _stamp(place.file)
        if (kept := _memory.get(key)) is None or kept.stamp != stamp:
            kept = _memory[key] = _from_disk(name, place, stamp) or _read(name, place, stamp)
    except OSError as fault:
        raise UsageError(f"cannot read {place.file}: {fault.strerror}") from None
    except (SyntaxError, ValueError) as fault:
        raise UsageError(f"cannot read {place.file}: {fault}") from None
    return kept.module


def modules_that_define(name: str) -> list[str]:
    """Return the modules that define a name, of those that this process has read."""
    return [kept.module.name for kept in _memory.values() if name in kept.module.definitions]


def _stamp(file: str) -> _Stamp:
    found = os.stat(file)  # noqa: PTH116 (hundreds of files before a sweep)
    return found.st_mtime_ns, found.st_size


def _reader() -> tuple[_Stamp, ...]:
    return tuple(_stamp(str(one.__file__)) for one in (modules, syntax))


def _read(name: str, place: Place, stamp: _Stamp) -> _Kept:
    package = name if place.folders else name.rpartition(".")[0]
    with rare_collections():  # a syntax tree is many objects
        module = module_of(name, package, Path(place.file).read_bytes(), place.file)
    kept = _Kept(stamp, _reader(), module)
    _to_disk(place.file, kept)
    return kept


def _from_disk(name: str, place: Place, stamp: _Stamp) -> _Kept | None:
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
