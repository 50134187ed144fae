"""A week of the chain as SimPy processes, one for each flow.

Tick w closes week w. The flows of a week share its tick and are told apart by their rank; all
stages finish one flow before the next begins, in the order retailer to factory:

    deliver, bring orders, ship, account, order.
"""

from collections.abc import Generator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from desim import World
from models.beer_game import demand as demands
from models.beer_game import rules
from models.beer_game.actions import Order
from models.beer_game.state import DIGITS, Chain, Echelon, Units

if TYPE_CHECKING:
    from models.beer_game.params import BeerGame

__all__ = ["begin"]

Process = Generator[Any, Any, None]

# Ranks within a week's tick.
DELIVER, BRING_ORDERS, SHIP, ACCOUNT, ORDER, CLOSE = range(6)


def begin(world: World, game: "BeerGame") -> Chain:
    """Set up a game and start its flows."""
    if not rules.known(game.opponents):
        world.log.warning("unknown rule passes orders through", opponents=game.opponents)
    weekly = demands.weekly(game.demand, game.horizon, partial(world.stream, "demand"))
    chain = Chain(game, weekly, world.seats)
    flows = [deliveries, order_slips, shipments, accounts, standing_orders]
    running = [world.process(flow(world, chain)) for flow in flows]
    play = player_before_week if game.blind else player_in_week
    running += [
        world.process(play(world, chain, e)) for e in chain.echelons if e.name in world.seats
    ]
    world.process(close(world, running))
    return chain


def deliveries(world: World, chain: Chain) -> Process:
    """Let shipments and production move on one box and arrive."""
    for _ in range(chain.game.horizon):
        yield world.timeout(1, rank=DELIVER)
        for e in chain.echelons:
            e.received = e.deliveries.popleft()
            e.deliveries.append(0)
            chain.goods.move(world.now, e.in_transit, e.on_hand, e.received)


def order_slips(world: World, chain: Chain) -> Process:
    """Let orders move on one box and arrive; the first stage hears from customers instead."""
    first, *others = chain.echelons
    for wanted in chain.demand:
        yield world.timeout(1, rank=BRING_ORDERS)
        first.incoming = wanted
        chain.orders.move(world.now, "placed", first.owed, wanted)
        for e in others:
            e.incoming = e.slips.popleft()
            e.slips.append(0)
            chain.orders.move(world.now, e.mail, e.owed, e.incoming)


def shipments(world: World, chain: Chain) -> Process:
    """Ship what is owed as far as goods are on hand."""
    goods, orders = chain.goods, chain.orders
    for _ in range(chain.game.horizon):
        yield world.timeout(1, rank=SHIP)
        for e in chain.echelons:
            e.shipped = units = min(goods[e.on_hand], orders[e.owed])
            below = chain.below.get(e.name)
            goods.move(world.now, e.on_hand, below.in_transit if below else "customers", units)
            orders.move(world.now, e.owed, "filled", units)
            if below:
                below.deliveries[-1] += units


def accounts(world: World, chain: Chain) -> Process:
    """Book the week's holding and backlog cost of every stage on what is left after shipping."""
    game, money = chain.game, 10**DIGITS
    # Fractions of the decimal text: 0.1 is a tenth here, not its nearest double.
    per_unit = _booked(Fraction(str(game.holding_cost)) * money)
    per_owed = _booked(Fraction(str(game.backlog_cost)) * money)
    floor = _booked(Fraction(str(game.minimum_holding_cost)) * money)
    for week in range(1, game.horizon + 1):
        yield world.timeout(1, rank=ACCOUNT)
        entry, total = {}, 0
        for e, holding, backlog in chain.costs:
            entry[holding] = held = max(floor, _booked(per_unit * chain.goods[e.on_hand]))
            entry[backlog] = owed = _booked(per_owed * chain.orders[e.owed])
            e.cost = held + owed
            total += e.cost
        entry["payable"] = -total
        chain.book.post(week, "cost of the week", entry)


def standing_orders(world: World, chain: Chain) -> Process:
    """Order by rule where nobody sits, and hand on what blind players have decided."""
    game = chain.game
    for week in range(1, game.horizon + 1):
        yield world.timeout(1, rank=ORDER)
        for e in chain.echelons:
            seated = e.name in chain.players
            if not seated:
                decided = _repaired(game, e.rule(chain.see(week, e)))
            elif game.blind:
                decided = e.decided
            else:
                continue
            place(world, chain, e, game.flow if week <= game.forced_weeks else decided)


def player_before_week(world: World, chain: Chain, e: Echelon) -> Process:
    """Ask for a week's order before anything of that week is seen."""
    for week in range(chain.game.horizon):
        order: Order = yield world.ask(e.name, partial(chain.see, week, e))
        e.decided = _repaired(chain.game, order.quantity)
        yield world.timeout(1, rank=CLOSE)


def player_in_week(world: World, chain: Chain, e: Echelon) -> Process:
    """Ask for the order once the week's shipping is done; forced weeks are not asked about."""
    game = chain.game
    for week in range(1, game.horizon + 1):
        yield world.timeout(1, rank=ORDER)
        if week <= game.forced_weeks:
            place(world, chain, e, game.flow)
        else:
            order: Order = yield world.ask(e.name, partial(chain.see, week, e))
            place(world, chain, e, _repaired(game, order.quantity))


def close(world: World, running: list[Any]) -> Process:
    """End the episode when every flow has played its last week."""
    yield world.all_of(running)
    world.end("horizon")


def place(world: World, chain: Chain, e: Echelon, units: Units) -> None:
    """Put an order into the mail; the last stage's order starts production."""
    e.line_before = chain.supply_line(e)
    e.ordered = units
    supplier = chain.above.get(e.name)
    if supplier is None:
        chain.goods.move(world.now, "brewing", e.in_transit, units)
        e.deliveries[-1] += units
        supplier = e if chain.game.brewery_echo else None
    if supplier is not None:
        chain.orders.move(world.now, "placed", supplier.mail, units)
        supplier.slips[-1] += units
    e.log.append(
        (
            e.received,
            e.incoming,
            e.shipped,
            units,
            chain.goods[e.on_hand],
            chain.orders[e.owed],
            e.line_before,
            e.cost,
        )
    )


def _repaired(game: "BeerGame", quantity: float) -> Units:
    """Make units of an order: never below zero, and whole where the game deals in whole units."""
    if type(quantity) is int:
        return max(0, quantity)
    if quantity <= 0:
        return 0
    whole = int(quantity)
    return whole if game.whole_units or whole == quantity else Fraction(quantity)


def _booked(amount: Units) -> int:
    return amount if type(amount) is int else round(amount)
