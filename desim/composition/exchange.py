"""Exchanges of cash and goods between parts: both ledgers change in one step, and none gains.

A shipment changes them in two steps; between these its units are under way.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from attrs import frozen

from desim.composition.parts import Part
from desim.core.ledger_protocols import HasGoodsExchange, HasIntercompany
from desim.core.roles import split_name
from desim.errors import ModelFailed, UsageError


class NotConserved(ModelFailed):
    """Cash or goods that entered or left one part and no other."""


class Side(NamedTuple):
    """One part of an exchange.

    Attributes:
        part: The part.
        held: Returns what a state holds.
        give: Hands over an amount to a partner.
        take: Takes an amount from a partner.
    """

    part: Part
    held: Callable[[Any], int | Fraction]
    give: Callable[[Any, int, str], None]
    take: Callable[[Any, int, str], None]

    def now(self) -> int | Fraction:
        """Return what the part holds at this instant."""
        with self.part.at_common_time() as state:
            return self.held(state)


def cash_side(part: Part) -> Side:
    """Return the side of a part that exchanges cash."""
    model: Any = part.model
    if not isinstance(model, HasIntercompany):
        raise UsageError(f"part {part.name!r}, {type(model).__name__}, has no intercompany account")
    return Side(part, model.cash, model.pay_cash, model.receive_cash)


def goods_side(part: Part, place: str) -> Side:
    """Return the side of a part that exchanges goods at a place."""
    model: Any = part.model
    if not isinstance(model, HasGoodsExchange):
        raise UsageError(f"part {part.name!r}, {type(model).__name__}, exchanges no goods")
    return Side(
        part,
        lambda state: model.goods(state, place),
        lambda state, units, partner: model.take_goods(state, place, units, partner),
        lambda state, units, partner: model.deliver_goods(state, place, units, partner),
    )


def exchange(giver: Side, taker: Side, amount: int) -> None:
    """Move an amount between two parts: both ledgers change at this instant, or neither."""
    _check_two(giver, taker)
    with giver.part.at_common_time() as from_, taker.part.at_common_time() as to:
        # Checked before anything is posted: the taker may refuse only because it keeps nothing of
        # the kind, the giver also because of the amount.
        before = giver.held(from_) + taker.held(to)
        giver.give(from_, amount, taker.part.name)
        taker.take(to, amount, giver.part.name)
        after = giver.held(from_) + taker.held(to)
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

    @property
    def parts(self) -> tuple[str, str]:
        """The names of sender and receiver."""
        return part_and_place(self.sender)[0], part_and_place(self.receiver)[0]


def hand_over(giver: Side, taker: Side, amount: int) -> None:
    """Take an amount out of one part, for another one that receives it later."""
    _check_two(giver, taker)
    taker.now()  # raises where the part has no such place
    _move(giver, giver.give, amount, taker.part.name, sign=-1)


def receive(giver: Side, taker: Side, amount: int) -> None:
    """Add an amount to a part which another part has handed over before."""
    _move(taker, taker.take, amount, giver.part.name, sign=1)


def _move(
    side: Side, act: Callable[[Any, int, str], None], amount: int, partner: str, *, sign: int
) -> None:
    with side.part.at_common_time() as state:
        before = side.held(state)
        act(state, amount, partner)  # accepts whole numbers above 0 alone
        after = side.held(state)
    if after != before + sign * amount:
        raise NotConserved(
            f"{side.part.name} held {before} before {amount} units of a shipment left or arrived, "
            f"and {after} after it"
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
        model, state = part.model, part.state
        if isinstance(model, HasIntercompany):
            _add(cents, part.name, model.intercompany(state))
        if isinstance(model, HasGoodsExchange):
            _add(units, part.name, model.exchanged_goods(state))
    for shipment in under_way:
        sender, receiver = shipment.parts
        units[receiver, sender] += shipment.units
    return [*_faults(cents, "cents", members), *_faults(units, "units", members)]


def _add(sums: Counter[tuple[str, str]], name: str, balances: Mapping[str, int]) -> None:
    for partner, amount in balances.items():
        sums[name, partner] += amount


def _faults(sums: Counter[tuple[str, str]], unit: str, members: Collection[str]) -> Iterable[str]:
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
