"""Rows of a sweep by column: the values of a column, rows grouped by columns, means by seed.

Also the names and values of columns in data frames and in Parquet files.
"""

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from desim.engine.plan import DEFAULTS, GIVEN, POINT, RECORD, Row
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


_PLAIN = (*_FIRST, "policy", *_MIDDLE, *_LAST)


#: Keys that are columns only in the rows of a design, and of sweeps that record their episodes or
#: have language models.
_OF_DESIGN, _OF_SOME = (POINT, GIVEN), (RECORD, DEFAULTS)


#: The keys of rows that hold several columns, by the prefix of their full names.
_NESTED = {"params": "params", "policy": "arguments", "metrics": "metrics"}


def column_names(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the full names of all columns, in their order."""
    names: dict[str, dict[str, None]] = {prefix: {} for prefix in _NESTED}
    some: dict[str, None] = {}
    for row in rows:
        for prefix, key in _NESTED.items():
            names[prefix].update(dict.fromkeys(row.get(key, ())))
        some.update(dict.fromkeys(key for key in (*_OF_DESIGN, *_OF_SOME) if key in row))
    params, arguments, metrics = (
        tuple(f"{prefix}.{name}" for name in found) for prefix, found in names.items()
    )
    design, records = ([key for key in keys if key in some] for keys in (_OF_DESIGN, _OF_SOME))
    return (*_FIRST, *design, *params, "policy", *arguments, *_MIDDLE, *metrics, *_LAST, *records)


def varying(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the columns that have several values: model, preset and parameters.

    Parameters have no prefix, unless an argument of a policy or a metric has the same name.
    """
    all_names = column_names(rows)
    names = [n for n in all_names if n in _FIRST or n.startswith("params.")]
    several = [n for n in names if len(set(map(repr, column(rows, n)))) > 1]
    taken = {n.partition(".")[2] for n in all_names if n.startswith(("policy.", "metrics."))}
    short = [name.removeprefix("params.") for name in several]
    return tuple(name if one in taken else one for one, name in zip(short, several, strict=True))


def find(rows: Sequence[Row], name: str) -> Path:
    """Return the path of a column.

    Raises:
        UsageError: The column does not exist, or a parameter, an argument of a policy or a metric
            share the name.
    """
    prefix, _, rest = name.partition(".")
    of_some = name in (*_OF_DESIGN, *_OF_SOME) and any(name in row for row in rows)
    if name in _PLAIN or of_some:
        return (name,)
    if prefix in _NESTED and any(rest in row.get(_NESTED[prefix], ()) for row in rows):
        return (_NESTED[prefix], rest)
    found = [
        prefix for prefix, key in _NESTED.items() if any(name in row.get(key, ()) for row in rows)
    ]
    if len(found) > 1:
        full = [f"{prefix}.{name}" for prefix in found]
        raise UsageError(f"{name!r} may be {' or '.join(full)}; write one of these")
    if not found and all(row["error"] is not None for row in rows):
        # Failed rows have no metrics, so any name may be one.
        return ("metrics", name)
    if not found:
        known = [n.removeprefix("params.").removeprefix("metrics.") for n in column_names(rows)]
        raise UsageError(f"there is no column {name!r}; {possible(name, known)}")
    return (_NESTED[found[0]], name)


def paths(names: Iterable[str]) -> list[Path]:
    """Return the paths of columns by their full names, as `column_names` returns them."""
    split = [name.partition(".") for name in names]
    return [(_NESTED[prefix], rest) if rest else (prefix,) for prefix, _, rest in split]


def value_at(row: Row, path: Path) -> Any:
    """Return the value of a column; None if the row has no such parameter or metric."""
    return row.get(path[0]) if len(path) == 1 else row.get(path[0], {}).get(path[1])


def column(rows: Sequence[Row], name: str) -> list[Any]:
    """Return the values of a column; None for a row without a value.

    Raises:
        UsageError: The column does not exist.
    """
    path = find(rows, name)
    return [value_at(row, path) for row in rows]


def numbers(rows: Sequence[Row], name: str) -> list[float | None]:
    """Return a column of numbers, truth values as 0 and 1; None for a row without a number.

    NaN and infinity, which JSON lacks, are None as well.

    Raises:
        UsageError: The column does not exist, or holds other values than numbers.
    """
    return [_number(name, value) for value in column(rows, name)]


def holds_truth_values(rows: Sequence[Row], name: str) -> bool:
    """Return whether a column has known values and all of them are truth values.

    Raises:
        UsageError: The column does not exist.
    """
    known = [value for value in column(rows, name) if value is not None]
    return bool(known) and all(isinstance(value, bool) for value in known)


def places(rows: Sequence[Row], by: Sequence[str]) -> dict[Key, list[int]]:
    """Group the indices of rows by the values of columns, in the order of their first rows.

    Raises:
        UsageError: The column does not exist.
    """
    groups: dict[Key, list[int]] = {}
    for place, key in enumerate(_keys(rows, by)):
        groups.setdefault(key, []).append(place)
    return groups


def _keys(rows: Sequence[Row], by: Sequence[str]) -> Iterator[Key]:
    columns = [column(rows, name) for name in by]
    return (tuple(map(_hashable, key)) for key in zip(*columns, strict=True))


def seed_means(rows: Sequence[Row], name: str, *, complete: bool) -> Mapping[Hashable, float]:
    """Return the mean of a column by seed.

    Args:
        rows: Rows with any number of rows for each seed.
        name: A column of numbers.
        complete: Leave out seeds with any row without a value; otherwise seeds without any value.

    Raises:
        UsageError: See `numbers`.
    """
    return means_by_seed(column(rows, "seed"), numbers(rows, name), complete=complete)


def means_by_seed(
    seeds: Iterable[Hashable], values: Iterable[float | None], *, complete: bool
) -> Mapping[Hashable, float]:
    """Return the mean of values by their seeds; see `seed_means`."""
    by_seed: dict[Hashable, list[float | None]] = {}
    for seed, value in zip(seeds, values, strict=True):
        by_seed.setdefault(seed, []).append(value)
    means = {}
    for seed, each in by_seed.items():
        known = [v for v in each if v is not None]
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


def _hashable(value: Any) -> Hashable:
    return json.dumps(value) if isinstance(value, list | dict) else value


#: Prefixes that are left out of names that remain unique without them.
_SHORTENED = ("params.", "metrics.", "series.")


def short_names(full: Sequence[str]) -> list[str]:
    """Return the names of columns without a prefix, unless two would share a name."""
    short = [_short(name) for name in full]
    count = Counter(short)
    return [one if count[one] == 1 else name for one, name in zip(short, full, strict=True)]


def named_paths(rows: Sequence[Row]) -> dict[str, Path]:
    """Return by column, under its short name, where a row has its value."""
    full = column_names(rows)
    return dict(zip(short_names(full), paths(full), strict=True))


def plain_value(row: Row, path: Path) -> Any:
    """Return the value of a column, lists and objects as JSON; None if the row has no value."""
    value = value_at(row, path)
    return json.dumps(value) if isinstance(value, list | dict) else value


def _short(name: str) -> str:
    for prefix in _SHORTENED:
        name = name.removeprefix(prefix)
    return name
