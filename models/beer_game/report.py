"""Score, metrics (under the names of reference SPEC section 7), series and tables of an episode."""

import math
from collections.abc import Sequence
from operator import mul
from typing import Any

from desim.show.column import Column, directed
from models.beer_game.chain import CASH, PAYABLE, SALES, Chain, Echelon, shown

#: The bullwhip ratio needs at least so many weeks.
BULLWHIP_WEEKS = 3

_BACKLOGS = ("avg_backlog_controlled", "mean_backlog_controlled")


def score(chain: Chain) -> float:
    """Return minus the cost of the scored stages, in money."""
    return -_cost(chain, chain.scored)


def metric_columns(stages: Sequence[str], *, keeps_cash: bool) -> dict[str, Column]:
    """Return units and directions of metrics; costs are money without a currency."""
    lower = (
        *("total_cost_controlled", "total_cost_supply_chain", *_BACKLOGS),
        *["unpaid"] * keeps_cash,
        *(f"bullwhip_{name}" for name in ("controlled", "supply_chain", *stages)),
        *(f"cost_{stage}" for stage in stages),
    )
    units = dict.fromkeys(_BACKLOGS, Column("units"))
    return directed(units, higher=["end_cash", "sales", "profit"] * keeps_cash, lower=lower)


def metrics(chain: Chain) -> dict[str, Any]:
    """Return costs in money, backlogs in units and the bullwhip ratio.

    With several scored stages, costs and backlogs are their sums and the bullwhip compares the
    orders of the highest with the incoming orders of the lowest. `avg_backlog_controlled` is the
    final backlog, as published; `mean_backlog_controlled` is the mean over the weeks.
    `bullwhip_<stage>` compares a stage's orders with its incoming orders, and
    `bullwhip_supply_chain` the last stage's orders with the customers' demand. A chain that keeps
    cash adds `end_cash`, `sales`, `unpaid` and `profit`, in money.
    """
    scored, all_ = chain.scored, chain.echelons
    completed = len(scored[0].log)
    late = sum(row.backlog for e in scored for row in e.log)
    found = {
        "weeks_completed": completed,
        "total_cost_controlled": _cost(chain, scored),
        "total_cost_supply_chain": _cost(chain, all_),
        "bullwhip_controlled": _bullwhip(scored[0], scored[-1]),
        "avg_backlog_controlled": float(sum(chain.orders[e.owed] for e in scored)),
        "mean_backlog_controlled": float(late / max(1, completed)),
        "bullwhip_supply_chain": _bullwhip(all_[0], all_[-1]),
        **{f"bullwhip_{e.name}": _bullwhip(e, e) for e in all_},
        **{f"cost_{e.name}": _cost(chain, [e]) for e in all_},
    }
    if chain.cash:
        book = chain.book
        sales = -book.balance(SALES)
        found["end_cash"] = book.money(book.balance(CASH))
        found["sales"] = book.money(sales)
        found["unpaid"] = book.money(-book.balance(PAYABLE))
        found["profit"] = book.money(sales - _booked(chain, all_))
    return found


def _cost(chain: Chain, echelons: Sequence[Echelon]) -> float:
    return chain.book.money(_booked(chain, echelons))


def _booked(chain: Chain, echelons: Sequence[Echelon]) -> int:
    # In the book's whole units: sums of doubles differ between versions of Python.
    return sum(chain.book.balance(account) for e in echelons for account in (e.holding, e.backlog))


def _bullwhip(low: Echelon, high: Echelon) -> float | None:
    """Return the population variance of orders over that of incoming orders.

    The ratio is None with fewer than three weeks or when incoming orders never vary, and infinite
    beyond the range of a float.
    """
    if len(high.log) < BULLWHIP_WEEKS:
        return None
    base = scaled_variance([row.incoming_order for row in low.log])
    try:
        orders = shown(scaled_variance([row.order for row in high.log]))
        return float(orders / base) if base else None
    except OverflowError:  # orders that double week by week leave the range of a float
        return math.inf


def scaled_variance(units: Sequence[Any]) -> Any:
    """Return the population variance times the squared number of weeks, exactly.

    Args:
        units: Units by week: numbers, or arrays whose type holds the result.
    """
    squares = sum(map(mul, units, units))
    return len(units) * squares - sum(units) ** 2


def series(chain: Chain) -> dict[str, list[float]]:
    """Return each stage's orders, inventory, backlog (units) and cost (money) by week.

    A chain that keeps cash adds `cash` and `unpaid`, in money at the end of each week.
    """
    book, found = chain.book, dict[str, list[float]]()
    for e in chain.echelons:
        found[f"orders_{e.name}"] = [float(row.order) for row in e.log]
        found[f"inventory_{e.name}"] = [float(row.inventory) for row in e.log]
        found[f"backlog_{e.name}"] = [float(row.backlog) for row in e.log]
        found[f"cost_{e.name}"] = [row.cost for row in chain.history(e.name)]
    if chain.cash:
        found["cash"] = [book.money(book.balance(CASH, week)) for week in weeks(chain)]
        found["unpaid"] = [book.money(-book.balance(PAYABLE, week)) for week in weeks(chain)]
    return found


def series_columns(stages: Sequence[str]) -> dict[str, Column]:
    """Return unit and label of the series of a chain of these stages."""
    what = {"orders": "units", "inventory": "units", "backlog": "units", "cost": "money"}
    of_stages = {
        f"{name}_{stage}": Column(unit, role=stage, period="week")
        for stage in stages
        for name, unit in what.items()
    }
    unpaid = Column("money", "Unpaid costs", period="week")
    return {**of_stages, "cash": Column("money", period="week"), "unpaid": unpaid}


def weeks(chain: Chain) -> range:
    """Return the ticks of the weeks that have ended."""
    return range(1, len(chain.echelons[0].log) + 1)


def tables(chain: Chain, role: str) -> dict[str, list[dict[str, Any]]]:
    """Return the weeks, stock moves and costs of one stage only."""
    e = chain.echelon(role)
    weeks = [{"week": n, **week._asdict()} for n, week in enumerate(chain.history(role), 1)]
    return {"weeks": weeks, "stock_moves": _moves(chain, e), "costs": _costs(chain, e)}


def _moves(chain: Chain, e: Echelon) -> list[dict[str, Any]]:
    """List the moves into and out of a stage's stock, with the units on hand after each."""
    rows: list[dict[str, Any]] = []
    on_hand = shown(0)
    for time, source, target, moved in chain.goods.moves:
        if e.on_hand in (source, target):
            inward = target == e.on_hand
            units, place = shown(moved if inward else -moved), source if inward else target
            on_hand += units
            rows.append({"week": time, "units": units, "place": place, "on_hand": on_hand})
    return rows


def _costs(chain: Chain, e: Echelon) -> list[dict[str, Any]]:
    """List the costs of a stage by week, in money, with the sum so far."""
    rows: list[dict[str, Any]] = []
    total, money = 0, chain.book.money
    for entry in chain.book.journal:
        if e.holding in entry.amounts:  # unlike opening cash, or cash of the group
            held, owed = entry.amounts[e.holding], entry.amounts[e.backlog]
            total += held + owed
            costs = {"holding": money(held), "backlog": money(owed), "total": money(total)}
            rows.append({"week": entry.time, **costs})
    return rows
