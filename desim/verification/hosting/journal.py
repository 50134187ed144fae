"""The journal of a sealed session: an append-only file, on disk before each reply.

A line is an object with the key "event". A line that a killed server has cut is left out.
"""

import os
from pathlib import Path
from typing import Any

import msgspec

from desim.errors import BadRecord, UsageError
from desim.show.files import read_regular
from desim.verification.signed.canonical import canonical

#: Most bytes of a journal.
_MAX_BYTES = 256_000_000


class SessionJournal:
    """The journal of one session.

    Args:
        path: The file; a new one is readable by its owner alone, as it holds the secret.

    Attributes:
        events: The lines so far.

    Raises:
        BadRecord: A whole line is not an event.
        UsageError: The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        try:
            content = read_regular(path, _MAX_BYTES) if path.exists() else b""
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            whole = content[: content.rfind(b"\n") + 1]
            self.events = [_event(line) for line in whole.splitlines()]
            os.ftruncate(self._file, len(whole))
            os.lseek(self._file, 0, os.SEEK_END)
            sync_folder(path.parent)
        except OSError as fault:
            raise UsageError(f"cannot open {path}: {fault.strerror}") from None

    def add(self, event: str, **facts: Any) -> None:
        """Append a line; it is on disk when this returns.

        Raises:
            UsageError: The disk refuses it.
        """
        line = {"event": event, **facts}
        try:
            _write(self._file, canonical(line) + b"\n")
            os.fsync(self._file)
        except OSError as fault:
            raise UsageError(f"cannot write the journal: {fault.strerror}") from None
        self.events.append(line)

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of an event."""
        return [each for each in self.events if each["event"] == event]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def sync_folder(folder: Path) -> None:
    """Return when the disk has the names of a folder's files."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_file(path: Path) -> None:
    """Return when the disk has the content of a file."""
    sync_folder(path)


def _write(file: int, line: bytes) -> None:
    """Write a line as a whole."""
    while line:
        line = line[os.write(file, line) :]


def _event(line: bytes) -> dict[str, Any]:
    try:
        event: dict[str, Any] = msgspec.json.decode(line, type=dict)
        return {**event, "event": str(event["event"])}
    except (msgspec.MsgspecError, KeyError):
        raise BadRecord("the journal has a line that is no event") from None
