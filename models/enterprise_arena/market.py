"""What the officer can know of the outside world: every series up to the present month."""

from typing import Any

from attrs import frozen

from models.enterprise_arena.company import Company
from models.enterprise_arena.refusal import Refused, unknown

__all__ = ["SERIES", "Seen", "read", "seen"]

_GROWTH = "Monthly_User_Growth"

#: Column of the macro table by the name the officer uses; growth is the profile's column.
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
class Seen:
    """The past and the present of one series; the future is not in it.

    Attributes:
        name: One of `SERIES`.
        labels: Anonymised months, from month 0 to the present one.
        values: Of these months.
    """

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def now(self) -> int:
        """The present month."""
        return len(self.labels) - 1


def seen(company: Company, name: str) -> Seen:
    """Cut a series off after the present month.

    Raises:
        Refused: There is no such series.
    """
    if name not in _COLUMNS:
        names = ", ".join(SERIES)
        raise Refused(f"{unknown('data_type', name, SERIES)} Possible: {names}")
    now, macro = company.month, company.macro
    column = company.growth if name == _GROWTH else getattr(macro, _COLUMNS[name])
    return Seen(name, macro.label[: now + 1], column[: now + 1])


def read(series: Seen, start: int, end: int | None) -> dict[str, Any]:
    """Return labels and values of a range of months; what is asked beyond now is left out.

    Raises:
        Refused: The range is empty, begins before month 0 or begins after the present month.
    """
    last = series.now if end is None else end
    if start < 0 or last < 0:
        raise Refused(f"start_month={start} and end_month={last} were given; months count from 0")
    if start > series.now:
        raise Refused(
            f"start_month={start} was given; data ends with the present month, {series.now}"
        )
    if start > last:
        raise Refused(f"start_month={start} lies after end_month={last}")
    return {
        "data_type": series.name,
        "labels": list(series.labels[start : last + 1]),
        "values": list(series.values[start : last + 1]),
    }
