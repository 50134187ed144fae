"""The names and values of columns outside of desim: in data frames and in Parquet files."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from desim.sweeps.columns import Path, value_at
from desim.sweeps.jobs import Row

__all__ = ["plain_value", "short_names"]

#: Prefixes that names have only where they would not be clear without.
_SHORTENED = ("params.", "metrics.", "series.")


def short_names(full: Sequence[str]) -> list[str]:
    """Return the names of columns without a prefix, but where two would share one."""
    short = [_short(name) for name in full]
    count = Counter(short)
    return [one if count[one] == 1 else name for one, name in zip(short, full, strict=True)]


def plain_value(row: Row, path: Path) -> Any:
    """Return the value of a column: lists and objects as JSON, None where a row has none."""
    value = value_at(row, path)
    return json.dumps(value) if isinstance(value, list | dict) else value


def _short(name: str) -> str:
    for prefix in _SHORTENED:
        name = name.removeprefix(prefix)
    return name
