"""Rows as data frames of pandas and polars, and as Parquet files."""

import contextlib
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from desim.errors import UsageError
from desim.sweeps import columns
from desim.sweeps.jobs import Row
from desim.whole_file import write_whole

if TYPE_CHECKING:  # neither is needed but by those who ask for it
    import pandas as pd
    import polars as pl

__all__ = ["to_pandas", "to_polars", "write_parquet"]

#: Bytes of a file that are copied at once.
_BLOCK = 1 << 20

#: Prefixes that names have only where they would not be clear without.
_SHORTENED = ("params.", "metrics.")


def to_pandas(rows: Sequence[Row]) -> "pd.DataFrame":
    """Return a data frame of pandas; see `Rows.to_pandas`."""
    try:
        import pandas as pd
    except ImportError:
        raise UsageError("pandas is not installed; install it, as in: pip install pandas") from None
    return pd.DataFrame(_columns(rows))


def to_polars(rows: Sequence[Row]) -> "pl.DataFrame":
    """Return a data frame of polars; see `Rows.to_polars`."""
    try:
        import polars as pl
    except ImportError:
        raise UsageError("polars is not installed; install it, as in: pip install polars") from None
    return pl.DataFrame(_columns(rows), strict=False, infer_schema_length=None)


def write_parquet(rows: Sequence[Row], path: str | Path) -> None:
    """Write a Parquet file, completely or not at all; see `Rows.write_parquet`."""
    try:
        import duckdb
    except ImportError:
        raise UsageError(
            "Parquet files need duckdb; install the extra, as in: pip install 'desim[parquet]'"
        ) from None
    target = Path(path)
    found = _columns(rows)
    if not len(rows):
        raise UsageError(f"there are no rows, so {target} would have no columns")
    with tempfile.TemporaryDirectory(prefix="desim") as folder:
        lines, made = Path(folder) / "rows.jsonl", Path(folder) / "rows.parquet"
        with lines.open("wb") as file:
            for values in zip(*found.values(), strict=True):
                file.write(msgspec.json.encode(dict(zip(found, values, strict=True))) + b"\n")
        try:
            with contextlib.closing(duckdb.connect()) as database:
                database.read_json(str(lines), sample_size=-1).write_parquet(str(made))
        except (OSError, duckdb.Error) as fault:
            raise UsageError(f"cannot write {target}: {fault}") from None
        with made.open("rb") as content:
            write_whole(target, iter(partial(content.read, _BLOCK), b""))


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the values of each column; lists and objects as JSON, None where a row has none."""
    full = columns.column_names(rows)
    short = [_short(name) for name in full]
    count = Counter(short)
    names = [one if count[one] == 1 else name for one, name in zip(short, full, strict=True)]
    found: dict[str, list[Any]] = {name: [] for name in names}
    paths = list(zip(names, columns.paths(full), strict=True))
    for row in rows:
        for name, path in paths:
            value = columns.value_at(row, path)
            found[name].append(json.dumps(value) if isinstance(value, list | dict) else value)
    return found


def _short(name: str) -> str:
    for prefix in _SHORTENED:
        name = name.removeprefix(prefix)
    return name
