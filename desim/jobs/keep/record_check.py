"""Compares the outcome of a job with its records, which are replayed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from desim.errors import BadRecord
from desim.jobs.keep.outcome import Played, read_played

#: Fields of an outcome that no record holds.
_NOT_RECORDED = ("seconds",)


def outcome_differences(name: str, outcome: Played, record: Path) -> Iterator[str]:
    """Yield a sentence for each difference between an outcome and the record of its episode.

    Args:
        name: The name of the job.
        outcome: Its outcome.
        record: The record.

    Raises:
        BadRecord: The record is missing, cut or damaged.
    """
    again = read_played(name, record, 0.0, outcome.episode, training=outcome.training)
    if again is None:
        raise BadRecord(f"{record} is missing or cut, and its outcome is not")
    kept, found = _plain(outcome), _plain(again)
    for field in {**kept, **found}:
        if field not in _NOT_RECORDED and kept.get(field) != found.get(field):
            yield (
                f"{name}: {field} is {kept.get(field)!r} in the outcomes and "
                f"{found.get(field)!r} on record"
            )


def _plain(played: Played) -> dict[str, Any]:
    """Return the outcome of an episode as plain JSON values."""
    fields = {name: getattr(played, name) for name in Played.__struct_fields__}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(fields))
    return plain
