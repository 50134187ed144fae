"""The macro table: one row a month of 2015 to 2025, or another table of the same form.

DATA.md lists the columns with their units and sources. A file is read when the parameters are made
and kept in them, so that a record contains the table; the built-in table is written as None.
"""

import math
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import Attribute, asdict, field, fields, frozen

from desim.errors import SchemaError, possible
from desim.schema import from_plain
from desim.short_repr import short_repr
from desim.show.files import read_csv

_FILE = Path(__file__).with_name("macro.csv")

Column = tuple[float, ...]


@frozen
class _Within:
    """The lowest and highest plausible value of a column, in its unit."""

    least: float
    most: float

    def __call__(self, _: object, attribute: "Attribute[Any]", column: Column) -> None:
        if type(column) is not tuple:
            raise ValueError(f"{attribute.name} is a tuple, not {short_repr(column, 60)}")
        if column and self.least <= min(column) and max(column) <= self.most:
            return
        for month, value in enumerate(column):
            # A comparison with nan is False, so this form refuses nan as well.
            if not self.least <= value <= self.most:
                raise ValueError(
                    f"month {month}, {attribute.name}: {short_repr(value)} was given; "
                    f"it is between {self.least:g} and {self.most:g}"
                )


@frozen(kw_only=True)
class Macro:
    """A table with one row a month.

    Attributes:
        month: Index from 0, without gaps.
        date: The real month, YYYY-MM; for developers only, never shown.
        label: Its anonymised name, as shown; unique.

    DATA.md has the units and sources of the other columns.
    """

    month: tuple[int, ...]
    date: tuple[str, ...]
    label: tuple[str, ...]
    gdp_growth_qoq_saar: Column = field(validator=_Within(-99, 1_000))
    gdp_growth_yoy: Column = field(validator=_Within(-99, 1_000))
    cpi_index: Column = field(validator=_Within(0, 1e6))
    cpi_yoy: Column = field(validator=_Within(-100, 1_000))
    unrate: Column = field(validator=_Within(0, 100))
    sofr: Column = field(validator=_Within(-10, 100))
    fedfunds: Column = field(validator=_Within(-10, 100))
    baa: Column = field(validator=_Within(-10, 100))
    tsy2y: Column = field(validator=_Within(-10, 100))
    tsy5y: Column = field(validator=_Within(-10, 100))
    tsy10y: Column = field(validator=_Within(-10, 100))
    tsy30y: Column = field(validator=_Within(-10, 100))
    vix_avg: Column = field(validator=_Within(0, 200))
    vix_close: Column = field(validator=_Within(0, 200))
    pe_ratio: Column = field(validator=_Within(-1e6, 1e6))
    ps_ratio: Column = field(validator=_Within(0, 1e6))
    baa_10y_spread: Column = field(validator=_Within(-100, 100))
    ind_gross_margin: Column = field(validator=_Within(-100, 100))
    ind_ebitda_margin: Column = field(validator=_Within(-100, 100))
    ind_user_growth_monthly: Column = field(validator=_Within(-50, 50))
    ind_user_growth_annual: Column = field(validator=_Within(-100, 1e5))
    ind_user_growth_monthly_alt: Column = field(validator=_Within(-50, 50))

    def __len__(self) -> int:
        return len(self.month)

    def __attrs_post_init__(self) -> None:
        if not self.month:
            raise ValueError("the table has no month")
        for name, column in asdict(self, recurse=False).items():
            if len(column) != len(self):
                raise ValueError(f"{name} has {len(column)} months where the table has {len(self)}")
        self._months()
        self._spread()

    def _months(self) -> None:
        known: set[str] = set()
        rows = zip(self.month, self.date, self.label, strict=True)
        for at, (month, date, label) in enumerate(rows):
            if month != at:
                raise ValueError(
                    f"row {at} is of month {short_repr(month)}; months run 0, 1, 2, ..."
                )
            if not re.fullmatch(r"(?!0000)[0-9]{4}-(0[1-9]|1[0-2])", date):
                raise ValueError(f"month {at}, date: {short_repr(date)} was given; it is YYYY-MM")
            if not label or label in known:
                raise ValueError(
                    f"month {at}, label: {short_repr(label)} was given; each month has its own name"
                )
            known.add(label)

    def _spread(self) -> None:
        for at, spread in enumerate(self.baa_10y_spread):
            wide = self.baa[at] - self.tsy10y[at]
            if abs(spread - wide) > 0.015:  # noqa: PLR2004 (columns are rounded to 0.01)
                raise ValueError(
                    f"month {at}, baa_10y_spread: {short_repr(spread)} was given; "
                    f"baa - tsy10y is {wide:.2f}"
                )


#: In the order of a file.
COLUMNS = tuple(each.name for each in fields(Macro))
#: Lowest and highest plausible value by column.
RANGES: dict[str, tuple[float, float]] = {
    each.name: (each.validator.least, each.validator.most)
    for each in fields(Macro)
    if isinstance(each.validator, _Within)
}


@cache
def builtin() -> Macro:
    """Return the table of 2015 to 2025."""
    return read(str(_FILE))


def given(value: Any) -> Macro | None:
    """Convert the parameter `macro` to a table, or to None for the built-in one.

    It is None, a table, the path of a CSV file, or columns by name, as in a record.

    Raises:
        ValueError: *value* is of another type, or has a fault; the text names the place.
    """
    if value is None or isinstance(value, Macro):
        return value
    if isinstance(value, str | os.PathLike):
        return read(os.fspath(value))
    if not isinstance(value, Mapping):
        raise ValueError(  # noqa: TRY004 (all faults of a parameter are ValueErrors)
            f"macro={short_repr(value, 60)} was given; it is a table, its columns or the path of "
            "a CSV file"
        )
    try:
        table: Macro = from_plain(value, Macro)
    except (ValueError, SchemaError) as fault:
        raise ValueError(f"macro: {fault}") from None
    return table


def read(path: str) -> Macro:
    """Read a table from a CSV file with the columns of the built-in one, in any order.

    Raises:
        ValueError: The file cannot be read or has a fault; the text names the file and the place.
    """
    try:
        return Macro(**_columns(read_csv(path)))
    except OSError as fault:
        raise ValueError(f"macro: cannot read {path!r}: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"macro: cannot read {path!r}: it is no CSV text") from None
    except ValueError as fault:
        raise ValueError(f"macro: {path!r}: {fault}") from None


def _columns(rows: list[tuple[int, list[str]]]) -> dict[str, tuple[Any, ...]]:
    head = rows[0][1] if rows else []
    for name in head:
        if name not in COLUMNS:
            raise ValueError(f"there is no column {name!r}; {possible(name, COLUMNS)}")
    if missing := [name for name in COLUMNS if name not in head]:
        raise ValueError(f"it has no column {', '.join(missing)}")
    if len(head) > len(COLUMNS):
        raise ValueError("a column occurs twice in its heading")
    for line, row in rows[1:]:
        if len(row) != len(head):
            raise ValueError(f"row {line} has {len(row)} values for {len(head)} columns")
    return {
        name: tuple([_figure(name, row[at], line) for line, row in rows[1:]])
        for at, name in enumerate(head)
    }


def _figure(name: str, text: str, line: int) -> Any:
    if name in ("date", "label"):
        return text
    try:
        value = int(text) if name == "month" else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"row {line}, {name}: {text!r} is no number")
    return value
