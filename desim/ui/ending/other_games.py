"""The records of a person's other games: the next one, and a branch of one."""

import os
import shutil
from pathlib import Path

from desim.errors import UsageError
from desim.records.episode import Episode
from desim.records.record_file import record_stem
from desim.records.writer import cut

#: Games in a row that get names of their own.
_MOST_GAMES = 10_000


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
