"""Exchanges of cash and goods between parts, and the check that none is created or lost."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from attrs import frozen

from desim.composition.parts import Part
from desim.core.reported import Holding
from desim.core.roles import split_name
from desim.errors import ModelFailed, UsageError, possible


class NotConserved(ModelFailed):
    """Cash or goods that entered or left one part and no other."""


@frozen
class Side:
    """One side of an exchange: the cash of a part, or its goods at a place."""

    part: Part
    place: str | None = None

    @contextmanager
    def open(self) -> Iterator[Holding]:
        """Move the part's clock to the common one, and yield what the part holds."""
        with self.part.at_common_time():
            yield self._holding()

    def _holding(self) -> Holding:
        name, model, state = self.part.name, self.part.model, self.part.state
        if self.place is None:
            if (purse := model.purse(state)) is None:
                raise UsageError(
                    f"part {name!r}, {type(model).__name__}, has no intercompany account"
                )
            return purse
        if not (stock := model.stock(state)):
            raise UsageError(f"part {name!r}, {type(model).__name__}, exchanges no goods")
        if self.place not in stock:
            raise UsageError(
                f"part {name!r} has no place {self.place!r}; {possible(self.place, stock)}"
            )
        return stock[self.place]

    def now(self) -> int | Fraction:
        """Return the amount on hand at this instant."""
        with self.open() as holding:
            return holding.held

    def send(self, taker: "Side", amount: int) -> None:
        """Take an amount out, for another part that receives it now or later."""
        if taker.part is self.part:
            raise UsageError(f"giver and taker are both part {self.part.name!r}; name two parts")
        taker.now()  # raises before anything is posted: then only the giver may refuse the amount
        with self.open() as holding:
            before = holding.held
            holding.send(self.part.world.now, taker.part.name, amount)
            self._check(before, -amount, holding.held)

    def receive(self, giver: "Side", amount: int) -> None:
        """Add an amount which another part has sent."""
        with self.open() as holding:
            before = holding.held
            holding.receive(self.part.world.now, giver.part.name, amount)
            self._check(before, amount, holding.held)

    def _check(self, before: int | Fraction, change: int, after: int | Fraction) -> None:
        if after != before + change:
            what = f"{abs(change)} {'cents' if self.place is None else 'units'}"
            how = "left" if change < 0 else "arrived"
            raise NotConserved(
                f"{self.part.name} held {before} before {what} {how}, and {after} after it"
            )


@frozen
class Shipment:
    """Units on the way since a common tick; both ends are part and place: "north.factory"."""

    sender: str
    receiver: str
    units: int
    sent: int


def exchange_faults(
    parts: Iterable[Part], members: Collection[str], under_way: Iterable[Shipment] = ()
) -> list[str]:
    """Return a sentence for every pair of parts whose balances do not cancel.

    Balances of repetitions are summed; what is *under_way* counts as goods of the receiver.
    """
    cents: Counter[tuple[str, str]] = Counter()
    units: Counter[tuple[str, str]] = Counter()
    for part in parts:
        purse, stock = part.model.purse(part.state), part.model.stock(part.state)
        for sums, holdings in ((cents, [purse] if purse else []), (units, stock.values())):
            for holding in holdings:
                for partner, amount in holding.balances.items():
                    sums[part.name, partner] += amount
    for each in under_way:
        units[split_name(each.receiver)[0], split_name(each.sender)[0]] += each.units
    return [*_faults(cents, "cents", members), *_faults(units, "units", members)]


def _faults(sums: Counter[tuple[str, str]], unit: str, members: Collection[str]) -> Iterator[str]:
    for (name, partner), amount in sums.items():
        if amount + (other := sums[partner, name]):
            has = f"has {other} with {name}" if partner in members else "is no part"
            yield f"{name} has {amount} {unit} with {partner}, which {has}"
