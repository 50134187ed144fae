"""A stock as CSV tables: its moves, and what every place holds."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from ledgers.amounts import exact
from ledgers.export import Dates, Row, day_of, table

__all__ = ["HOLDING_COLUMNS", "MOVE_COLUMNS", "holdings_table", "moves_table"]

#: Units are exact: a decimal where it is finite, else a fraction such as 1/3.
MOVE_COLUMNS: Final = ("time", "date", "move", "source", "target", "units")

HOLDING_COLUMNS: Final = ("place", "side", "units")

#: Time, source, target and units of a move.
Moved: TypeAlias = tuple[int, str, str, int | Fraction]


def moves_table(moves: Iterable[Moved], date: Dates | None = None) -> str:
    """Return moves with `MOVE_COLUMNS`, numbered from 1.

    Raises:
        WrongExport: *date* returned no date.
    """
    return table(MOVE_COLUMNS, _moves(moves, date))


def holdings_table(held: Mapping[str, int | Fraction], inside: Iterable[str]) -> str:
    """Return the units at every place with `HOLDING_COLUMNS`; side is "inside" or "outside"."""
    within = frozenset(inside)
    rows = (
        (place, "inside" if place in within else "outside", exact(units))
        for place, units in held.items()
    )
    return table(HOLDING_COLUMNS, rows)


def _moves(moves: Iterable[Moved], date: Dates | None) -> Iterator[Row]:
    for number, (time, source, target, units) in enumerate(moves, 1):
        day = "" if date is None else day_of(date, time).isoformat()
        yield (time, day, number, source, target, exact(units))
