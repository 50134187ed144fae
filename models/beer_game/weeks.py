"""A week of the chain: arrivals are events with their lead times, the rest is one process a week.

Tick w closes week w. The events of a week share its tick and come in the order of their ranks,
where n is the number of stages and all stages finish one step before the next begins:

    0 to n-1         goods arrive, at the first stage first
    n to 2n-1        demand reaches the first stage, order slips the others
    2n               the week's work: ship, post the costs, order by rule
    2n+1             players order who decide at the end of the week
    2n+2             players decide who order before the next week begins
"""

from collections.abc import Generator
from fractions import Fraction
from functools import partial
from typing import Any

from desim import World
from models.beer_game import demand, rules
from models.beer_game.chain import BREWING, CUSTOMERS, FILLED, PLACED, Chain, Echelon, Units, Week
from models.beer_game.params import BeerGameParams
from models.beer_game.stage import Order

Process = Generator[Any, Any, None]

#: Rank before all events of a week: the week before is over.
_OVER = -1


def begin(world: World, params: BeerGameParams) -> Chain:
    """Build the chain and start its processes."""
    if not rules.known(params.opponents):
        world.log.warning("unknown rule passes orders through", opponents=params.opponents)
    chain = Chain(world, params, _demand(world, params))
    play = player_before_week if params.blind else player_in_week
    running = [
        world.process(customers(world, chain)),
        world.process(weekly_work(world, chain)),
        *(world.process(play(world, chain, e)) for e in chain.echelons if e.played),
    ]
    world.process(close(world, running))
    if params.thinking.takes_time:
        world.process(missed_weeks(world, chain))
    return chain


def redraw(world: World, chain: Chain) -> None:
    """Draw the demand of later weeks again; that of the present week has been ordered."""
    chain.demand[world.now :] = _demand(world, chain.params)[world.now :]


def _demand(world: World, params: BeerGameParams) -> list[int]:
    # Drawn for all weeks at once, so that no decision shifts it.
    return demand.weekly(params.demand, params.horizon, partial(world.stream, "demand"))


def customers(world: World, chain: Chain) -> Process:
    """Order the demand of each week from the first stage, which receives it at once."""
    first = chain.echelons[0]
    for week in range(1, chain.params.horizon + 1):
        yield world.timeout(1, rank=first.slips.rank)
        wanted = chain.demand[week - 1]  # not before: a redraw may have replaced it meanwhile
        chain.orders.move(week, PLACED, first.owed, wanted)
        first.slips.arrived = wanted


def weekly_work(world: World, chain: Chain) -> Process:
    """Ship, post the costs and place the orders of each week that no player decides in it."""
    params = chain.params
    standing = [e for e in chain.echelons if params.blind or not e.played]
    for week in range(1, params.horizon + 1):
        yield world.timeout(1, rank=chain.work_rank)
        ship(week, chain)
        cost = chain.account(week)
        if world.log:
            _log_week(world, chain, cost)
        for e in standing:
            line = chain.supply_line(e)
            if week <= params.forced_weeks:
                place(week, chain, e, params.flow, line)
            elif e.played:
                place(week, chain, e, e.decided, line)
            else:
                place(week, chain, e, _by_rule(chain, e, line), line)


def _log_week(world: World, chain: Chain, cost: int) -> None:
    for e in chain.echelons:
        if e.received:
            world.log.info("delivery", role=e.name, units=e.received)
        if e.shipped:
            to = e.below.name if e.below else CUSTOMERS
            world.log.info("shipment", role=e.name, to=to, units=e.shipped)
    world.log.info("week accounted", cost=chain.book.money(cost))


def ship(week: int, chain: Chain) -> None:
    """Ship each stage's backlog up to its goods on hand, unless it is on strike."""
    on_strike = chain.echelons[-1] if week in chain.strike else None
    on_hand, owed = chain.units, chain.slips
    for e in chain.echelons:
        deliveries, slips = e.deliveries, e.slips
        e.received, deliveries.arrived = deliveries.arrived, 0
        e.incoming, slips.arrived = slips.arrived, 0
        units = 0 if e is on_strike else min(on_hand[e.on_hand], owed[e.owed])
        e.shipped = units
        if units:
            chain.orders.move(week, e.owed, FILLED, units)
            if e.below:
                e.below.deliveries.send(week, e.on_hand, units)
            else:
                chain.goods.move(week, e.on_hand, CUSTOMERS, units)


def _by_rule(chain: Chain, e: Echelon, line: Units) -> Units:
    """Return the order of a stage's rule in units; *line* is its supply line."""
    params, incoming = chain.params, e.incoming
    if (weeks := chain.memory) > 1:
        past: list[Any] = [row.incoming_order for row in e.log[1 - weeks :]]
        before = (weeks - 1 - len(past)) * params.flow  # ordered in the weeks before the first
        incoming = Fraction(before + sum(past) + incoming, weeks)
    on_hand, owed = chain.units[e.on_hand], chain.slips[e.owed]
    return _units(params, e.rule(incoming, on_hand, owed, line, params.target_inventory))


def player_before_week(world: World, chain: Chain, e: Echelon) -> Process:
    """Ask for a week's order before the week begins."""
    while (week := world.now) < chain.params.horizon:
        e.decided = 0  # until the answer is there: nothing
        order: Order = yield world.ask(e.name, partial(chain.observe, week, e))
        e.decided = _units(chain.params, order.quantity)
        yield world.timeout(1, rank=chain.work_rank + 2)


def player_in_week(world: World, chain: Chain, e: Echelon) -> Process:
    """Ask for a week's order once its shipping is done, except in a forced week."""
    params, week = chain.params, 0
    while week < params.horizon:
        yield world.timeout(1, rank=chain.work_rank + 1)
        week += 1
        if week <= params.forced_weeks:
            place(week, chain, e, params.flow, chain.supply_line(e))
        else:
            order: Order = yield world.ask(e.name, partial(chain.observe, week, e))
            week = world.now  # a late order is that of the week in which it comes
            place(week, chain, e, _units(params, order.quantity), chain.supply_line(e))


def missed_weeks(world: World, chain: Chain) -> Process:
    """Place no order, once a week is over, for each player who still thinks; then end."""
    for week in range(1, chain.params.horizon + 1):
        yield world.timeout(week + 1 - world.now, rank=_OVER)
        for e in chain.echelons:
            if len(e.log) < week:
                place(week, chain, e, 0, chain.supply_line(e))
    world.end("horizon")


def close(world: World, running: list[Any]) -> Process:
    """End the episode when every process has finished its last week."""
    yield world.all_of(running)
    world.end("horizon")


def place(week: int, chain: Chain, e: Echelon, units: Units, line: Units) -> None:
    """Mail an order, or start production for the last stage's, and log the stage's week.

    *line* is the stage's supply line before the order.
    """
    if units:
        supplier = e.above
        if supplier is None:
            e.deliveries.send(week, BREWING, units)
            supplier = e if chain.params.brewery_echo else None
        if supplier and supplier.below:
            supplier.slips.send(week, PLACED, units)
        elif supplier:  # an echo at the only stage stays in the mail
            chain.orders.move(week, PLACED, supplier.mail, units)
    e.ordered = units
    if chain.world.log:
        chain.world.log.info("order", role=e.name, units=units)
    on_hand, owed = chain.units[e.on_hand], chain.slips[e.owed]
    e.log.append(Week(e.received, e.incoming, e.shipped, units, on_hand, owed, line, e.cost))


def _units(params: BeerGameParams, quantity: Units | float) -> Units:
    """Return the units of an order: at least 0, and whole where the world deals in whole units."""
    if type(quantity) is int:
        return max(0, quantity)
    if quantity <= 0:
        return 0
    whole = int(quantity)
    return whole if params.whole_units or whole == quantity else Fraction(quantity)
