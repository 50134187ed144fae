"""The columns of rows: names, values and groups of rows, gathered in one pass over them."""

import json
import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from desim.engine.plan import (
    CLUSTER,
    DEFAULTS,
    FIXED,
    GIVEN,
    ITEMS,
    POINT,
    RECORD,
    REVISION,
    WORST_SCORE,
    Row,
)
from desim.errors import UsageError, possible
from desim.short_repr import short_repr

#: The keys of a column in a row: one, or `params`, `arguments` or `metrics` and a name.
Path = tuple[str, ...]

#: The values of the columns that make a group.
Key = tuple[Any, ...]

_FIRST, _MIDDLE, _LAST = (
    ("model", "preset"),
    ("seed", "score", "ended", "decisions"),
    ("ledger_digest", "error"),
)

#: Keys that are columns only in the rows of a design, and of sweeps that record their episodes or
#: have language models.
_OF_DESIGN, _OF_SOME = (POINT, GIVEN), (RECORD, DEFAULTS)

#: The keys of rows that hold several columns, by the prefix of their full names.
_NESTED = {"params": "params", "policy": "arguments", "metrics": "metrics"}

#: The keys that all rows of a cell share, and those that are kept of every row.
_OF_CELL = ("model", "preset", *_OF_DESIGN, "params", "policy", "arguments")
_KEPT = ("seed", "score", "ended", "decisions", "error", CLUSTER, FIXED, DEFAULTS, WORST_SCORE)

#: Prefixes that are left out of names that remain unique without them.
_SHORTENED = ("params.", "metrics.", "series.")

_encode = msgspec.json.Encoder().encode


class RowColumns:
    """The columns of rows.

    Attributes:
        rows: The rows.
        cells: Of each cell the keys that its rows share: model, preset, parameters, policy,
            arguments. Cells are in the order of their first rows.
        cell: The index of the cell of each row.
        revisions: The revisions of each world, as texts.
        has_items: Whether each row has parts of its score by item.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.cells: list[Row] = []
        self.cell = array("L")
        self.revisions: dict[str, dict[str, None]] = {}
        self.has_items: list[bool] = []
        self._metrics: dict[str, None] = {}
        self._some: set[str] = set()
        self._known: dict[Path, list[Any]] = {(key,): [] for key in _KEPT}
        self._gather()

    def _gather(self) -> None:
        indices: dict[tuple[Any, ...], int] = {}
        revised: set[tuple[int, str]] = set()
        for row in self.rows:
            texts = _encode([row["params"], row.get("arguments")])
            head = (*(row.get(key) for key in ("model", "preset", POINT, GIVEN, "policy")), texts)
            index = indices.setdefault(head, len(indices))
            if index == len(self.cells):
                self.cells.append({key: row[key] for key in _OF_CELL if key in row})
            self.cell.append(index)
            # A world of parts has a mapping of revisions.
            if (revision := (index, str(row.get(REVISION)))) not in revised:
                revised.add(revision)
                self.revisions.setdefault(row["model"], {})[revision[1]] = None
            if not row["metrics"].keys() <= self._metrics.keys():
                self._metrics.update(dict.fromkeys(row["metrics"]))
            self.has_items.append(ITEMS in row)
            self._some.update(key for key in _OF_SOME if key in row)
            for (key,), values in self._known.items():
                values.append(row.get(key))

    # -- names -------------------------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Return the full names of all columns, in their order."""
        design = [key for key in _OF_DESIGN if any(key in one for one in self.cells)]
        params, arguments, metrics = (
            [f"{prefix}.{name}" for name in self._inside(prefix)] for prefix in _NESTED
        )
        some = [key for key in _OF_SOME if key in self._some]
        head = (*_FIRST, *design, *params, "policy", *arguments)
        return (*head, *_MIDDLE, *metrics, *_LAST, *some)

    def named_paths(self) -> dict[str, Path]:
        """Return by column, under its short name, where a row has its value."""
        full = self.names()
        return dict(zip(short_names(full), paths(full), strict=True))

    def _inside(self, prefix: str) -> Mapping[str, None]:
        """Return the names of parameters, arguments or metrics."""
        if prefix == "metrics":
            return self._metrics
        each = (one.get(_NESTED[prefix], ()) for one in self.cells)
        return dict.fromkeys(name for names in each for name in names)

    def varying(self) -> tuple[str, ...]:
        """Return the columns that have several values: model, preset and parameters.

        Parameters have no prefix, unless an argument of a policy or a metric has the same name.
        """
        taken = {*self._inside("policy"), *self._metrics}
        found = []
        for name in (*_FIRST, *(f"params.{one}" for one in self._inside("params"))):
            (path,) = paths([name])
            if len({repr(value_at(one, path)) for one in self.cells}) > 1:
                short = name.removeprefix("params.")
                found.append(name if short in taken else short)
        return tuple(found)

    def find(self, name: str) -> Path:
        """Return the path of a column.

        Raises:
            UsageError: The column does not exist, or a parameter, an argument of a policy or a
                metric share the name.
        """
        known = self.names()
        if name in known:
            return paths([name])[0]
        found = [full for prefix in _NESTED if (full := f"{prefix}.{name}") in known]
        if len(found) > 1:
            raise UsageError(f"{name!r} may be {' or '.join(found)}; write one of these")
        if found:
            return paths(found)[0]
        if None not in self.column("error"):
            return ("metrics", name)  # failed rows have no metrics, so any name may be one
        names = [one.removeprefix("params.").removeprefix("metrics.") for one in known]
        raise UsageError(f"there is no column {name!r}; {possible(name, names)}")

    # -- values ------------------------------------------------------------------------------------

    def column(self, name: str) -> list[Any]:
        """Return the values of a column; None for a row without a value.

        Raises:
            UsageError: The column does not exist.
        """
        kept = self._known.get((name,))
        return self.at(self.find(name)) if kept is None else kept

    def at(self, path: Path) -> list[Any]:
        """Return the values at a path, which are read once."""
        if path not in self._known:
            if path[0] in _OF_CELL:
                values = [value_at(one, path) for one in self.cells]
                self._known[path] = [values[cell] for cell in self.cell]
            else:
                self._known[path] = [value_at(row, path) for row in self.rows]
        return self._known[path]

    def numbers(self, name: str) -> list[float | None]:
        """Return a column of numbers, truth values as 0 and 1; None for a row without a number.

        NaN and infinity, which JSON lacks, are None as well.

        Raises:
            UsageError: The column does not exist, or holds other values than numbers.
        """
        return [_number(name, value) for value in self.column(name)]

    def counted(self, name: str) -> list[float | None]:
        """Return a column of numbers; a failed episode has the worst score, if its model has one.

        Raises:
            UsageError: See `numbers`.
        """
        found = self.numbers(name)
        if name == "score":
            worst = self.column_of_key(WORST_SCORE)
            for place, error in enumerate(self.column("error")):
                if error is not None:
                    found[place] = worst[place]
        return found

    def column_of_key(self, key: str) -> list[Any]:
        """Return the values of a key of rows that is no column, such as the cluster of the seed."""
        return self._known[key,]

    def holds_truth_values(self, name: str) -> bool:
        """Return whether a column has known values and all of them are truth values."""
        known = [value for value in self.column(name) if value is not None]
        return bool(known) and all(isinstance(value, bool) for value in known)

    def places(self, by: Sequence[str]) -> dict[Key, list[int]]:
        """Group the indices of rows by the values of columns, in the order of their first rows.

        Raises:
            UsageError: The column does not exist.
        """
        groups: dict[Key, list[int]] = {}
        for place, key in enumerate(zip(*map(self._hashable, by), strict=True)):
            groups.setdefault(key, []).append(place)
        return groups

    def _hashable(self, name: str) -> list[Any]:
        path = self.find(name)
        return [json.dumps(v) if isinstance(v, list | dict) else v for v in self.at(path)]


def paths(names: Iterable[str]) -> list[Path]:
    """Return the paths of columns by their full names, as `RowColumns.names` returns them."""
    split = [name.partition(".") for name in names]
    return [(_NESTED[prefix], rest) if rest else (prefix,) for prefix, _, rest in split]


def short_names(full: Sequence[str]) -> list[str]:
    """Return the names of columns without a prefix, unless two would share a name."""
    short = [_short(name) for name in full]
    count = Counter(short)
    return [one if count[one] == 1 else name for one, name in zip(short, full, strict=True)]


def _short(name: str) -> str:
    for prefix in _SHORTENED:
        name = name.removeprefix(prefix)
    return name


def value_at(row: Row, path: Path) -> Any:
    """Return the value of a column; None if the row has no such parameter or metric."""
    return row.get(path[0]) if len(path) == 1 else row.get(path[0], {}).get(path[1])


def plain_value(value: Any) -> Any:
    """Return a value as data frames hold it: lists and objects as JSON."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def means_by_seed(
    seeds: Iterable[Hashable], values: Iterable[float | None], *, complete: bool
) -> dict[Any, float]:
    """Return the mean of values by their seeds, in the order of the first of each.

    Args:
        seeds: The seed of each value.
        values: None for a missing one.
        complete: Leave out seeds with any missing value; otherwise those without a value.
    """
    pairs = list(zip(seeds, values, strict=True))
    if len(single := dict(pairs)) == len(pairs):  # the usual case, and ten times as fast
        return {seed: value + 0.0 for seed, value in single.items() if value is not None}
    by_seed: dict[Hashable, list[float | None]] = {}
    for seed, value in pairs:
        by_seed.setdefault(seed, []).append(value)
    means = {}
    for seed, each in by_seed.items():
        known = [value for value in each if value is not None]
        if known and not (complete and len(known) < len(each)):
            means[seed] = mean(known)
    return means


def mean(values: Sequence[float]) -> float:
    """Return the mean; it does not depend on the order of the values."""
    return math.fsum(values) / len(values)


def _number(name: str, value: Any) -> float | None:
    if value is None or isinstance(value, int | float):
        return None if value is None or not math.isfinite(value) else float(value)
    raise UsageError(
        f"column {name!r} holds {short_repr(value)}, which is no number; group by it instead"
    )
