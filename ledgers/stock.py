"""Goods that are never lost: a unit leaves one place only by arriving at another.

Two things hold at every moment, whatever was asked of a stock:

* the units of all places, inside and outside, sum to zero;
* no inside place is below zero.

What the world holds is therefore what came in from its edge less what went out over it.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ledgers.journal import (
    Journal,
    LedgerError,
    WrongTime,
    chart,
    fingerprint,
    unknown,
    wrong_time,
)

Units: TypeAlias = int | Fraction


class UnknownPlace(LedgerError):
    """A place was named that the stock does not have."""


class WrongUnits(LedgerError):
    """Units are not an `int` or a `Fraction` of ints, or are below zero."""


class WrongMove(LedgerError):
    """A move stays where it is, or an opening balance does not come in from outside."""


class Overdrawn(LedgerError):
    """An inside place was asked for more than it holds."""


class Move(NamedTuple):
    """One row of the journal: goods that went from *source* to *target*.

    Attributes:
        time: Ticks of the world's clock.
        source: The place that gave.
        target: The place that took.
        units: Above zero; an `int` wherever the number is whole.
    """

    time: int
    source: str
    target: str
    units: Units


class Stock:
    """Units of one good by place.

    Args:
        places: Inside, never negative: "on_hand.retailer", "in_transit.retailer", ...
        outside: The edge of the world, where goods come from and go to: "brewing", "customers".
            Its balances are negative for what it gave and positive for what it took.

    Raises:
        WrongChart: No place on one side, one declared twice, or a name that is no text.
    """

    def __init__(self, places: Iterable[str], outside: Iterable[str]) -> None:
        """Declare the places; all hold nothing."""
        self._places, self._outside = chart("inside place", places), chart("outside place", outside)
        self._held: dict[str, Units] = dict.fromkeys(
            chart("inside or outside place", self._places + self._outside), 0
        )
        self._inside = frozenset(self._places)
        self._last: float = -inf
        self._rows: list[tuple[int, str, str, Units]] = []

    @property
    def places(self) -> tuple[str, ...]:
        """The inside places, as declared."""
        return self._places

    @property
    def outside(self) -> tuple[str, ...]:
        """The places at the world's edge, as declared."""
        return self._outside

    @property
    def held(self) -> Mapping[str, Units]:
        """Units by place, inside and outside: a live view that cannot be written to."""
        return MappingProxyType(self._held)

    @property
    def moves(self) -> Journal[Move]:
        """Every move, oldest first."""
        return Journal(self._rows, Move)

    @property
    def total(self) -> Units:
        """Units inside plus outside: always zero."""
        return _plain(sum(self._held.values()))

    def __getitem__(self, place: str) -> Units:
        """Units at *place*, inside or outside; an `int` wherever the number is whole.

        Raises:
            UnknownPlace: There is no such place.
        """
        try:
            return self._held[place]
        except (KeyError, TypeError):
            raise UnknownPlace(unknown("place", place, self._held)) from None

    def move(self, time: int, source: str, target: str, units: Units) -> None:
        """Take *units* from *source* to *target*; zero units leave no trace.

        Args:
            time: Ticks, not before the last move.
            source: A place that holds as many, or any outside place.
            target: Another place.
            units: 0 or more, `int` or `Fraction`.

        Raises:
            UnknownPlace: *source* or *target* is no place of this stock.
            WrongUnits: *units* is negative, or neither `int` nor `Fraction`.
            WrongMove: *source* is *target*.
            Overdrawn: *source* is inside and holds less than *units*.
            WrongTime: *time* is not an `int` or goes backwards.
        """
        if type(units) is not int:
            units = _fraction(units)
        held = self._held
        try:
            left, grown = held[source] - units, held[target] + units
        except (KeyError, TypeError):
            self._require(source, target)
            raise
        if (
            units <= 0
            or source == target
            or type(time) is not int
            or time < self._last
            or (left < 0 and source in self._inside)
        ):
            return self._refuse_or_skip(time, source, target, units)
        # Only now, past every refusal, does anything change.
        if type(units) is int:
            held[source], held[target] = left, grown
        else:
            held[source], held[target] = _plain(left), _plain(grown)
        self._last = time
        self._rows.append((time, source, target, units))
        return None

    def open(self, place: str, units: Units, source: str | None = None) -> None:
        """Bring in what *place* holds when the world begins: a move at time 0 from outside.

        Args:
            place: An inside place.
            units: 0 or more, `int` or `Fraction`.
            source: The outside place it comes from; need not be said where there is only one.

        Raises:
            WrongMove: *place* is not inside, or *source* is not, or not clearly, outside.
            LedgerError: As `move` does.
        """
        if source is None and len(self._outside) > 1:
            raise WrongMove(f"say where {place!r} gets its units: {', '.join(self._outside)}")
        source = self._outside[0] if source is None else source
        self._require(place, source)
        if place not in self._inside or source in self._inside:
            raise WrongMove(f"an opening comes from outside in, not from {source!r} to {place!r}")
        self.move(0, source, place, units)

    def digest(self) -> str:
        """Fingerprint of the journal: equal for equal moves in equal order."""
        return fingerprint(self._rows)

    def __repr__(self) -> str:
        """Say how much the stock holds."""
        return f"<Stock of {len(self._held)} places and {len(self._rows)} moves>"

    def _require(self, *places: object) -> None:
        for place in places:
            if not isinstance(place, str) or place not in self._held:
                raise UnknownPlace(unknown("place", place, self._held)) from None

    def _refuse_or_skip(self, time: int, source: str, target: str, units: Units) -> None:
        """Give the reason against a move; there is none against one of zero units."""
        if units < 0:
            raise WrongUnits(f"units must be 0 or more, not {units}; to go back, swap the places")
        if source == target:
            raise WrongMove(f"a move needs two places, not {source!r} twice")
        if type(time) is not int or time < self._last:
            raise WrongTime(wrong_time(time, self._last))
        if units:
            raise Overdrawn(f"{source!r} holds {self[source]} and cannot give {units} at t={time}")


def _fraction(units: object) -> Units:
    """Return *units* if it is a Fraction of ints: numpy's integers inside one would overflow."""
    if type(units) is not Fraction or not type(units.numerator) is type(units.denominator) is int:
        raise WrongUnits(f"units must be an int or a Fraction of ints, not {units!r}")
    return _plain(units)


def _plain(units: Units) -> Units:
    """Write a whole number as an `int`, so that equal stocks look and digest alike."""
    return units.numerator if units.denominator == 1 else units
