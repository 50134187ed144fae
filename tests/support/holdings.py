"""Cash and goods of a company, as a link of a group reads and moves them."""

from typing import Any

from desim import Model


def cash_of(model: Model[Any], state: Any) -> int:
    """Return the cash on hand in cents."""
    purse = model.purse(state)
    assert purse is not None
    return int(purse.held)


def receive_cash(model: Model[Any], state: Any, cents: int, partner: str) -> None:
    """Post cash that a partner has sent."""
    purse = model.purse(state)
    assert purse is not None
    purse.receive(state.world.now, partner, cents)


def pay_cash(model: Model[Any], state: Any, cents: int, partner: str) -> None:
    """Post cash that is sent to a partner."""
    purse = model.purse(state)
    assert purse is not None
    purse.send(state.world.now, partner, cents)


def intercompany(model: Model[Any], state: Any) -> dict[str, int]:
    """Return the balances by partner in cents."""
    purse = model.purse(state)
    return dict(purse.balances) if purse else {}


def deliver_goods(model: Model[Any], state: Any, place: str, units: int, partner: str) -> None:
    """Add units of a partner to a place."""
    model.stock(state)[place].receive(state.world.now, partner, units)


def take_goods(model: Model[Any], state: Any, place: str, units: int, partner: str) -> None:
    """Hand over units of a place to a partner."""
    model.stock(state)[place].send(state.world.now, partner, units)


def exchanged_goods(model: Model[Any], state: Any) -> dict[str, int]:
    """Return the units by partner: received from it less handed over to it."""
    sums: dict[str, int] = {}
    for holding in model.stock(state).values():
        for partner, units in holding.balances.items():
            sums[partner] = sums.get(partner, 0) + units
    return sums
