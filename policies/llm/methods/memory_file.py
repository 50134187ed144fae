"""Memories of methods in a file: JSON, one memory for each role.

A file may come from a stranger: it is read as data and limited in size. It is written whole under
another name and then renamed, by one process at a time.
"""

import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from desim.core.policy import ShownMemory
from desim.errors import UsageError
from desim.records.record_lock import RecordLock
from desim.schema.untrusted import decode_json
from desim.show.files import read_text, write_whole

#: The format, which the file names; it is counted up when its meaning changes.
FORMAT = "desim-memory/1"

#: Bytes of a file that is read.
MAX_BYTES = 32 * 2**20


class MemoryLock:
    """The lock of this process on a file; released when nothing refers to it any more."""

    def __init__(self, path: str) -> None:
        lock = RecordLock(path, "learned into")
        weakref.finalize(self, lock.__exit__)


#: The locks that this process holds, by the real path of the file.
_LOCKS: weakref.WeakValueDictionary[str, MemoryLock] = weakref.WeakValueDictionary()


def memory_lock(path: str) -> MemoryLock:
    """Return the lock of a file, which the policies of a process share: one file has many roles.

    Raises:
        UsageError: Another process learns into the file, or its folder cannot be written.
    """
    real = os.path.realpath(path)
    if (lock := _LOCKS.get(real)) is None:
        lock = _LOCKS[real] = MemoryLock(path)
    return lock


def read_memories(path: str, method: str) -> dict[str, Any]:
    """Return the memories in a file as plain values by role; none if there is no file.

    Args:
        path: The file.
        method: The name of the method that must have written it.

    Raises:
        UsageError: The file cannot be read, is not a memory file, or is of another method.
    """
    whole = _whole(path)
    if whole is None:
        return {}
    if whole["method"] != method:
        raise UsageError(
            f"memory={path} was given, a memory of method {whole['method']!r}, not of {method!r}; "
            "name another file"
        )
    roles: dict[str, Any] = whole["roles"]
    return roles


def write_memory(path: str, method: str, role: str, plain: Any) -> None:
    """Write the memory of a role, and leave those of other roles as they are.

    The process must hold the file's lock; otherwise changes by other processes would be lost.

    Raises:
        UsageError: The file cannot be written, or is not a memory file of this method.
    """
    roles = {**read_memories(path, method), role: plain}
    encoded = msgspec.json.encode({"format": FORMAT, "method": method, "roles": roles})
    write_whole(Path(path), [msgspec.json.format(encoded, indent=1)])


def shown_memory(path: str) -> ShownMemory:
    """Return the memories of a file for people: a row for each entry of a list or line of a text.

    Raises:
        UsageError: The file does not exist or is not a memory file.
    """
    whole = _whole(path)
    if whole is None:
        raise UsageError(f"there is no file {path}")
    kept = {role: each for role, each in whole["roles"].items() if isinstance(each, dict)}
    rows = [{"role": role, **row} for role, each in kept.items() for row in _rows(each)]
    episodes = {role: each.get("episodes", 0) for role, each in kept.items()}
    return ShownMemory(whole["method"], rows, episodes)


def _rows(memory: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    state, pending = memory.get("state"), memory.get("pending")
    fields = state if isinstance(state, dict) else {}
    texts = {k: v.splitlines() for k, v in fields.items() if isinstance(v, str) and "\n" in v}
    listed = {k: v for k, v in fields.items() if isinstance(v, list)} | texts
    if single := {k: v for k, v in fields.items() if k not in listed}:
        yield single
    for name, values in listed.items():
        yield from (each if isinstance(each, dict) else {name: each} for each in values)
    for past in pending if isinstance(pending, list) else ():
        yield {"pending episode": past.get("number") if isinstance(past, dict) else past}


def _whole(path: str) -> dict[str, Any] | None:
    """Return the JSON object of a file; None if the file does not exist."""
    try:
        content = read_text(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"memory={path} cannot be read: {why}") from None
    with suppress(ValueError):
        whole = decode_json(content)
        if isinstance(whole, dict) and whole.get("format") == FORMAT:
            method, roles = whole.get("method"), whole.get("roles")
            if isinstance(method, str) and isinstance(roles, dict):
                return whole
    raise UsageError(f"memory={path} was given, which is no memory in the format {FORMAT}")
