"""Market data: every series of the macro table, up to the present month."""

from typing import Any

from attrs import frozen

from models.enterprise_arena.observation import CommandRefused, unknown
from models.enterprise_arena.state import Lender

_GROWTH = "Monthly_User_Growth"

#: Column of the macro table by the name of the series; growth is the profile's column.
_COLUMNS = {
    "GDP": "gdp_growth_qoq_saar",
    "CPI": "cpi_yoy",
    "UNRATE": "unrate",
    "SOFR": "sofr",
    "FEDFUNDS": "fedfunds",
    "Baa_Yield": "baa",
    "Tsy2Y": "tsy2y",
    "Tsy5Y": "tsy5y",
    "Tsy10Y": "tsy10y",
    "Tsy30Y": "tsy30y",
    "VIX": "vix_avg",
    "PE_Ratio": "pe_ratio",
    "PS_Ratio": "ps_ratio",
    "Gross_Margin": "ind_gross_margin",
    "EBITDA_Margin": "ind_ebitda_margin",
    _GROWTH: "",
    "Annual_User_Growth": "ind_user_growth_annual",
}

#: The names of all series.
SERIES = tuple(_COLUMNS)


@frozen
class Series:
    """One series from month 0 to the present month; later months are not in it.

    Attributes:
        name: One of `SERIES`.
        labels: Anonymised names of the months.
        values: The values of these months.
    """

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def now(self) -> int:
        """The present month."""
        return len(self.labels) - 1


def until_now(lender: Lender, name: str) -> Series:
    """Return a series up to the present month.

    Raises:
        CommandRefused: The name is not that of a series.
    """
    if name not in _COLUMNS:
        names = ", ".join(SERIES)
        raise CommandRefused(f"{unknown('data_type', name, SERIES)} Possible: {names}")
    now, macro = lender.month, lender.macro
    column = lender.growth if name == _GROWTH else getattr(macro, _COLUMNS[name])
    return Series(name, macro.label[: now + 1], column[: now + 1])


def read(series: Series, start: int, end: int | None) -> dict[str, Any]:
    """Return labels and values of a range of months; months after the present one are left out.

    Args:
        series: Up to the present month.
        start: First month.
        end: Last month; None for the present one.

    Raises:
        CommandRefused: The range is empty, begins before month 0 or begins after the present month.
    """
    last = series.now if end is None else end
    if start < 0 or last < 0:
        raise CommandRefused(
            f"start_month={start} and end_month={last} were given; months count from 0"
        )
    if start > series.now:
        raise CommandRefused(
            f"start_month={start} was given; data ends with the present month, {series.now}"
        )
    if start > last:
        raise CommandRefused(f"start_month={start} is after end_month={last}")
    return {
        "data_type": series.name,
        "labels": list(series.labels[start : last + 1]),
        "values": list(series.values[start : last + 1]),
    }
