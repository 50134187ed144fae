"""Converts drawn paths of states to the columns of a macro table."""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

from models.enterprise_arena.economy.macro import RANGES, Macro
from models.enterprise_arena.rules import YEAR

QUARTER = 3
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

#: The lowest rate shown, percent.
LEAST = 0.01

Column = Sequence[float]
Row = tuple[float, ...]


def history(
    table: Macro, paths: Mapping[str, Column], rows: Sequence[int], growth: Column
) -> Macro:
    """Return a macro table from paths of states.

    Args:
        table: The table to which the model was fitted.
        paths: Paths of the states, by name.
        rows: For each month, the month of the table whose residuals were drawn.
        growth: Growth of borrowers, percent a month.
    """
    months = len(rows)
    funds = paths["fedfunds"]
    two = _more(funds, paths["tsy2y"])
    five = _more(two, paths["tsy5y"])
    ten = _more(five, paths["tsy10y"])
    baa = _more(ten, _exp(paths["spread"]))
    vix = _exp(paths["vix"])
    index, yearly = _prices(table, paths["inflation"])
    quarterly, on_year = _output(table, rows)
    shown = _rounded(growth)
    figures = {
        "gdp_growth_qoq_saar": quarterly,
        "gdp_growth_yoy": on_year,
        "cpi_index": index,
        "cpi_yoy": yearly,
        "unrate": _rounded(_exp(paths["unrate"]), 1),
        "sofr": _published_rows(_more(funds, paths["sofr"])),
        "fedfunds": _published_rows(funds),
        "baa": _published_rows(baa),
        "tsy2y": _published_rows(two),
        "tsy5y": _published_rows(five),
        "tsy10y": _published_rows(ten),
        "tsy30y": _published_rows(_more(ten, paths["tsy30y"])),
        "vix_avg": _rounded(vix),
        "vix_close": _rounded(_times(vix, _exp(paths["close"]))),
        "pe_ratio": _rounded(_exp(paths["pe"])),
        "ps_ratio": _rounded(_exp(paths["ps"]), 3),
        "baa_10y_spread": _rounded(less(_published_rows(baa), _published_rows(ten))),
        "ind_gross_margin": _rounded(paths["gross"], 1),
        "ind_ebitda_margin": _rounded(paths["ebitda"], 1),
        "ind_user_growth_monthly": shown,
        "ind_user_growth_annual": _annual(shown),
        "ind_user_growth_monthly_alt": shown,
    }
    return Macro(
        month=tuple(range(months)),
        date=tuple([_date(table, month) for month in range(months)]),
        label=tuple([_label(month) for month in range(months)]),
        **{name: _clipped(name, column) for name, column in figures.items()},
    )


def _clipped(name: str, column: Row) -> Row:
    """Return a column clipped to the range that a table may have."""
    low, high = RANGES[name]
    if low <= min(column) and max(column) <= high:
        return column
    return tuple([min(max(value, low), high) for value in column])


def less(left: Column, right: Column) -> list[float]:
    """Return one column minus another."""
    return [a - b for a, b in zip(left, right, strict=True)]


def _more(left: Column, right: Column) -> list[float]:
    return [a + b for a, b in zip(left, right, strict=True)]


def _times(left: Column, right: Column) -> list[float]:
    return [a * b for a, b in zip(left, right, strict=True)]


def _exp(column: Column) -> list[float]:
    return [math.exp(value) for value in column]


def _rounded(column: Column, digits: int = 2) -> Row:
    return tuple([round(value, digits) for value in column])


def _published_rows(column: Column) -> Row:
    """Return yields rounded, and clipped to 0.01 percent and the highest that a table may have."""
    most = RANGES["baa"][1]
    return tuple([min(max(round(value, 2), LEAST), most) for value in column])


def _prices(table: Macro, inflation: Column) -> tuple[Row, Row]:
    """Return the price index, and its change on the year before in percent.

    Prices of the year before month 0 are derived from the table's own index and changes.
    """
    logs = accumulate([math.log(table.cpi_index[0]), *[change / 100 for change in inflation[1:]]])
    index = _exp(list(logs))
    first = [table.cpi_index[m] / (1 + table.cpi_yoy[m] / 100) for m in range(YEAR)]
    before = [*first, *index][: len(index)]
    yearly = [100 * (now / then - 1) for now, then in zip(index, before, strict=True)]
    return _rounded(index, 3), _rounded(yearly)


def _output(table: Macro, rows: Sequence[int]) -> tuple[Row, Row]:
    """Return growth of output on the quarter before, annualised, and on the year before, percent.

    The three quarters before month 0 have equal growth, such that month 0 has the table's growth on
    the year before.
    """
    drawn = [table.gdp_growth_qoq_saar[rows[m]] for m in range(0, len(rows), QUARTER)]
    factors = [(1 + each / 100) ** 0.25 for each in drawn]
    past = ((1 + table.gdp_growth_yoy[0] / 100) / factors[0]) ** (1 / 3)
    factors = [past, past, past, *factors]
    years = [100 * (math.prod(factors[q : q + 4]) - 1) for q in range(len(drawn))]
    quarters = [month // QUARTER for month in range(len(rows))]
    return _rounded([drawn[q] for q in quarters]), _rounded([years[q] for q in quarters])


def _annual(growth: Column) -> Row:
    """Return growth over twelve months, percent; months before month 0 count as month 0."""
    factors = [1 + each / 100 for each in [*[growth[0]] * (YEAR - 1), *growth]]
    return _rounded([100 * (math.prod(factors[m : m + YEAR]) - 1) for m in range(len(growth))])


def _label(month: int) -> str:
    """Return the anonymised name of a month: Jan 2xx0, ..., Dec 2xx9, Jan 2x10, ..."""
    year = month // YEAR
    return f"{MONTHS[month % YEAR]} {f'2xx{year}' if year < 10 else f'2x{year}'}"  # noqa: PLR2004 (digits)


def _date(table: Macro, month: int) -> str:
    return f"{int(table.date[0][:4]) + month // YEAR:04}-{month % YEAR + 1:02}"
