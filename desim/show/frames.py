"""Columns as data frames of pandas and polars, and as Parquet files."""

import contextlib
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from desim.errors import UsageError
from desim.show.files import write_whole

if TYPE_CHECKING:  # neither is needed but by those who ask for it
    import pandas as pd
    import polars as pl


#: Plain values by column; all columns are equally long. Arrays will do for frames.
Columns = Mapping[str, Any]

#: Bytes of a file that are copied at once.
_BLOCK = 1 << 20


def pandas_frame(columns: Columns) -> "pd.DataFrame":
    """Return a data frame of pandas.

    Raises:
        UsageError: pandas is not installed.
    """
    frame: pd.DataFrame = _imported("pandas", "report").DataFrame(columns)
    return frame


def polars_frame(columns: Columns) -> "pl.DataFrame":
    """Return a data frame of polars, in which NaN of an array is null.

    Raises:
        UsageError: polars is not installed.
    """
    polars = _imported("polars", "report")
    plain = {name: np.asarray(v) if isinstance(v, array) else v for name, v in columns.items()}
    frame: pl.DataFrame = polars.DataFrame(
        plain, strict=False, infer_schema_length=None, nan_to_null=True
    )
    return frame


def _imported(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise UsageError(
            f"this form of data needs {package}; install the extra, as in: "
            f"pip install 'desim[{extra}]'"
        ) from None


def lines(columns: Columns) -> Iterator[dict[str, Any]]:
    """Yield the values of each line by column."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def write_parquet(found: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Write a Parquet file, completely or not at all.

    Args:
        found: The values of each line by column, the same columns in all; taken one by one.
        path: The file; one that exists is replaced.

    Raises:
        UsageError: duckdb is not installed, *found* is empty, or the file cannot be written.
    """
    duckdb = _imported("duckdb", "parquet")
    target = Path(path)
    with tempfile.TemporaryDirectory(prefix="desim") as folder:
        text, made = Path(folder) / "rows.jsonl", Path(folder) / "rows.parquet"
        with text.open("wb") as file:
            for line in found:
                file.write(msgspec.json.encode(line) + b"\n")
        if not text.stat().st_size:
            raise UsageError(f"there are no rows, so {target} would have no columns")
        try:
            with contextlib.closing(duckdb.connect()) as database:
                database.read_json(str(text), sample_size=-1).write_parquet(str(made))
        except (OSError, duckdb.Error) as fault:
            raise UsageError(f"cannot write {target}: {fault}") from None
        with made.open("rb") as content:
            write_whole(target, iter(partial(content.read, _BLOCK), b""))
