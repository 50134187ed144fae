"""The records of a person's other games: the next one, a branch of one, and the last one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.records.record_file import is_record_name, record_stem
from desim.records.recorder import cut

#: Records of a folder that are searched for the last game, the latest first, and bytes of each.
_MOST_RECORDS, _MOST_BYTES = 50, 20_000_000

#: Games in a row that get names of their own.
_MOST_GAMES = 10_000

#: The fields of a header that games of one kind have in common; their seeds may differ.
_COMPARED = ("model", "params", "policies")


def next_file(file: Path) -> Path:
    """Return the name of a record that does not exist yet: `game.jsonl` gives `game-2.jsonl`.

    Raises:
        UsageError: All names are taken.
    """
    name = record_stem(file)
    suffix = file.name.removeprefix(name)
    stem, _, number = name.rpartition("-")
    first = f"{stem}-{number}" if not (stem and number.isdecimal()) else stem
    for count in range(2, _MOST_GAMES):
        found = file.with_name(f"{(first if stem else number)}-{count}{suffix}")
        if not os.path.lexists(found):
            return found
    raise UsageError(f"{file} has {_MOST_GAMES:,} successors already; choose another --record")


def branched(file: Path, decisions: int) -> Path:
    """Write a new record with the first decisions of a game, and return its name.

    Raises:
        UsageError: The record has fewer decisions, or the new one cannot be written.
    """
    known = len(Episode.read(file, whole=False, keep_steps=False).steps)
    if not 0 <= decisions < known:
        raise UsageError(f"decision {decisions + 1} was given; possible: 1 to {known}")
    new = next_file(file)
    try:
        with file.open("rb") as old, new.open("xb") as copy:
            shutil.copyfileobj(old, copy)
    except OSError as fault:
        raise UsageError(f"cannot write {new}: {fault.strerror}") from None
    cut(new, decisions)
    return new


def last_game(file: Path, header: Header) -> tuple[Path, Episode] | None:
    """Return the last whole game of the same kind in the folder of a record.

    Later games, games of other parameters or players, and files of another format are
    passed over.

    Args:
        file: The record of the present game.
        header: Its header.
    """
    for path in _earlier(file):
        try:
            found = Episode.read(path)
        except BadRecord:
            continue
        if _kind(found.header) == _kind(header):
            return path, found
    return None


def _earlier(file: Path) -> Iterator[Path]:
    """Yield the other records of a folder that were written before a record, the latest first."""
    try:
        now = file.stat().st_mtime_ns
        every = [entry for entry in os.scandir(file.parent) if is_record_name(entry.name)]
        times = {
            entry.name: entry.stat(follow_symlinks=False)
            for entry in every
            if entry.is_file(follow_symlinks=False)
        }
    except OSError:
        return
    before = {
        name: one.st_mtime_ns
        for name, one in times.items()
        if name != file.name and one.st_mtime_ns <= now and one.st_size <= _MOST_BYTES
    }
    for name in sorted(before, key=lambda name: -before[name])[:_MOST_RECORDS]:
        yield file.with_name(name)


def _kind(header: Header) -> list[object]:
    return [getattr(header, name) for name in _COMPARED]
