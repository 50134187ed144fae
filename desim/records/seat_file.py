"""The file beside a person's record: how long each decision took, and what was opened before it.

The record does not depend on it: digests, replays and comparisons leave it out. A line names its
decision by a digest, so lines of decisions that were taken back, or of another game, fit none.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec

from desim.errors import BadRecord
from desim.records.lines import Step
from desim.records.record_file import SEAT_ENDS, lines_of, record_stem
from desim.schema import tagged
from desim.show.files import is_foreign, is_open_to_others

#: Characters of a text, and tables of a decision.
_TEXT, _TABLES = 200, 1_000

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e10)]
_Text = Annotated[str, msgspec.Meta(max_length=_TEXT)]
_Tables = Annotated[tuple[_Text, ...], msgspec.Meta(max_length=_TABLES)]


class SeatLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The time that a person took for one decision, and what was opened before it.

    Attributes:
        decision: A digest of the decision; see `step_digest`.
        seconds: Seconds from the moment it was shown until the answer, without `away_seconds`.
        away_seconds: Seconds thereof in which no tab showed it.
        resumed: Whether the game was stopped and continued while it was open; the seconds before
            are not counted.
        hints: How often hints were opened; a hint shown from the start counts once.
        tables: The tables that were shown, in the order in which they were opened.
        charged: Whether tables were charged for.
        alias: The name that the person has chosen; may be empty.
        surface: "browser" or "terminal".
        version: The version of desim, and a digest of the code of the page.
    """

    decision: _Text
    seconds: _Seconds
    away_seconds: _Seconds = 0.0
    resumed: bool = False
    hints: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    tables: _Tables = ()
    charged: bool = False
    alias: _Text = ""
    surface: _Text = ""
    version: _Text = ""

    @classmethod
    def of(cls, step: Step, tables: Iterable[str], **measured: Any) -> "SeatLine":
        """Return the line of a decision with the tables and the other attributes, within limits."""
        named = tuple(name[:_TEXT] for name in islice(tables, _TABLES))
        return cls(decision=step_digest(step), tables=named, **measured)


#: The columns of the lines, in a table of decisions.
SEAT_COLUMNS = tuple(name for name in SeatLine.__struct_fields__ if name != "decision")

_decode = msgspec.json.Decoder(SeatLine).decode


def seat_path(record: str | Path) -> Path:
    """Return the file that belongs to a record."""
    path = Path(record)
    return path.with_name(f"{record_stem(path)}{SEAT_ENDS}")


def step_digest(step: Step) -> str:
    """Return a digest of a decision, which is the same when its record has been read."""
    parts = (str(step.t).encode(), step.role.encode(), step.observed, tagged(step.action))
    return hashlib.sha256(b"\n".join(parts)).hexdigest()[:16]


def append_line(path: Path, line: SeatLine) -> None:
    """Append a line to the file.

    A part of a line that a killed process left stays a line of its own, which the reader skips.

    Raises:
        OSError: See `open_seat`.
    """
    with open_seat(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        begin = b"" if file.read(1) in {b"", b"\n"} else b"\n"
        data = begin + msgspec.json.encode(line) + b"\n"
        if file.write(data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def open_seat(path: Path) -> Any:
    """Open the file to append to it; a missing one is made with mode 0600.

    Raises:
        OSError: The file is a link, no regular file, or open to others, or cannot be written; see
            `strerror`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = open(os.open(path, flags, 0o600), "r+b", buffering=0)  # noqa: PTH123, SIM115 (a descriptor, for the caller)
    try:
        _check_own(path, os.fstat(file.fileno()))
    except BaseException:
        file.close()
        raise
    return file


def _check_own(path: Path, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if is_foreign(about) or is_open_to_others(about):
        raise OSError(errno.EPERM, "it is somebody else's, or others may read it", str(path))


def seat_columns(path: Path, steps: Iterable[Step]) -> dict[str, list[Any]]:
    """Return what the file says of each decision, by column; None where it says nothing.

    Returns:
        The columns `seat.seconds` and so on; none without a file, or if no line fits a decision.

    Raises:
        BadRecord: A line is not one of such a file, or the file is beyond the limits of records.
    """
    if not path.exists():
        return {}
    by_decision = {line.decision: line for line in _lines(path)}
    found = [by_decision.get(step_digest(step)) for step in steps]
    if not any(found):
        return {}
    return {f"seat.{name}": [_cell(line, name) for line in found] for name in SEAT_COLUMNS}


def _cell(line: SeatLine | None, name: str) -> Any:
    value = getattr(line, name, None)
    return json.dumps(value) if isinstance(value, tuple) else value


def _lines(path: Path) -> Iterator[SeatLine]:
    for number, line in enumerate(lines_of(path), 1):
        try:
            yield _decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as fault:
            # The part of a line that a killed process wrote does not end its object.
            if not line.rstrip().endswith(b"}"):
                continue
            raise BadRecord(f"line {number} of {path} is no line of a seat: {fault}") from None
