"""What a game is scored by, under the names of reference SPEC section 7."""

from typing import TYPE_CHECKING, Any

from models.beer_game.state import shown

if TYPE_CHECKING:
    from models.beer_game.state import Chain, Echelon, Units

__all__ = ["metrics", "score"]

#: Fewer weeks say nothing of variance.
BULLWHIP_WEEKS = 3


def score(chain: "Chain") -> float:
    """Minus the cost of the stages with a player, in money."""
    return -controlled_cost(chain)


def metrics(chain: "Chain") -> dict[str, Any]:
    """Return costs in money, backlogs in units and the bullwhip ratio.

    Where several stages have a player, costs and backlogs are their sums and the bullwhip is from
    the lowest one's incoming orders to the highest one's orders. `avg_backlog_controlled` is the
    final backlog, as published; `mean_backlog_controlled` is the mean over the weeks.
    """
    seats = chain.seats
    weeks = len(seats[0].log)
    return {
        "weeks_completed": weeks,
        "total_cost_controlled": controlled_cost(chain),
        "total_cost_supply_chain": chain.book.money(-chain.book.balance("payable")),
        "bullwhip_controlled": bullwhip(seats[0], seats[-1]),
        "avg_backlog_controlled": float(sum(chain.orders[e.owed] for e in seats)),
        "mean_backlog_controlled": float(sum(_backlogs(e) for e in seats) / weeks),
        **{f"cost_{e.name}": cost(chain, e) for e in chain.echelons},
    }


def cost(chain: "Chain", e: "Echelon") -> float:
    """Return a stage's cost so far, in money."""
    return chain.book.money(_booked(chain, e))


def controlled_cost(chain: "Chain") -> float:
    """Return the cost of the stages with a player, in money."""
    # In the book's whole units: a sum of doubles would depend on the version of Python.
    return chain.book.money(sum(_booked(chain, e) for e in chain.seats))


def _booked(chain: "Chain", e: "Echelon") -> int:
    return chain.book.balance(e.holding) + chain.book.balance(e.backlog)


def bullwhip(low: "Echelon", high: "Echelon") -> float | None:
    """Return the population variance of orders over that of incoming orders.

    None with fewer than three weeks or when incoming orders never vary.
    """
    orders, incoming = [row[3] for row in high.log], [row[1] for row in low.log]
    if len(orders) < BULLWHIP_WEEKS or not (spread := _scatter(incoming)):
        return None
    return float(shown(_scatter(orders)) / spread)


def _scatter(units: "list[Units]") -> "Units":
    """Return n squared times the population variance, exactly."""
    return len(units) * sum(u * u for u in units) - sum(units) ** 2


def _backlogs(e: "Echelon") -> "Units":
    return sum(row[5] for row in e.log)
