"""Units of one good by place: a move takes units from one place and adds them to another.

After every call the units of all places sum to zero, and no inside place is below zero.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf
from types import MappingProxyType
from typing import ClassVar, NamedTuple, TypeAlias

from ledgers.entry import Journal, fingerprint
from ledgers.errors import LedgerError, WrongExport, WrongTime, distinct, unknown, wrong_time
from ledgers.export import Dates, holdings_table, moves_table

Units: TypeAlias = int | Fraction


class UnknownPlace(LedgerError):
    """A place was named that the stock does not have."""


class WrongUnits(LedgerError):
    """Units are not an `int` or a `Fraction` of ints, or are below zero."""


class WrongMove(LedgerError):
    """A move has one place twice, or an opening balance does not come from an outside place."""


class Overdrawn(LedgerError):
    """A move takes more from an inside place than it holds."""


class Move(NamedTuple):
    """Units above zero moved from *source* to *target*; an `int` wherever the number is whole."""

    time: int
    source: str
    target: str
    units: Units


class Stock:
    """Units of one good by place.

    Args:
        places: Inside places, never negative: "on_hand.retailer", "in_transit.retailer", ...
        outside: Where goods enter and leave the world: "brewing", "customers". The balance of an
            outside place is the units moved to it less those taken from it.
        name: Name of the stock, for worlds that keep several ledgers: "goods".

    Raises:
        WrongChart: No place on one side, one declared twice, or a name that is not text.
    """

    #: The forms that `export` offers.
    export_forms: ClassVar[tuple[str, ...]] = ("csv",)

    def __init__(self, places: Iterable[str], outside: Iterable[str], name: str = "") -> None:
        self.name = name
        self.places = distinct("inside place", places)
        self.outside = distinct("outside place", outside)
        both = distinct("inside or outside place", self.places + self.outside)
        self._held: dict[str, Units] = dict.fromkeys(both, 0)
        self._inside = frozenset(self.places)
        self._last: float = -inf
        self._rows: list[tuple[int, str, str, Units]] = []

    def add_outside(self, place: str) -> None:
        """Add an outside place at zero behind the others, for events of few episodes only."""
        distinct("inside or outside place", (*self._held, place))
        self.outside += (place,)
        self._held[place] = 0

    @property
    def held(self) -> Mapping[str, Units]:
        """Units by place, inside and outside: a read-only view that follows every move."""
        return MappingProxyType(self._held)

    @property
    def moves(self) -> Journal[Move]:
        """Every move, oldest first."""
        return Journal(Move._make, self._rows)

    @property
    def total(self) -> Units:
        """Units inside plus outside: always zero."""
        return _sum(sum(self._held.values()), 0, 1)

    def __getitem__(self, place: str) -> Units:
        """Return the units at *place*, inside or outside; an `int` wherever the number is whole."""
        self._require(place)
        return self._held[place]

    def move(self, time: int, source: str, target: str, units: Units) -> None:
        """Move *units* from *source* to *target*; zero units are checked but not recorded.

        Raises:
            UnknownPlace: *source* or *target* is not a place of this stock.
            WrongUnits: *units* is negative, or neither `int` nor `Fraction`.
            WrongMove: *source* is *target*.
            Overdrawn: *source* is inside and holds less than *units*.
            WrongTime: *time* is not an `int` or goes backwards.
        """
        if type(units) is not int:
            units = _checked(units)
        held = self._held
        try:
            if type(units) is int:
                over, left, grown = units, held[source] - units, held[target] + units
            else:
                over, below = units.as_integer_ratio()
                left, grown = _sum(held[source], -over, below), _sum(held[target], over, below)
        except (KeyError, TypeError):
            self._require(source, target)
            raise
        if (
            over <= 0
            or source == target
            or type(time) is not int
            or time < self._last
            or (left.numerator < 0 and source in self._inside)
        ):
            self._refuse_or_skip(time, source, target, units)
            return
        # Every check is done; only now does anything change.
        held[source], held[target] = left, grown
        self._last = time
        self._rows.append((time, source, target, units))

    def _require(self, *places: object) -> None:
        for place in places:
            if not isinstance(place, str) or place not in self._held:
                raise UnknownPlace(unknown("place", place, self._held)) from None

    def _refuse_or_skip(self, time: int, source: str, target: str, units: Units) -> None:
        if units < 0:
            raise WrongUnits(f"units must be 0 or more, not {units}; to go back, swap the places")
        if source == target:
            raise WrongMove(f"a move needs two places, not {source!r} twice")
        if type(time) is not int or time < self._last:
            raise WrongTime(wrong_time(time, self._last))
        if units:
            raise Overdrawn(f"{source!r} holds {self[source]} and cannot give {units} at t={time}")

    def open(self, place: str, units: Units, source: str | None = None) -> None:
        """Set the opening units of *place*: a move at time 0 from an outside place.

        Raises:
            WrongMove: *place* is not inside, *source* is not outside, or *source* is missing and
                there are several.
        """
        if source is None and len(self.outside) > 1:
            raise WrongMove(f"say where {place!r} gets its units: {', '.join(self.outside)}")
        source = self.outside[0] if source is None else source
        self._require(place, source)
        if place not in self._inside or source in self._inside:
            raise WrongMove(f"an opening comes from outside in, not from {source!r} to {place!r}")
        self.move(0, source, place, units)

    def export(self, form: str, date: Dates | None = None) -> dict[str, str]:
        """Return moves.csv and holdings.csv; without *date* the date column is empty."""
        if form not in self.export_forms:
            raise WrongExport(unknown("form", form, self.export_forms))
        holdings = holdings_table(self._held, self.places)
        return {"moves.csv": moves_table(self.moves, date), "holdings.csv": holdings}

    def digest(self) -> str:
        """Return the SHA-256 of the journal: equal for equal moves in equal order."""
        return fingerprint(self._rows)

    def __repr__(self) -> str:
        return f"<Stock of {len(self._held)} places and {len(self._rows)} moves>"


def _checked(units: object) -> Units:
    """Return a Fraction of ints, whole ones as `int`; numpy integers inside one would overflow."""
    if type(units) is Fraction:
        over, below = units.as_integer_ratio()
        if type(over) is int and type(below) is int:
            return over if below == 1 else units
    raise WrongUnits(f"units must be an int or a Fraction of ints, not {units!r}")


def _sum(units: Units, over: int, below: int) -> Units:
    # In integers, as the operators of `Fraction` take far longer. Most denominators are powers of
    # two, those of floats: one of two divides the other.
    own, common = units.as_integer_ratio()
    if common % below == 0:
        own += over * (common // below)
    elif below % common == 0:
        own, common = own * (below // common) + over, below
    else:
        own, common = own * below + over * common, common * below
    return Fraction(own, common) if own % common else own // common
