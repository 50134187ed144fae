"""The first week in which the orders of the played stages can change what a stage does."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import inf

from attrs import frozen

from models.beer_game.params import BeerGameParams

__all__ = ["FirstReached", "first_reached"]


@frozen
class FirstReached:
    """The first weeks, from 1, that may differ from an episode without a player; inf: none.

    Attributes:
        order: By stage, of its orders.
        shipment: By stage, of its shipments.
    """

    order: tuple[float, ...]
    shipment: tuple[float, ...]


def first_reached(params: BeerGameParams, played: AbstractSet[int]) -> FirstReached:
    """Return the first weeks that depend on the orders of the played stages, given by index.

    A shipment depends on the orders and goods that have arrived. The order of a rule depends on
    these, on the stage's own shipments, and on its supply line, which is what its supplier ships.
    """
    stages, free = range(len(params.stages)), params.forced_weeks + 1
    order = [free if stage in played else inf for stage in stages]
    shipment, before = [inf for _ in stages], None
    while before != (before := [*order, *shipment]):
        for stage in (*stages, *reversed(stages)):
            incoming, received, line = _reaching(params, order, shipment, stage)
            shipment[stage] = min(shipment[stage], incoming, received)
            order[stage] = min(order[stage], max(free, min(shipment[stage], line)))
    return FirstReached(tuple(order), tuple(shipment))


def _reaching(
    params: BeerGameParams, order: Sequence[float], shipment: Sequence[float], stage: int
) -> tuple[float, float, float]:
    """Return the first weeks of a stage's incoming orders, its deliveries and its supply line."""
    incoming = order[stage - 1] + params.order_delay if stage else inf
    if stage < len(params.stages) - 1:
        return incoming, shipment[stage + 1] + params.ship_delay, shipment[stage + 1]
    if params.brewery_echo and stage:
        incoming = min(incoming, order[stage] + params.order_delay)
    return incoming, order[stage] + params.production_weeks, inf
