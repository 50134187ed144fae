"""Score and metrics of an episode, under the names of reference SPEC section 7."""

import math
from collections.abc import Sequence
from operator import mul
from typing import Any

from desim.show.column import Column, directed
from models.beer_game import observation
from models.beer_game.accounts import CASH, PAYABLE, SALES
from models.beer_game.state import Chain, Echelon, Units, Week, shown

#: The bullwhip ratio needs at least so many weeks.
BULLWHIP_WEEKS = 3


def score(chain: Chain) -> float:
    """Return minus the cost of the scored stages, in money."""
    return -controlled_cost(chain)


_BACKLOGS = ("avg_backlog_controlled", "mean_backlog_controlled")


def metric_columns(stages: Sequence[str]) -> dict[str, Column]:
    """Return units and directions of metrics; costs are money without a currency."""
    chain = ("controlled", "supply_chain")
    lower = (
        *("total_cost_controlled", "total_cost_supply_chain", "unpaid", *_BACKLOGS),
        *(f"bullwhip_{name}" for name in (*chain, *stages)),
        *(f"cost_{stage}" for stage in stages),
    )
    units = dict.fromkeys(_BACKLOGS, Column("units"))
    return directed(units, higher=("end_cash", "sales", "profit"), lower=lower)


def metrics(chain: Chain) -> dict[str, Any]:
    """Return costs in money, backlogs in units and the bullwhip ratio.

    With several scored stages, costs and backlogs are their sums and the bullwhip compares the
    orders of the highest with the incoming orders of the lowest. `avg_backlog_controlled` is the
    final backlog, as published; `mean_backlog_controlled` is the mean over the weeks.
    `bullwhip_<stage>` compares a stage's orders with its incoming orders, and
    `bullwhip_supply_chain` the last stage's orders with the customers' demand. A chain that keeps
    cash adds `end_cash`, `sales`, `unpaid` and `profit`, in money.
    """
    scored = chain.scored
    completed = len(scored[0].log)
    return {
        "weeks_completed": completed,
        "total_cost_controlled": controlled_cost(chain),
        "total_cost_supply_chain": chain.book.money(_total(chain)),
        "bullwhip_controlled": bullwhip(scored[0], scored[-1]),
        "avg_backlog_controlled": float(sum(chain.orders[e.owed] for e in scored)),
        "mean_backlog_controlled": float(sum(_backlogs(e) for e in scored) / max(1, completed)),
        "bullwhip_supply_chain": bullwhip(chain.echelons[0], chain.echelons[-1]),
        **{f"bullwhip_{e.name}": bullwhip(e, e) for e in chain.echelons},
        **{f"cost_{e.name}": cost(chain, e) for e in chain.echelons},
        **(_cash_metrics(chain) if chain.cash else {}),
    }


def series(chain: Chain) -> dict[str, list[float]]:
    """Return each stage's orders, inventory, backlog (units) and cost (money) by week.

    A chain that keeps cash adds `cash` and `unpaid`, in money at the end of each week.
    """
    flows: dict[str, list[float]] = {}
    for e in chain.echelons:
        flows[f"orders_{e.name}"] = [float(row[3]) for row in e.log]
        flows[f"inventory_{e.name}"] = [float(row[4]) for row in e.log]
        flows[f"backlog_{e.name}"] = [float(row[5]) for row in e.log]
        flows[f"cost_{e.name}"] = [chain.book.money(int(row[7])) for row in e.log]
    return flows | _cash_series(chain) if chain.cash else flows


def columns(stages: Sequence[str]) -> dict[str, Column]:
    """Return unit and label of the series of a chain of these stages."""
    what = {"orders": "units", "inventory": "units", "backlog": "units", "cost": "money"}
    return {
        **{
            f"{name}_{stage}": Column(unit, role=stage, period="week")
            for stage in stages
            for name, unit in what.items()
        },
        "cash": Column("money", period="week"),
        "unpaid": Column("money", "Unpaid costs", period="week"),
    }


def weeks(chain: Chain) -> range:
    """Return the ticks of the weeks that have ended."""
    return range(1, len(chain.echelons[0].log) + 1)


def cost(chain: Chain, e: Echelon) -> float:
    """Return a stage's cost so far, in money."""
    return chain.book.money(_booked(chain, e))


def controlled_cost(chain: Chain) -> float:
    """Return the cost of the scored stages, in money."""
    # Summed in the book's whole units: sums of doubles differ between versions of Python.
    return chain.book.money(sum(_booked(chain, e) for e in chain.scored))


def _booked(chain: Chain, e: Echelon) -> int:
    return chain.book.balance(e.holding) + chain.book.balance(e.backlog)


def _total(chain: Chain) -> int:
    return sum(_booked(chain, e) for e in chain.echelons)


def _cash_metrics(chain: Chain) -> dict[str, float]:
    book = chain.book
    sales = -book.balance(SALES)
    return {
        "end_cash": book.money(book.balance(CASH)),
        "sales": book.money(sales),
        "unpaid": book.money(-book.balance(PAYABLE)),
        "profit": book.money(sales - _total(chain)),
    }


def _cash_series(chain: Chain) -> dict[str, list[float]]:
    book = chain.book
    return {
        "cash": [book.money(book.balance(CASH, week)) for week in weeks(chain)],
        "unpaid": [book.money(-book.balance(PAYABLE, week)) for week in weeks(chain)],
    }


def bullwhip(low: Echelon, high: Echelon) -> float | None:
    """Return the population variance of orders over that of incoming orders.

    The ratio is None with fewer than three weeks or when incoming orders never vary, and infinite
    beyond the range of a float.
    """
    orders, incoming = [row[3] for row in high.log], [row[1] for row in low.log]
    if len(orders) < BULLWHIP_WEEKS or not (base := scaled_variance(incoming)):
        return None
    try:
        return float(shown(scaled_variance(orders)) / base)
    except OverflowError:  # orders that double week by week leave the range of a float
        return math.inf


def scaled_variance(units: Sequence[Any]) -> Any:
    """Return the population variance times the squared number of weeks, exactly.

    Args:
        units: Units by week: numbers, or arrays whose type holds the result.
    """
    squares = sum(map(mul, units, units))
    return len(units) * squares - sum(units) ** 2


def _backlogs(e: Echelon) -> Units:
    return sum(row[5] for row in e.log)


def effect(chain: Chain, stage: str) -> str:
    """Return what the last order of a stage did; empty before its first week has ended."""
    (echelon,) = (e for e in chain.echelons if e.name == stage)
    if not echelon.log:
        return ""
    last = Week(*map(shown, echelon.log[-1]))
    money = chain.book.money(int(last.cost))
    return observation.effect(chain.params, stage, len(echelon.log), last.order, money)
