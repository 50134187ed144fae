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
    for week in range(1, chain.game.horizon + 1):
        yield world.timeout(1, rank=DELIVER)
        for e in chain.echelons:
            e.received = e.deliveries.popleft()
            e.deliveries.append(0)
            chain.goods.move(week, e.in_transit, e.on_hand, e.received)


def order_slips(world: World, chain: Chain) -> Process:
    """Let orders move on one box and arrive; the first stage hears from customers instead."""
    first, *others = chain.echelons
    for week, wanted in enumerate(chain.demand, 1):
        yield world.timeout(1, rank=BRING_ORDERS)
        first.incoming = wanted
        chain.orders.move(week, "placed", first.owed, wanted)
        for e in others:
            e.incoming = e.slips.popleft()
            e.slips.append(0)
            chain.orders.move(week, e.mail, e.owed, e.incoming)


def shipments(world: World, chain: Chain) -> Process:
    """Ship what is owed as far as goods are on hand."""
    goods, orders, units_of, slips = chain.goods, chain.orders, chain.units, chain.slips
    for week in range(1, chain.game.horizon + 1):
        yield world.timeout(1, rank=SHIP)
        for e in chain.echelons:
            e.shipped = units = min(units_of[e.on_hand], slips[e.owed])
            goods.move(week, e.on_hand, e.below.in_transit if e.below else "customers", units)
            orders.move(week, e.owed, "filled", units)
            if e.below:
                e.below.deliveries[-1] += units


def accounts(world: World, chain: Chain) -> Process:
    """Book the week's holding and backlog cost of every stage on what is left after shipping."""
    goods, orders = chain.units, chain.slips
    per_unit, per_owed, floor = _prices(chain.game)
    for week in range(1, chain.game.horizon + 1):
        yield world.timeout(1, rank=ACCOUNT)
        entry: dict[str, int] = {}
        total = 0
        for e in chain.echelons:
            held = max(floor, per_unit * goods[e.on_hand])
            owed = per_owed * orders[e.owed]
            if type(held) is not int or type(owed) is not int:
                held, owed = round(held), round(owed)
            entry[e.holding], entry[e.backlog] = held, owed
            e.cost = held + owed
            total += e.cost
        entry["payable"] = -total
        chain.book.post(week, "cost of the week", entry)
        world.log.info("week accounted", cost=chain.book.money(total))


def standing_orders(world: World, chain: Chain) -> Process:
    """Order by rule where nobody sits, and hand on what blind players have decided."""
    game = chain.game
    standing = [e for e in chain.echelons if game.blind or e.name not in chain.players]
    for week in range(1, game.horizon + 1):
        yield world.timeout(1, rank=ORDER)
        for e in standing:
            line = chain.supply_line(e)
            if week <= game.forced_weeks:
                place(week, chain, e, game.flow, line)
            elif e.name in chain.players:
                place(week, chain, e, e.decided, line)
            else:
                place(week, chain, e, _repaired(game, chain.by_rule(e, line)), line)


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
            place(week, chain, e, game.flow, chain.supply_line(e))
        else:
            order: Order = yield world.ask(e.name, partial(chain.see, week, e))
            place(week, chain, e, _repaired(game, order.quantity), chain.supply_line(e))


def close(world: World, running: list[Any]) -> Process:
    """End the episode when every flow has played its last week."""
    yield world.all_of(running)
    world.end("horizon")


def place(week: int, chain: Chain, e: Echelon, units: Units, line: Units) -> None:
    """Put an order into the mail; the last stage's order starts production."""
    supplier = e.above
    if supplier is None:
        chain.goods.move(week, "brewing", e.in_transit, units)
        e.deliveries[-1] += units
        supplier = e if chain.game.brewery_echo else None
    if supplier is not None:
        chain.orders.move(week, "placed", supplier.mail, units)
        supplier.slips[-1] += units
    e.ordered = units
    on_hand, owed = chain.units[e.on_hand], chain.slips[e.owed]
    e.log.append((e.received, e.incoming, e.shipped, units, on_hand, owed, line, e.cost))


def _repaired(game: "BeerGame", quantity: Units | float) -> Units:
    """Make units of an order: never below zero, and whole where the game deals in whole units."""
    if type(quantity) is int:
        return max(0, quantity)
    if quantity <= 0:
        return 0
    whole = int(quantity)
    return whole if game.whole_units or whole == quantity else Fraction(quantity)


def _prices(game: "BeerGame") -> tuple[Units, Units, int]:
    """Return holding and backlog cost per unit and the holding floor, in booked units.

    They are fractions of the decimal text: 0.1 is a tenth here, not its nearest double.
    """
    prices = (game.holding_cost, game.backlog_cost, game.minimum_holding_cost)
    held, owed, floor = (Fraction(str(price)) * 10**DIGITS for price in prices)
    # Whole prices as integers: arithmetic of fractions takes ten times as long.
    return _plain(held), _plain(owed), round(floor)


def _plain(price: Fraction) -> Units:
    return price.numerator if price.denominator == 1 else price
