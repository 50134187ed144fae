"""Rows: kept as compressed JSON; by column, their names and values, and groups of rows."""

import json
import math
import zlib
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
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

#: The keys that all rows of a cell share, and those that are kept of every row.
_OF_CELL = ("model", "preset", POINT, GIVEN, "params", "policy", "arguments")
_RESULTS = ("seed", "score", "ended", "decisions")
_KEPT = (*_RESULTS, "error", CLUSTER, FIXED, REVISION, RECORD, DEFAULTS, WORST_SCORE)

#: The prefixes of full names, and those that are left out where a name stays unique.
_PREFIXES, _LEFT_OUT = ("params.", "policy.", "metrics."), ("params.", "metrics.", "series.")

#: Rows of a block, which is compressed as a whole, and the fastest level of zlib: enough for rows
#: that repeat their keys.
_BLOCK, _LEVEL = 256, 1

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Row).decode


class PackedRows:
    """Rows as JSON without line breaks, in blocks; a row is decoded whenever it is accessed."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._blocks: list[bytes] = []
        self._count = 0
        left = iter(lines)
        while block := list(islice(left, _BLOCK)):
            self._blocks.append(zlib.compress(b"\n".join(block), _LEVEL))
            self._count += len(block)
        # The block that was read last, as rows are usually accessed in order.
        self._open: tuple[int, list[bytes]] = (-1, [])

    def __getitem__(self, index: int) -> Row:
        block, within = divmod(index, _BLOCK)
        if self._open[0] != block:
            self._open = block, self._lines(block)
        return _decode(self._open[1][within])

    def __iter__(self) -> Iterator[Row]:
        return map(_decode, chain.from_iterable(map(self._lines, range(len(self._blocks)))))

    def __len__(self) -> int:
        return self._count

    def _lines(self, block: int) -> list[bytes]:
        return zlib.decompress(self._blocks[block]).split(b"\n")


class Gathered:
    """The findings of one pass over rows.

    Attributes:
        cells: Of each cell the keys that its rows share, in the order of their first rows.
        cell: The index of the cell of each row.
        has_items: Whether a row has parts of its score by item.
        paths: By the full name of each column where a row has its value.
        known: The values of some columns.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.cells: list[Row] = []
        self.cell = array("L")
        self.has_items = False
        self.known: dict[Path, list[Any]] = {(key,): [] for key in _KEPT}
        metrics: dict[str, None] = {}
        indices: dict[tuple[Any, ...], int] = {}
        for row in rows:
            texts = _encode([row["params"], row.get("arguments")])
            head = (*(row.get(key) for key in ("model", "preset", POINT, GIVEN, "policy")), texts)
            index = indices.setdefault(head, len(indices))
            if index == len(self.cells):
                self.cells.append({key: row[key] for key in _OF_CELL if key in row})
            self.cell.append(index)
            if not row["metrics"].keys() <= metrics.keys():
                metrics |= dict.fromkeys(row["metrics"])
            self.has_items = self.has_items or ITEMS in row
            for (key,), values in self.known.items():
                values.append(row.get(key))
        self.paths = self._paths(metrics)

    def _paths(self, metrics: Iterable[str]) -> dict[str, Path]:
        design = [key for key in (POINT, GIVEN) if any(key in one for one in self.cells)]
        paths: dict[str, Path] = {key: (key,) for key in ("model", "preset", *design)}
        paths |= {
            f"params.{name}": ("params", name) for one in self.cells for name in one["params"]
        }
        paths["policy"] = ("policy",)
        arguments = (name for one in self.cells for name in one.get("arguments", ()))
        paths |= {f"policy.{name}": ("arguments", name) for name in arguments}
        paths |= {key: (key,) for key in _RESULTS}
        paths |= {f"metrics.{name}": ("metrics", name) for name in metrics}
        # Sweeps that record, and those with language models, have a further column.
        more = [
            key for key in (RECORD, DEFAULTS) if self.known[(key,)].count(None) < len(self.cell)
        ]
        return paths | {key: (key,) for key in ("ledger_digest", "error", *more)}


class RowColumns(Sequence[Row]):
    """Rows, one for each episode, by column."""

    @cached_property
    def gathered(self) -> Gathered:
        """The columns of rows, which are read once."""
        return Gathered(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, as in data frames, rows.csv and tables.

        A parameter and a metric have no prefix (`horizon`), unless two columns would share a name
        (`params.horizon`). Names with their prefix may be given everywhere.
        """
        return tuple(shortened(self.gathered.paths))

    @property
    def varying(self) -> tuple[str, ...]:
        """The columns of models and parameters that have several values, as tables name them."""
        found = []
        for name, path in self.gathered.paths.items():
            values = self._of_cells(path) if path[0] in ("model", "preset", "params") else ()
            if len({*map(repr, values)}) > 1:
                short = name.removeprefix("params.")
                found.append(name if len(self._full(short)) > 1 else short)
        return tuple(found)

    def _of_cells(self, path: Path) -> list[Any]:
        return [value_at(one, path) for one in self.gathered.cells]

    def _full(self, name: str) -> list[str]:
        return [full for prefix in _PREFIXES if (full := prefix + name) in self.gathered.paths]

    def find(self, name: str) -> Path:
        """Return the path of a column; several that share the name are refused."""
        paths = self.gathered.paths
        if name in paths:
            return paths[name]
        found = self._full(name)
        if len(found) > 1:
            raise UsageError(f"{name!r} may be {' or '.join(found)}; write one of these")
        if found:
            return paths[found[0]]
        if None not in self.column("error"):
            return ("metrics", name)  # failed rows have no metrics, so any name may be one
        names = [one.removeprefix("params.").removeprefix("metrics.") for one in paths]
        raise UsageError(f"there is no column {name!r}; {possible(name, names)}")

    def column(self, name: str) -> list[Any]:
        """Return the values of a column; None for a row without a value."""
        known = self.gathered.known
        path = (name,) if (name,) in known else self.find(name)
        if path not in known:
            if path[0] in _OF_CELL:
                values = self._of_cells(path)
                known[path] = [values[cell] for cell in self.gathered.cell]
            else:
                known[path] = [value_at(row, path) for row in self]
        return known[path]

    def numbers(self, name: str) -> list[float | None]:
        """Return a column of numbers, truth values as 0 and 1; None for a missing value.

        NaN and infinity, which JSON lacks, are missing as well; values of other kinds are refused.
        """
        return [_number(name, value) for value in self.column(name)]

    def values(self, name: str) -> list[float]:
        """Return the known numbers of a column; see `numbers`."""
        return [value for value in self.numbers(name) if value is not None]

    def counted(self, name: str) -> list[float | None]:
        """Return `numbers`; a failed episode has the worst score, if its model declares one."""
        found = self.numbers(name)
        if name != "score":
            return found
        each = zip(found, self.column("error"), self.column(WORST_SCORE), strict=True)
        return [score if error is None else worst for score, error, worst in each]

    def by_seed(self, name: str) -> Mapping[Hashable, float]:
        """Return the mean of the known numbers of a column by seed; see `numbers`."""
        return means_by_seed(self.column("seed"), self.numbers(name))

    def places(self, by: Sequence[str]) -> dict[Key, list[int]]:
        """Group the indices of rows by the values of columns, in the order of their first rows."""
        groups: dict[Key, list[int]] = {}
        columns = [map(plain_value, self.column(name)) for name in by]
        for place, key in enumerate(zip(*columns, strict=True)):
            groups.setdefault(key, []).append(place)
        return groups


def shortened(paths: Mapping[str, Path]) -> dict[str, Path]:
    """Return the paths of columns by names without a prefix, unless two would share a name."""
    short = {name: name for name in paths}
    for prefix in _LEFT_OUT:
        short = {name: one.removeprefix(prefix) for name, one in short.items()}
    count = Counter(short.values())
    return {one if count[one] == 1 else name: paths[name] for name, one in short.items()}


def value_at(row: Row, path: Path) -> Any:
    """Return the value of a column; None if the row has no such parameter or metric."""
    return row.get(path[0]) if len(path) == 1 else row.get(path[0], {}).get(path[1])


def plain_value(value: Any) -> Any:
    """Return a value as data frames hold it: lists and objects as JSON."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def means_by_seed(
    seeds: Iterable[Hashable], values: Iterable[float | None]
) -> dict[Hashable, float]:
    """Return the mean of the known values of each seed; a seed without one is left out."""
    pairs = [(seed, value) for seed, value in zip(seeds, values, strict=True) if value is not None]
    if len(single := dict(pairs)) == len(pairs):  # the usual case, and ten times as fast
        return {seed: value + 0.0 for seed, value in single.items()}
    by_seed: dict[Hashable, list[float]] = {}
    for seed, value in pairs:
        by_seed.setdefault(seed, []).append(value)
    return {seed: mean(each) for seed, each in by_seed.items()}


def mean(values: Sequence[float]) -> float:
    """Return the mean; it does not depend on the order of the values."""
    return math.fsum(values) / len(values)


def _number(name: str, value: Any) -> float | None:
    if value is None or isinstance(value, int | float):
        return None if value is None or not math.isfinite(value) else float(value)
    raise UsageError(
        f"column {name!r} holds {short_repr(value)}, which is no number; group by it instead"
    )
