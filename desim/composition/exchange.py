"""Exchanges of cash and goods between parts: both ledgers change in one step, and none gains.

A shipment changes them in two steps; between these its units are under way.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction

from attrs import frozen

from desim.composition.parts import Part
from desim.core.ledger_protocols import Holding
from desim.core.roles import split_name
from desim.errors import ModelFailed, UsageError, possible


class NotConserved(ModelFailed):
    """Cash or goods that entered or left one part and no other."""


@frozen
class Side:
    """One side of an exchange: the cash of a part, or its goods at a place.

    Attributes:
        part: The part.
        place: None for cash.
    """

    part: Part
    place: str | None = None

    def holding(self) -> Holding:
        """Return what the part holds; called at the part's common time."""
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
        with self.part.at_common_time():
            return self.holding().held


def exchange(giver: Side, taker: Side, amount: int) -> None:
    """Move an amount between two parts: both ledgers change at this instant, or neither."""
    _check_two(giver, taker)
    with giver.part.at_common_time(), taker.part.at_common_time():
        # Both are found before anything is posted: then only the giver may refuse the amount.
        from_, to = giver.holding(), taker.holding()
        before = from_.held + to.held
        from_.send(giver.part.now, taker.part.name, amount)
        to.receive(taker.part.now, giver.part.name, amount)
        after = from_.held + to.held
    if after != before:
        raise NotConserved(
            f"{giver.part.name} and {taker.part.name} held {before} before an exchange of "
            f"{amount}, and {after} after it"
        )


@frozen
class Shipment:
    """Goods that one part has handed over and another receives later.

    Attributes:
        sender: Part and place, such as "north.factory".
        receiver: Part and place.
        units: A whole number above 0.
        sent: The common tick at which they left the sender.
    """

    sender: str
    receiver: str
    units: int
    sent: int


def hand_over(giver: Side, taker: Side, amount: int) -> None:
    """Take an amount out of one part, for another one that receives it later."""
    _check_two(giver, taker)
    taker.now()  # raises where the part has no such place
    with giver.part.at_common_time():
        holding = giver.holding()
        before = holding.held
        holding.send(giver.part.now, taker.part.name, amount)
        _check_moved(giver, -amount, before, holding.held)


def receive(giver: Side, taker: Side, amount: int) -> None:
    """Add an amount to a part which another part has handed over before."""
    with taker.part.at_common_time():
        holding = taker.holding()
        before = holding.held
        holding.receive(taker.part.now, giver.part.name, amount)
        _check_moved(taker, amount, before, holding.held)


def _check_moved(side: Side, rise: int, before: int | Fraction, after: int | Fraction) -> None:
    if after != before + rise:
        raise NotConserved(
            f"{side.part.name} held {before} before {abs(rise)} units of a shipment left or "
            f"arrived, and {after} after it"
        )


def _check_two(giver: Side, taker: Side) -> None:
    if giver.part is taker.part:
        raise UsageError(f"giver and taker are both part {giver.part.name!r}; name two parts")


def exchange_faults(
    parts: Iterable[Part], members: Collection[str], under_way: Iterable[Shipment] = ()
) -> list[str]:
    """Return a sentence for every pair of parts whose balances do not cancel.

    Args:
        parts: All parts that have begun; the balances of repetitions are summed.
        members: The names of all parts.
        under_way: Shipments that have left one part and have not arrived in another; they count as
            goods of the receiver.
    """
    cents: Counter[tuple[str, str]] = Counter()
    units: Counter[tuple[str, str]] = Counter()
    for part in parts:
        purse, stock = part.model.purse(part.state), part.model.stock(part.state)
        _add(cents, part.name, [purse] if purse else [])
        _add(units, part.name, stock.values())
    for each in under_way:
        units[part_and_place(each.receiver)[0], part_and_place(each.sender)[0]] += each.units
    return [*_faults(cents, "cents", members), *_faults(units, "units", members)]


def _add(sums: Counter[tuple[str, str]], name: str, holdings: Iterable[Holding]) -> None:
    for holding in holdings:
        for partner, amount in holding.balances.items():
            sums[name, partner] += amount


def _faults(sums: Counter[tuple[str, str]], unit: str, members: Collection[str]) -> Iterator[str]:
    for (name, partner), amount in sums.items():
        if amount + (other := sums[partner, name]):
            has = f"has {other} with {name}" if partner in members else "is no part"
            yield f"{name} has {amount} {unit} with {partner}, which {has}"


def part_and_place(address: str) -> tuple[str, str]:
    """Return part and place of an address, such as `north.factory`."""
    part, place = split_name(address)
    if not place:
        raise UsageError(f"{address!r} was given; goods have a part and a place: PART.PLACE")
    return part, place
