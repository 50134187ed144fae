"""Reads the rows of a sweep or a recorded episode, whichever a path holds."""

from pathlib import Path

from desim.errors import UsageError
from desim.jobs.rows.rows import Rows
from desim.records.episode import Episode
from desim.show.files import open_regular

#: The beginning of the JSON lines of a sweep and of a record.
_ROW, _RECORD = b'{"model":', b'{"line":"header"'

#: The first bytes of a file compressed with gzip.
_GZIP = b"\x1f\x8b"


def load(path: str | Path) -> Rows | Episode:
    """Return the rows of a sweep, or a recorded episode.

    No code is imported and no other file opened, so a file may come from an untrusted source.

    Args:
        path: The folder of a sweep, finished or not, its rows.jsonl, or a record.

    Raises:
        UsageError: The path holds neither.
        BadRecord: The rows or the record cannot be read.
    """
    place = Path(path)
    if place.is_dir():
        return Rows.read(place)
    try:
        with open_regular(place) as file:
            start = file.read(len(_RECORD))
    except OSError as fault:
        raise UsageError(f"cannot read {place}: {fault.strerror}") from None
    if start.startswith((_RECORD, _GZIP)):
        return Episode.read(place)
    if start.startswith(_ROW):
        return Rows.read(place)
    raise UsageError(f"{place} is neither the rows of a sweep nor a record of desim")
