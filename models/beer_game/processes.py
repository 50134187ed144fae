"""A week of the chain: arrivals are events with their lead times, the rest is one process a week.

Tick w closes week w. The events of a week share its tick and come in the order of their ranks:

    deliveries, orders, the week's work (ship, post the costs, order by rule), players.
"""

from collections.abc import Generator
from fractions import Fraction
from functools import partial
from typing import Any

from desim import World
from models.beer_game import demand, rules
from models.beer_game.accounts import PAYABLE, book_units
from models.beer_game.actions import Order
from models.beer_game.params import BeerGameParams
from models.beer_game.pipeline import cost
from models.beer_game.ranks import Ranks
from models.beer_game.state import BREWING, CUSTOMERS, FILLED, PLACED, Chain, Echelon, Units

Process = Generator[Any, Any, None]


def begin(world: World, params: BeerGameParams) -> Chain:
    """Build the chain and start its processes."""
    if not rules.known(params.opponents):
        world.log.warning("unknown rule passes orders through", opponents=params.opponents)
    chain, ranks = Chain(world, params, _demand(world, params)), Ranks(len(params.stages))
    play = player_before_week if params.blind else player_in_week
    running = [
        world.process(customers(world, chain, ranks)),
        world.process(weekly_work(world, chain, ranks)),
        *(world.process(play(world, chain, e, ranks)) for e in chain.echelons if e.played),
    ]
    world.process(close(world, running))
    if params.thinking.takes_time:
        world.process(missed_weeks(world, chain, ranks))
    return chain


def redraw(world: World, chain: Chain) -> None:
    """Draw the demand of later weeks again; that of the present week has been ordered."""
    chain.demand[world.now :] = _demand(world, chain.params)[world.now :]


def _demand(world: World, params: BeerGameParams) -> list[int]:
    """Draw the demand of all weeks at once, so that no decision shifts it."""
    return demand.weekly(params.demand, params.horizon, partial(world.stream, "demand"))


def customers(world: World, chain: Chain, ranks: Ranks) -> Process:
    """Order the demand of each week from the first stage, which receives it at once."""
    first, rank = chain.echelons[0], ranks.orders
    for week in range(1, chain.params.horizon + 1):
        yield world.timeout(1, rank=rank)
        wanted = chain.demand[week - 1]  # not before: a redraw may have replaced it meanwhile
        chain.orders.move(week, PLACED, first.owed, wanted)
        first.slips.arrived = wanted


def weekly_work(world: World, chain: Chain, ranks: Ranks) -> Process:
    """Ship, post the costs and place the orders of each week that no player decides in it."""
    unit_prices, standing = prices(chain.params), _standing(chain)
    for week in range(1, chain.params.horizon + 1):
        yield world.timeout(1, rank=ranks.work)
        ship(week, chain)
        total = account(week, chain, unit_prices)
        if world.log:
            _tell_week(world, chain, total)
        for e in standing:
            if e.played and week > chain.params.forced_weeks:
                with world.caused_by(e.name):
                    place_standing(week, chain, e)
            else:
                place_standing(week, chain, e)


def _tell_week(world: World, chain: Chain, total: int) -> None:
    """Log what every stage has received and shipped this week, and the cost of all stages."""
    for e in chain.echelons:
        if e.received:
            world.log.info("delivery", role=e.name, units=e.received)
        if e.shipped:
            to = e.below.name if e.below else CUSTOMERS
            world.log.info("shipment", role=e.name, to=to, units=e.shipped)
    world.log.info("week accounted", cost=chain.book.money(total))


def ship(week: int, chain: Chain) -> None:
    """Ship each stage's backlog up to its goods on hand, unless it is on strike."""
    goods, orders, on_hand, owed = chain.goods, chain.orders, chain.units, chain.slips
    on_strike = chain.echelons[-1] if week in chain.strike else None
    for e in chain.echelons:
        deliveries, slips = e.deliveries, e.slips
        e.received, deliveries.arrived = deliveries.arrived, 0
        e.incoming, slips.arrived = slips.arrived, 0
        units, wanted = on_hand[e.on_hand], owed[e.owed]
        units = 0 if e is on_strike else min(units, wanted)
        e.shipped = units
        if units:
            below = e.below
            goods.move(week, e.on_hand, below.in_transit if below else CUSTOMERS, units)
            orders.move(week, e.owed, FILLED, units)
            if below:
                below.deliveries.send(week, units)


def account(week: int, chain: Chain, prices: tuple[Units, Units, int]) -> int:
    """Post the week's holding and backlog cost of every stage, on the units after shipping.

    A chain that keeps cash posts its sales and payments in the same entry.
    """
    goods, orders = chain.units, chain.slips
    per_unit, per_owed, floor = prices
    entry: dict[str, int] = {}
    total = 0
    for e in chain.echelons:
        held = max(cost(per_unit, goods[e.on_hand]), floor)
        owed = cost(per_owed, orders[e.owed])
        entry[e.holding], entry[e.backlog] = held, owed
        e.cost = held + owed
        total += e.cost
    if chain.cash is None:
        entry[PAYABLE] = -total
    else:
        entry.update(chain.cash.week(total, chain.echelons[0].shipped))
    chain.book.post(week, "cost of the week", entry)
    return total


def place_standing(week: int, chain: Chain, e: Echelon) -> None:
    """Place a forced order, the one that a blind player decided before, or the rule's."""
    params, line = chain.params, chain.supply_line(e)
    if week <= params.forced_weeks:
        units = chain.flow
    elif e.played:
        units = e.decided
    else:
        units = _units(params, chain.by_rule(e, line))
    place(week, chain, e, units, line)


def player_before_week(world: World, chain: Chain, e: Echelon, ranks: Ranks) -> Process:
    """Ask for a week's order before the week begins."""
    while (week := world.now) < chain.params.horizon:
        e.decided = 0  # until the answer is there: nothing
        order: Order = yield world.ask(e.name, partial(chain.observe, week, e))
        e.decided = _units(chain.params, order.quantity)
        yield world.timeout(1, rank=ranks.close)


def player_in_week(world: World, chain: Chain, e: Echelon, ranks: Ranks) -> Process:
    """Ask for a week's order once its shipping is done, except in a forced week."""
    params, week = chain.params, 0
    while week < params.horizon:
        yield world.timeout(1, rank=ranks.players)
        week += 1
        if week <= params.forced_weeks:
            place(week, chain, e, chain.flow, chain.supply_line(e))
        else:
            order: Order = yield world.ask(e.name, partial(chain.observe, week, e))
            week = world.now  # a late order is that of the week in which it comes
            place(week, chain, e, _units(params, order.quantity), chain.supply_line(e))


def missed_weeks(world: World, chain: Chain, ranks: Ranks) -> Process:
    """Place no order, once a week is over, for each player who still thinks; then end."""
    for week in range(1, chain.params.horizon + 1):
        yield world.timeout(week + 1 - world.now, rank=ranks.over)
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

    Args:
        week: The week that ends now.
        chain: The chain.
        e: The stage that orders.
        units: Units ordered, at least 0.
        line: The stage's supply line before the order, in units.
    """
    if units:
        supplier = e.above
        if supplier is None:
            chain.goods.move(week, BREWING, e.in_transit, units)
            e.deliveries.send(week, units)
            supplier = e if chain.params.brewery_echo else None
        if supplier is not None:
            chain.orders.move(week, PLACED, supplier.mail, units)
            if supplier.below is not None:  # an echo at the only stage stays in the mail
                supplier.slips.send(week, units)
    e.ordered = units
    if chain.world.log:
        chain.world.log.info("order", role=e.name, units=units)
    on_hand, owed = chain.units[e.on_hand], chain.slips[e.owed]
    e.log.append((e.received, e.incoming, e.shipped, units, on_hand, owed, line, e.cost))


def _standing(chain: Chain) -> list[Echelon]:
    """Return the stages whose orders are placed without a question at the end of the week."""
    return [e for e in chain.echelons if chain.params.blind or not e.played]


def _units(params: BeerGameParams, quantity: Units | float) -> Units:
    """Return the units of an order: at least 0, and whole where the world deals in whole units."""
    if type(quantity) is int:
        return max(0, quantity)
    if quantity <= 0:
        return 0
    whole = int(quantity)
    return whole if params.whole_units or whole == quantity else Fraction(quantity)


def prices(params: BeerGameParams) -> tuple[Units, Units, int]:
    """Return holding and backlog cost per unit and the holding floor, in units of the book."""
    prices = (params.holding_cost, params.backlog_cost, params.minimum_holding_cost)
    held, owed, floor = map(book_units, prices)
    return held, owed, round(floor)
