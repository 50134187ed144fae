"""The rows of a sweep, one for each episode: filtered, compared, read and written."""

import codecs
import contextlib
import operator
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import msgspec
from attrs import evolve

from desim.catalog.policy_spec import label
from desim.engine.plan import Row
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.rows.columns import PackedRows, RowColumns, shortened, value_at
from desim.rows.compare import ComparisonTable, best_groups, compare
from desim.rows.row_frames import frame_columns, series_by_group
from desim.show import frames
from desim.show.files import open_regular, write_whole
from desim.show.table import Table, csv_lines
from desim.statistics.intervals import checked_level

if TYPE_CHECKING:  # `import desim` must not load numpy
    import pandas as pd
    import polars as pl
    from numpy import float64
    from numpy.typing import NDArray


#: Bytes around a row: its line end, and the byte order mark of a copy that an editor has made.
_AROUND = codecs.BOM_UTF8 + b"\r\n"

#: Groups of rows that notebooks show.
_SHOWN = 50

_encode = msgspec.json.Encoder().encode


class _Line(msgspec.Struct):
    """The keys that a row must have to be filtered, grouped and compared."""

    model: str
    preset: str
    params: dict[str, Any]
    policy: str
    seed: int
    score: float | None
    ended: str | None
    decisions: int | None
    metrics: dict[str, Any]
    ledger_digest: str | None
    error: str | None
    arguments: dict[str, Any] = {}  # rows of older versions have none


_check = msgspec.json.Decoder(_Line).decode


class Rows(RowColumns):
    """The rows of a sweep, in the order of its jobs.

    A row is a mapping: model, preset, params, policy, arguments, seed, score, ended, decisions,
    metrics, ledger_digest, error. Columns are named by these keys, and by the names of parameters,
    arguments of policies and metrics; where two share a name, write `params.`, `policy.` or
    `metrics.` before it. The argument `target` of the policy at the seat `retailer` is
    `policy.retailer.target`, and `policy.target` where all seats that have one have the same. A
    name of no column, or of several, is a `UsageError` in all methods. A sweep with `series=True`
    adds the keys series and series_columns (unit, label, role and period of those that the model
    declares), which are not columns: see `series`. Nor are the keys that intervals rest on:
    cluster, where seeds share cases, items, by item the part of the score and whether it was right,
    and deterministic, where one seed stands for all.

    The rows of a sweep are kept compressed, so that a large one fits into memory, and are decoded
    on access: changing one has no effect on the others or on tables.

    Args:
        rows: One for each episode.
        better: Which values of metrics are better, "higher" or "lower", for `best`; a sweep states
            those that its models declare.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        better: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._rows = rows if isinstance(rows, PackedRows) else PackedRows(map(_encode, rows))
        self._places: Sequence[int] = range(len(self._rows))
        self.better: Mapping[str, str] = dict(better)

    @classmethod
    def parsed(cls, lines: Iterable[bytes]) -> "Rows":
        """Return the rows that JSON lines hold."""
        return cls(PackedRows(lines))

    @classmethod
    def read(cls, path: str | Path) -> "Rows":
        """Read the rows that a sweep has written.

        Args:
            path: The folder of a sweep, finished or not, or its rows.jsonl.

        Raises:
            UsageError: The path holds no sweep, or another process is writing it.
            BadRecord: A line is not a row.
        """
        from desim.engine.store import FILE_NAME, Store

        file = Path(path)
        if file.is_dir():
            names = [name for name in ("rows.jsonl", FILE_NAME) if (file / name).exists()]
            if not names:
                raise UsageError(
                    f"{file} holds no sweep: it has neither rows.jsonl nor {FILE_NAME}"
                )
            file = file / names[0]
        try:
            if file.name == FILE_NAME:
                with Store(file.parent, read=True) as store:
                    return cls.parsed(map(_checked, store.rows()))
            with open_regular(file) as lines:
                return cls.parsed(_checked(line.strip(_AROUND)) for line in lines)
        except OSError as fault:
            raise UsageError(f"cannot read {file}: {fault.strerror}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise BadRecord(f"{file} is not as a sweep wrote it: {fault}") from None

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> "Rows": ...

    def __getitem__(self, index: int | slice) -> "Row | Rows":
        if isinstance(index, slice):
            return self._at(range(len(self))[index])
        return self._rows[self._places[index]]

    def __iter__(self) -> Iterator[Row]:
        if isinstance(self._places, range) and len(self._places) == len(self._rows):
            return iter(self._rows)
        return map(self._rows.__getitem__, self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return len(self) == len(other) and all(map(operator.eq, self, other))

    def __add__(self, other: "Rows") -> "Rows":
        """Return the rows of both, those of *other* behind."""
        if not isinstance(other, Rows):
            return NotImplemented
        same = self.better.items() & other.better.items()
        return Rows([*self, *other], dict(same))

    __hash__ = None  # type: ignore[assignment]  # rows are plain dicts, which may be changed

    def __repr__(self) -> str:
        return f"<Rows of {len(self)} episodes, {len(self.failed)} of which failed>"

    def _repr_html_(self) -> str:
        """Return the mean scores by policy and by what varies, for notebooks."""
        title = f"{len(self):,} episodes, {len(self.failed):,} of which failed"
        if not self:
            return Table((), (), title=title).html()
        (table,) = self.table([*self.varying, "policy"]).tables()
        more = f"the first {_SHOWN} of {len(table.lines):,} groups are shown"
        notes = [*([more] if len(table.lines) > _SHOWN else []), *table.notes]
        return evolve(table, title=title, lines=table.lines[:_SHOWN], notes=notes)._repr_html_()

    @property
    def failed(self) -> "Rows":
        """The rows with an error."""
        errors = self.column("error")
        return self._at(place for place, error in enumerate(errors) if error is not None)

    def where(self, **equal: Any) -> "Rows":
        """Return the rows whose columns have these values.

        Args:
            equal: A value by column; a policy may be given as a spec or a class.
        """
        places: Iterable[int] = range(len(self))
        for name, given in equal.items():
            value = policy_label(given) if name == "policy" else given
            values = self.column(name)
            places = [place for place in places if values[place] == value]
        return self._at(places)

    def groups(self, *by: str) -> "dict[tuple[Any, ...], Rows]":
        """Group the rows by the values of columns; groups are in the order of their first rows."""
        return {key: self._at(places) for key, places in self.places(by).items()}

    def series(
        self, name: str, by: str | Sequence[str] = "policy"
    ) -> "dict[Any, NDArray[float64]]":
        """Return a series by group, one row of the array an episode and one column a period.

        A value is NaN if the model reports none, after the end of an episode that is shorter
        than the longest of its group, and in every period of an episode that failed.

        Args:
            name: The name of a series; the sweep was played with `series=True`.
            by: One column or several; the keys are its values, or tuples of their values. Groups
                are in the order of their first rows, and episodes in the order of the rows.

        Raises:
            UsageError: The series does not exist.
        """
        columns_by = (by,) if isinstance(by, str) else tuple(by)
        found = series_by_group(self, name, columns_by)
        return {key[0]: one for key, one in found.items()} if isinstance(by, str) else found

    def table(
        self,
        by: str | Sequence[str] = "policy",
        show: str | Sequence[str] = "score",
        against: Any = None,
        level: float = 0.95,
    ) -> ComparisonTable:
        """Compare groups of rows: means with intervals, and paired differences to a reference.

        Replications are seeds: if a group has several rows of one seed, because parameters vary
        within the group, their mean counts as one value.

        Args:
            by: One or more columns; each combination of their values is a group.
            show: Columns of numbers: score, decisions, metrics.
            against: The reference group, a value of a column in *by* or one of each; None compares
                nothing. Pairs share the seed and everything else that does not make the group.
            level: The level of the intervals, above 0 and below 1.

        Raises:
            UsageError: The group does not exist, or a column holds no numbers.
        """
        by, show = (tuple([one] if isinstance(one, str) else one) for one in (by, show))
        return compare(self, by, show, policy_label(against), level)

    def best(
        self, show: str = "score", by: str = "policy", alpha: float = 0.05, minimise: str = ""
    ) -> tuple[Any, ...]:
        """Return the groups that may be the best, the best mean first.

        The best is among them with probability 1 - *alpha* (`RankedMean.may_be_best`). A group with
        failed episodes is left out, as it has no mean; a failed episode counts if the model
        declares a worst score.

        Args:
            show: The score, or a metric of which the model declares which values are better.
            by: The column whose values are compared.
            alpha: The probability of dropping the truly best group, above 0 and below 1.
            minimise: A column of numbers, lower is better, instead of *show*.

        Raises:
            UsageError: Nothing says which values are better, every group has failed episodes, the
                groups share no seed, or an episode that has not failed has no number.
        """
        checked_level(1 - alpha)
        figure = minimise or show
        better = "lower" if minimise else self.better.get(figure.removeprefix("metrics."))
        if not better and figure != "score":
            raise UsageError(
                f"nothing says whether a higher or a lower {figure} is better; give "
                f"minimise={figure!r}, or rows that `sweep` returned for a world whose "
                "figures say it"
            )
        return best_groups(self, figure, by, alpha, -1 if better == "lower" else 1)

    def to_pandas(self, *, series: bool = False) -> "pd.DataFrame":
        """Return a data frame of pandas, one line an episode.

        Columns have the names that `table` takes: parameters and metrics without a prefix, unless
        two would share a name, and arguments of policies as `policy.NAME`. Lists are JSON texts.

        Args:
            series: One line an episode and period instead: the keys of an episode (model,
                preset, parameters, policy and its arguments, seed), the `period` from 1, and a
                column for each series, NaN for a missing value. Failed episodes have no line.

        Raises:
            UsageError: pandas is not installed, or *series* are wanted and the rows hold none.
        """
        return frames.pandas_frame(frame_columns(self, series=series))

    def to_polars(self, *, series: bool = False) -> "pl.DataFrame":
        """Return a data frame of polars as `to_pandas` does; a missing value is null."""
        return frames.polars_frame(frame_columns(self, series=series))

    def write(self, folder: str | Path) -> None:
        """Write rows.csv and rows.jsonl, each completely or not at all."""
        write_whole(Path(folder) / "rows.jsonl", (_encode(row) + b"\n" for row in self))
        write_whole(Path(folder) / "rows.csv", self._csv())

    def _at(self, places: Iterable[int]) -> "Rows":
        """Return the rows at some indices, none of them negative."""
        found = Rows((), self.better)
        found._rows, found._places = self._rows, array("L", map(self._places.__getitem__, places))
        return found

    def _csv(self) -> Iterator[bytes]:
        """Yield the lines of rows.csv."""
        named = shortened(self.gathered.paths)
        lines = ([value_at(row, at) for at in named.values()] for row in self)
        return csv_lines(tuple(named), lines)


def policy_label(value: Any) -> Any:
    """Return the label that rows have for a policy; other values unchanged."""
    if isinstance(value, str) or callable(value) or hasattr(value, "decide"):
        with contextlib.suppress(UsageError):
            return label(value)
    return value


def _checked(line: bytes) -> bytes:
    """Return a line if it is a row; it is decoded for good only on access."""
    _check(line)
    return line


#: The beginning of the JSON lines of a sweep and of a record, and of a file compressed with gzip.
_ROW, _RECORD, _GZIP = b'{"model":', b'{"line":"header"', b"\x1f\x8b"


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
    if not place.is_dir():
        try:
            with open_regular(place) as file:
                start = file.read(len(codecs.BOM_UTF8 + _RECORD)).removeprefix(codecs.BOM_UTF8)
        except OSError as fault:
            raise UsageError(f"cannot read {place}: {fault.strerror}") from None
        if start.startswith((_RECORD, _GZIP)):
            return Episode.read(place)
        if not start.startswith(_ROW):
            raise UsageError(f"{place} is neither the rows of a sweep nor a record of desim")
    return Rows.read(place)
