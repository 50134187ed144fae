"""A job: one episode to play, as plain data that can be sent to another process."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim.core.limits import Limits
from desim.core.model_protocols import Model
from desim.jobs.plan.lineups import PolicyEntry
from desim.jobs.plan.record_job import safe_name
from desim.schema import to_plain

#: The result of one job: plain JSON values, the same keys in the same order in all rows of a sweep
#: (see `Rows`).
Row = dict[str, Any]


#: Keys of rows of a design: the index of the point, and the policy without its arguments.
POINT, GIVEN = "point", "given"


#: The key of rows whose episodes are recorded: the file of the record, in the folder of the sweep.
RECORD = "record"

#: The folder of the records in that of the sweep, and most characters of a part of a record's name.
RECORDS, _LONGEST = "records", 40


#: The key of rows with series that holds unit, label, role and period of each series.
SERIES_COLUMNS = "series_columns"


@frozen
class Variant:
    """A model, and its name in rows.

    Attributes:
        name: Its name in the catalog.
        preset: The preset it was made from, or the nearest one.
        params: The parameters that were set, vary in the sweep, or differ from the preset.
        model: The model with all its parameters.
    """

    name: str
    preset: str
    params: dict[str, Any]
    model: Model[Any]


@frozen
class Cell:
    """A model and policies, which play every seed of a sweep.

    Attributes:
        variant: The model.
        entry: The policies.
        point: The index of the point of a design; None in a sweep without one.
        given: The label of the policies without the arguments of the point; empty without one.
    """

    variant: Variant
    entry: PolicyEntry
    point: int | None = None
    given: str = ""


@frozen
class Job:
    """One episode to play.

    Attributes:
        cell: The model and the policies.
        seed: A whole number of at least 0.
        limits: The limits of wall time, events and decisions; an episode that reaches one fails.
        series: Whether its row holds the model's series.
        out: The folder of the sweep, which receives the record of the episode; None records
            nothing.
    """

    cell: Cell
    seed: int
    limits: Limits | None = None
    series: bool = False
    out: Path | None = None

    @property
    def variant(self) -> Variant:
        """The model, and its name in rows."""
        return self.cell.variant

    @property
    def entry(self) -> PolicyEntry:
        """The policies, and their label."""
        return self.cell.entry

    @property
    def record_name(self) -> str:
        """The name of its record in the folder of the sweep.

        The same for equal parameters, policies and seeds, in whatever sweep they are played.
        """
        variant = self.variant
        plain = msgspec.json.encode([variant.name, to_plain(variant.model)], order="sorted")
        model = "-".join(filter(None, [variant.name, variant.preset]))
        names = (safe_name(name, _LONGEST) for name in (model, self.entry.label))
        parts = [*names, hashlib.sha256(plain).hexdigest()[:8], f"seed{self.seed}"]
        return f"{RECORDS}/{'__'.join(parts)}.jsonl"

    @property
    def record(self) -> Path | None:
        """The file of its record; None if it is not recorded."""
        return self.out / self.record_name if self.out is not None else None


class _Error(msgspec.Struct):
    """The value of a row that says whether its episode failed."""

    error: str | None


_decode_error = msgspec.json.Decoder(_Error).decode


def has_failed(row: bytes) -> bool:
    """Return whether the episode of a row as JSON failed."""
    return _decode_error(row).error is not None
