"""Exchanges of cash and goods between parts, and the check that none is created or lost."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
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


@frozen
class Shipment:
    """Units on the way since a common tick; both ends are part and place: "north.factory"."""

    sender: str
    receiver: str
    units: int
    sent: int


def exchange(giver: Side, taker: Side, amount: int) -> None:
    """Move an amount between two parts: both ledgers change at this instant, or neither."""
    _check_two(giver, taker)
    names = f"{giver.part.name} and {taker.part.name}"
    # Both are found before anything is posted: then only the giver may refuse the amount.
    with (
        giver.open() as from_,
        taker.open() as to,
        _conserving(names, f"an exchange of {amount}", 0, 0, from_, to),
    ):
        from_.send(giver.part.now, taker.part.name, amount)
        to.receive(taker.part.now, giver.part.name, amount)


def hand_over(giver: Side, taker: Side, amount: int) -> None:
    """Take an amount out of one part, for another one that receives it later."""
    _check_two(giver, taker)
    taker.now()  # raises where the part has no such place
    with giver.open() as from_, _shipped(giver, -1, amount, from_):
        from_.send(giver.part.now, taker.part.name, amount)


def receive(giver: Side, taker: Side, amount: int) -> None:
    """Add an amount to a part which another part has handed over before."""
    with taker.open() as to, _shipped(taker, 1, amount, to):
        to.receive(taker.part.now, giver.part.name, amount)


def _shipped(side: Side, sign: int, amount: int, holding: Holding) -> AbstractContextManager[None]:
    what = f"{amount} units of a shipment left or arrived"
    return _conserving(side.part.name, what, sign, amount, holding)


@contextmanager
def _conserving(who: str, what: str, sign: int, amount: int, *holdings: Holding) -> Iterator[None]:
    before = sum(one.held for one in holdings)
    yield
    after = sum(one.held for one in holdings)
    if after != before + sign * amount:
        raise NotConserved(f"{who} held {before} before {what}, and {after} after it")


def _check_two(giver: Side, taker: Side) -> None:
    if giver.part is taker.part:
        raise UsageError(f"giver and taker are both part {giver.part.name!r}; name two parts")


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


def part_and_place(address: str) -> tuple[str, str]:
    """Return part and place of an address, such as `north.factory`."""
    part, place = split_name(address)
    if not place:
        raise UsageError(f"{address!r} was given; goods have a part and a place: PART.PLACE")
    return part, place
