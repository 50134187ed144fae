"""The log of a board: an append-only file of signed lines, each of which names the one before it.

A line is `{"line": {...}, "sig": "..."}` in canonical JSON: what happened, and the signature of the
board's key. A line is the receipt of what it names, and its signature a checkpoint of the whole
log. A rewritten past shows, because the digest of every later line changes.
"""

import base64
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from desim.errors import BadRecord, UsageError
from desim.records.record_lock import RecordLock
from desim.show.files import read_regular
from desim.verification.signed.canonical import canonical, digest, read_canonical
from desim.verification.signed.keys import PrivateKey, PublicKey, envelope_of

#: The events of a log: a commitment was received, an entry was accepted, was withdrawn by its owner
#: or removed by the maintainer, or the board draws randomness; a server of sealed sessions has
#: opened or closed one.
Event = Literal["commitment", "entry", "withdrawal", "removal", "beacon", "opened", "closed"]

#: The kind of file that the signature of a line names.
KIND = "log-line"

#: Most bytes of a log and of one of its lines, and the digest before the first line.
_MAX_BYTES, _MAX_LINE_BYTES, _START = 64_000_000, 20_000, "0" * 64

#: Most characters of a note, and the last second of the year 9999.
MAX_NOTE, _LAST_SECOND = 1_000, 253_402_300_799

_Optional = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]


class LogLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An event in the log of a board.

    Attributes:
        number: The place of the line, from 1.
        time: UTC in whole seconds since 1970, by the board's clock.
        event: The event.
        subject: The digest of the commitment or the entry; empty for a beacon.
        previous: The digest of the line before; zeros for the first.
        key: The public key of the sender; empty for the board itself.
        note: A sentence of the maintainer's.
        verdict: The digest of the verdict on an entry; empty for other events.
    """

    number: int
    time: Annotated[int, msgspec.Meta(ge=0, le=_LAST_SECOND)]
    event: Event
    subject: _Optional
    previous: str
    key: _Optional = ""
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE)] = ""
    verdict: _Optional = ""

    @property
    def content(self) -> bytes:
        """The bytes that are signed."""
        return canonical(msgspec.to_builtins(self))


class SignedLine(msgspec.Struct, frozen=True):
    """A line with its signature.

    Attributes:
        line: The event.
        signature: The signature of the board's key, 64 bytes.
    """

    line: LogLine
    signature: bytes

    @property
    def content(self) -> bytes:
        """The bytes of the line in the file, without its end."""
        sig = base64.b64encode(self.signature).decode()
        return canonical({"line": msgspec.to_builtins(self.line), "sig": sig})

    @property
    def digest(self) -> str:
        """SHA-256 of these bytes, which the next line names."""
        return digest(self.content)

    @property
    def randomness(self) -> bytes:
        """The 32 bytes that a beacon draws: SHA-256 of its signature."""
        return bytes.fromhex(digest(self.signature))

    @classmethod
    def read(cls, content: bytes, key: PublicKey, what: str) -> "SignedLine":
        """Return the line of these bytes.

        Raises:
            BadRecord: They have another form, or are not signed by the key.
        """
        plain: Any = read_canonical(content, what)
        try:
            line = msgspec.convert(plain["line"], LogLine)
            made = cls(line, base64.b64decode(plain["sig"], validate=True))
        except (msgspec.ValidationError, KeyError, TypeError, ValueError):
            raise BadRecord(f"{what} is no line of a log") from None
        if made.content != content:
            raise BadRecord(f"{what} is no line of a log")
        key.check(KIND, line.content, envelope_of(KIND, key, made.signature), what)
        return made


class BoardLog:
    """The log of a board.

    Args:
        path: The file, which need not exist.
        key: The board's public key.

    Attributes:
        lines: The lines, which were checked.

    Raises:
        BadRecord: A line is not signed by the key, or the chain is broken.
        UsageError: The file cannot be read.
    """

    def __init__(self, path: Path, key: PublicKey) -> None:
        self.path, self.key = path, key
        self.lines = list(_signed_lines(path, key))

    @property
    def end(self) -> str:
        """The digest of the last line."""
        return self.lines[-1].digest if self.lines else _START

    def add(
        self,
        event: Event,
        subject: str,
        key: PrivateKey,
        *,
        sender: str = "",
        note: str = "",
        verdict: str = "",
    ) -> SignedLine:
        """Append a line; it is on disk when this returns.

        Args:
            event: The event.
            subject: The digest of the commitment or the entry; empty for a beacon.
            key: The board's private key.
            sender: The public key of the sender.
            note: A sentence of the maintainer's.
            verdict: The digest of the verdict on an entry.

        Raises:
            UsageError: The key is not the board's, the note is too long, another process has
                written the log since it was read, or the file cannot be written; the log is as it
                was.
        """
        if key.public.raw != self.key.raw:
            raise UsageError(f"{key.name} is not the key of this board")
        if len(note) > MAX_NOTE:
            raise UsageError(f"the note has {len(note):,} characters; {MAX_NOTE:,} are the most")
        number, now = len(self.lines) + 1, int(time.time())
        if self.lines:
            now = max(now, self.lines[-1].line.time)
        line = LogLine(number, now, event, subject, self.end, sender, note, verdict)
        signed = SignedLine(line, key.signature(KIND, line.content))
        with RecordLock(self.path.with_name(f".{self.path.name}"), "written"):
            self._append(signed.content + b"\n")
        self.lines.append(signed)
        return signed

    def _append(self, line: bytes) -> None:
        """Write a line behind those that were read, as a whole or not at all.

        Raises:
            UsageError: There are others by now, or the file cannot be written.
        """
        read = sum(len(each.content) + 1 for each in self.lines)
        try:
            with self.path.open("ab") as file:
                if file.tell() != read:
                    raise UsageError(
                        f"{self.path} was written by another process since it was read; run the "
                        "command again"
                    )
                try:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.truncate(self.path, read)
                    raise
        except OSError as fault:
            raise UsageError(f"cannot write {self.path}: {fault.strerror}") from None

    def of(self, event: Event) -> Iterator[SignedLine]:
        """Yield the lines of an event."""
        return (each for each in self.lines if each.line.event == event)

    def counted(self, receipt: SignedLine) -> str:
        """Return which of the commitments of its key a received one is: "commitment 2 of 3"."""
        same = [one.digest for one in self.of("commitment") if one.line.key == receipt.line.key]
        return f"commitment {same.index(receipt.digest) + 1} of {len(same)}"

    def check_continues(self, older: "BoardLog") -> None:
        """Check that this log has all lines of an older copy of it.

        Raises:
            BadRecord: The past was rewritten; the text names the first line that differs.
        """
        for number, then in enumerate(older.lines, 1):
            if number > len(self.lines) or self.lines[number - 1].content != then.content:
                raise BadRecord(f"line {number} of the log differs from an older copy of it")


def _signed_lines(path: Path, key: PublicKey) -> Iterator[SignedLine]:
    try:
        content = read_regular(path, _MAX_BYTES)
    except FileNotFoundError:
        return
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    previous, then = _START, 0
    if content and not content.endswith(b"\n"):
        raise BadRecord(f"{path} ends within a line; the log was cut")
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        signed = SignedLine.read(line[:_MAX_LINE_BYTES], key, f"line {number} of the log")
        said = signed.line
        if (said.number, said.previous) != (number, previous) or said.time < then:
            raise BadRecord(f"line {number} of the log does not follow the line before it")
        previous, then = signed.digest, said.time
        yield signed
