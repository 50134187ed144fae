"""Memories of methods in a file: JSON, one memory for each role.

A file may come from a stranger: it is read as data, checked against the memory's class, and limited
in size. It is written whole under another name and then renamed, by one process at a time.
"""

import os
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim.core.policy import ShownMemory
from desim.errors import SchemaError, UsageError
from desim.records.record_lock import RecordLock
from desim.schema import from_plain, to_plain
from desim.schema.untrusted import decode_json
from desim.show.files import read_text, write_whole
from policies.llm.method_parts.items import Past
from policies.llm.method_parts.method import Method

#: The format, which the file names; it is counted up when its meaning changes.
FORMAT = "desim-memory/1"

#: Bytes of a file that is read.
MAX_BYTES = 32 * 2**20


class MemoryLock:
    """The lock of this process on a file; released when nothing refers to it any more."""

    def __init__(self, path: str) -> None:
        try:
            lock = RecordLock(path, "learned into")
        except UsageError as fault:
            raise UsageError(f"memory: {fault}") from None
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


@frozen(kw_only=True)
class Remembered:
    """The memory of a role, as it is carried from episode to episode.

    Attributes:
        episodes: Episodes that have ended.
        state: The method's memory.
        pending: Episodes that have ended and were not learned from yet, the first one first.
    """

    episodes: int
    state: Any
    pending: tuple[Past, ...] = ()

    @classmethod
    def of(cls, value: Any, method: type[Method], where: str) -> "Remembered":
        """Return the memory of plain values; SchemaError where they are not one of the method."""
        plain = from_plain(value, dict[str, Any], where)
        return cls(
            episodes=from_plain(plain.get("episodes", 0), int, f"{where}.episodes"),
            state=from_plain(plain.get("state", {}), method.MEMORY, f"{where}.state"),
            pending=tuple(from_plain(plain.get("pending", []), list[Past], f"{where}.pending")),
        )

    def plain(self) -> dict[str, Any]:
        """Return the memory as plain values."""
        pending = [to_plain(past) for past in self.pending]
        return {"episodes": self.episodes, "state": to_plain(self.state), "pending": pending}


def read_memory(path: str | Path, name: str, role: str, method: type[Method]) -> Remembered | None:
    """Return the memory of a role in a file; None if the file or the role in it is missing.

    Args:
        path: The file.
        name: The name of the method that must have written it.
        role: The role.
        method: The method's class.

    Raises:
        UsageError: The file cannot be read, is not a memory file, or is of another method.
    """
    whole = _whole(path)
    if whole is None:
        return None
    if whole["method"] != name:
        raise UsageError(
            f"memory={path} was given, a memory of method {whole['method']!r}, not of {name!r}; "
            "name another file"
        )
    if role not in whole["roles"]:
        return None
    return _checked(whole["roles"][role], method, path, role)


def write_memory(path: str | Path, name: str, role: str, memory: Remembered) -> None:
    """Write the memory of a role, and leave those of other roles as they are.

    The process must hold the file's lock; otherwise changes by other processes would be lost.

    Raises:
        UsageError: The file cannot be written, or is not a memory file of this method.
    """
    whole = _whole(path) or {"roles": {}}
    if whole.get("method", name) != name:
        raise UsageError(f"memory={path} was given, a memory of method {whole['method']!r}")
    roles = {**whole["roles"], role: memory.plain()}
    encoded = msgspec.json.encode({"format": FORMAT, "method": name, "roles": roles})
    write_whole(Path(path), [msgspec.json.format(encoded, indent=1)])


def shown_memory(path: str | Path) -> ShownMemory:
    """Return the memories of a file for people: a row for each entry of a list or line of a text.

    Raises:
        UsageError: The file does not exist or is not a memory file.
    """
    whole = _whole(path)
    if whole is None:
        raise UsageError(f"there is no file {path}")
    kept = {role: each for role, each in whole["roles"].items() if isinstance(each, dict)}
    rows = [{"role": role, **row} for role, each in kept.items() for row in _rows(each)]
    return ShownMemory(
        whole["method"], rows, {role: kept[role].get("episodes", 0) for role in kept}
    )


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


def _whole(path: str | Path) -> dict[str, Any] | None:
    """Return the JSON object of a file; None if the file does not exist."""
    try:
        content = read_text(path, MAX_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise UsageError(f"memory={path} cannot be read: {why}") from None
    try:
        whole = decode_json(content)
    except ValueError:
        whole = None
    if (
        not isinstance(whole, dict)
        or whole.get("format") != FORMAT
        or not isinstance(whole.get("method"), str)
        or not isinstance(whole.get("roles"), dict)
    ):
        raise UsageError(f"memory={path} was given, which is no memory in the format {FORMAT}")
    return whole


def _checked(plain: Any, method: type[Method], path: str | Path, role: str) -> Remembered:
    try:
        return Remembered.of(plain, method, f"roles.{role[:80]}")
    except SchemaError as fault:
        raise UsageError(f"memory={path} was given, which is no valid memory: {fault}") from None
