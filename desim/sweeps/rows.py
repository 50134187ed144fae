"""What a sweep brought home: one plain row an episode, to be filtered, compared and written."""

import contextlib
import csv
import io
import json
import math
import os
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, overload

import msgspec

from desim import stats
from desim.errors import BadRecord, UsageError, possible
from desim.seating import label
from desim.sweeps.jobs import Row
from desim.sweeps.tables import Table, table

__all__ = ["Rows"]

#: Keys that every row has; those between them are mappings of names to values.
_FIRST, _THEN, _LAST = (
    ("model", "preset"),
    ("policy", "seed", "score", "ended", "decisions"),
    ("ledger_digest", "error"),
)
_PLAIN = _FIRST + _THEN + _LAST
_NESTED = ("params", "metrics")

_encode = msgspec.json.Encoder().encode


class Rows(Sequence[Row]):
    """Rows of a sweep, in the order of its jobs.

    A row is a mapping: model, preset, params, policy, seed, score, ended, decisions, metrics,
    ledger_digest, error. Columns are named by these keys, and by the names of parameters and
    metrics; where a parameter and a metric share a name, write `params.` or `metrics.` before it.

    Args:
        rows: One an episode.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    @classmethod
    def parsed(cls, lines: Iterable[bytes]) -> "Rows":
        """Read rows from their JSON."""
        decode = msgspec.json.Decoder().decode
        return cls(decode(line) for line in lines)

    @classmethod
    def read(cls, path: str | Path) -> "Rows":
        """Read what a sweep wrote.

        Args:
            path: The folder of a sweep, finished or cut short, or its rows.jsonl.

        Raises:
            UsageError: There is no sweep, or one that is being written.
            BadRecord: A line is no row.
        """
        folder, file = Path(path), Path(path)
        if folder.is_dir():
            file = folder / "rows.jsonl"
            if not file.exists():
                return _unfinished(folder)
        try:
            lines = file.read_bytes().splitlines()
        except OSError as fault:
            raise UsageError(f"cannot read {file}: {fault.strerror}") from None
        try:
            return cls.parsed(lines)
        except msgspec.DecodeError as fault:
            raise BadRecord(f"{file} is not as a sweep wrote it: {fault}") from None

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> "Rows": ...

    def __getitem__(self, index: int | slice) -> "Row | Rows":
        return Rows(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == other._rows if isinstance(other, Rows) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # rows are plain dicts, which may be changed

    def __repr__(self) -> str:
        return f"<Rows of {len(self)} episodes, {len(self.failed)} of which failed>"

    @property
    def failed(self) -> "Rows":
        """Those with an error."""
        return Rows(row for row in self if row["error"] is not None)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns as rows.csv has them."""
        params, metrics = (
            tuple(f"{key}.{name}" for name in dict.fromkeys(n for row in self for n in row[key]))
            for key in _NESTED
        )
        return (*_FIRST, *params, *_THEN, *metrics, *_LAST)

    def where(self, **equal: Any) -> "Rows":
        """Return the rows whose columns have these values.

        Args:
            equal: A value by column; a policy is named by its spec.

        Raises:
            UsageError: There is no such column.
        """
        wanted = [(self.path(name), _named(name, value)) for name, value in equal.items()]
        return Rows(row for row in self if all(_at(row, path) == value for path, value in wanted))

    def column(self, name: str) -> list[Any]:
        """Return a column; None where a row has no such value.

        Raises:
            UsageError: There is no such column.
        """
        path = self.path(name)
        return [_at(row, path) for row in self]

    def values(self, name: str) -> list[float]:
        """Return the numbers of a column, leaving out what is not known; truth counts as 0 and 1.

        Raises:
            UsageError: There is no such column, or it holds something else than numbers.
        """
        return [value for value in self.numbers(name) if value is not None]

    def numbers(self, name: str) -> list[float | None]:
        """Return a column of numbers; None where a row has none, as `values` otherwise."""
        return [_number(name, value) for value in self.column(name)]

    def groups(self, *by: str) -> "dict[tuple[Any, ...], Rows]":
        """Part the rows by the values of columns, in the order in which these appear.

        Raises:
            UsageError: There is no such column.
        """
        columns = [self.column(name) for name in by]
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row, key in zip(self, zip(*columns, strict=True), strict=True):
            found.setdefault(tuple(map(_hashable, key)), []).append(row)
        return {key: Rows(rows) for key, rows in found.items()}

    def table(
        self,
        by: str | Sequence[str] = "policy",
        show: str | Sequence[str] = "score",
        against: Any = None,
        level: float = 0.95,
    ) -> Table:
        """Compare groups of rows with intervals.

        The seed is what is repeated: where a group has several rows of one seed, because other
        things vary in it, their mean counts once.

        Args:
            by: One or more columns; each combination of their values is a group.
            show: Columns of numbers: score, decisions, metrics.
            against: The group with which all others are compared, pair by pair: a value of one of
                the columns in `by`, or one of each.
            level: Of the intervals, above 0 and below 1.

        Raises:
            UsageError: There is no such column or group, or a column holds no numbers.
        """
        by, show = (tuple([one] if isinstance(one, str) else one) for one in (by, show))
        return table(self, by, show, _named("policy", against), level)

    def best(self, show: str = "score", by: str = "policy", alpha: float = 0.05) -> tuple[Any, ...]:
        """Return the groups that cannot be told from the best, the highest mean first.

        Only seeds that no group failed are compared. See `desim.stats.best`.

        Args:
            show: A column of numbers, higher is better.
            by: The column whose values compete.
            alpha: The probability of losing the truly best one, above 0 and below 1.

        Raises:
            UsageError: There is no such column, or no seed that all groups finished.
        """
        rivals = {key[0]: rows.by_seed(show, whole=True) for key, rows in self.groups(by).items()}
        return stats.best(rivals, alpha)

    def by_seed(self, name: str, *, whole: bool = False) -> dict[Hashable, float]:
        """Return the mean of a column for every seed that has one.

        Args:
            name: A column of numbers.
            whole: Leave out seeds for which it is not known in every row.
        """
        found: dict[int, list[float | None]] = {}
        for row, value in zip(self, self.numbers(name), strict=True):
            found.setdefault(row["seed"], []).append(value)
        means: dict[Hashable, float] = {}
        for seed, values in found.items():
            known = [v for v in values if v is not None]
            if known and not (whole and len(known) < len(values)):
                means[seed] = math.fsum(known) / len(known)
        return means

    def write(self, folder: str | Path) -> None:
        """Write rows.csv and rows.jsonl, each at once or not at all.

        Raises:
            UsageError: They cannot be written.
        """
        _replace(Path(folder) / "rows.jsonl", b"".join(_encode(row) + b"\n" for row in self))
        _replace(Path(folder) / "rows.csv", self._csv().encode())

    def path(self, name: str) -> tuple[str, ...]:
        """Find a column: the keys under which rows have it.

        Raises:
            UsageError: There is none, or a parameter and a metric share the name.
        """
        key, _, rest = name.partition(".")
        if name in _PLAIN:
            return (name,)
        if key in _NESTED and any(rest in row[key] for row in self):
            return (key, rest)
        found = [key for key in _NESTED if any(name in row[key] for row in self)]
        if len(found) > 1:
            raise UsageError(
                f"{name!r} is a parameter and a metric; write params.{name} or metrics.{name}"
            )
        if not found and all(row["error"] is not None for row in self):
            # Where all failed, nobody can know what they would have told.
            return ("metrics", name)
        if not found:
            raise UsageError(f"there is no column {name!r}; {possible(name, self._short_names())}")
        return (found[0], name)

    def _short_names(self) -> list[str]:
        return [name.removeprefix("params.").removeprefix("metrics.") for name in self.columns]

    def _csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = self.columns
        paths = [self.path(name) for name in names]
        writer.writerow(names)
        writer.writerows([_cell(_at(row, path)) for path in paths] for row in self)
        return out.getvalue()


def _unfinished(folder: Path) -> Rows:
    from desim.sweeps.journal import NAME, Journal

    if not (folder / NAME).exists():
        raise UsageError(f"{folder} holds no sweep: it has neither rows.jsonl nor {NAME}")
    with Journal(folder) as journal:
        return Rows.parsed(journal.rows())


def _at(row: Row, path: tuple[str, ...]) -> Any:
    return row[path[0]] if len(path) == 1 else row[path[0]].get(path[1])


def _named(column: str, value: Any) -> Any:
    """Name a policy as rows do, whether given as a spec or as a class."""
    if column == "policy" and isinstance(value, str | type):
        with contextlib.suppress(UsageError):
            return label(value)
    return value


def _number(name: str, value: Any) -> float | None:
    if value is None or isinstance(value, int | float):
        return None if value is None else float(value)
    raise UsageError(f"column {name!r} holds {value!r}, which is no number; group by it instead")


def _hashable(value: Any) -> Hashable:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool | list | dict) else value


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)
