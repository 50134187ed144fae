"""The tables of a stage's manager: the stage's own weeks, goods and costs."""

from typing import Any

from models.beer_game.accounts import DIGITS
from models.beer_game.state import Chain, Echelon, shown


def tables(chain: Chain, role: str) -> dict[str, list[dict[str, Any]]]:
    """Return the weeks, stock moves and costs of one stage only."""
    echelon = chain.echelon(role)
    return {
        "weeks": [
            {"week": number, **week._asdict()} for number, week in enumerate(chain.history(role), 1)
        ],
        "stock_moves": _moves(chain, echelon),
        "costs": _costs(chain, echelon),
    }


def _moves(chain: Chain, e: Echelon) -> list[dict[str, Any]]:
    """List the moves into and out of a stage's stock, with the units on hand after each."""
    rows: list[dict[str, Any]] = []
    on_hand = shown(0)
    for move in chain.goods.moves:
        if e.on_hand in (move.source, move.target):
            inward = move.target == e.on_hand
            units = shown(move.units if inward else -move.units)
            on_hand += units
            other = move.source if inward else move.target
            rows.append({"week": move.time, "units": units, "place": other, "on_hand": on_hand})
    return rows


def _costs(chain: Chain, e: Echelon) -> list[dict[str, Any]]:
    """List the costs of a stage by week, in money, with the sum so far."""
    rows: list[dict[str, Any]] = []
    total, unit = 0, 10**DIGITS
    for entry in chain.book.journal:
        if e.holding not in entry.amounts:  # opening cash, or cash of the group
            continue
        holding, backlog = entry.amounts[e.holding], entry.amounts[e.backlog]
        total += holding + backlog
        rows.append(
            {
                "week": entry.time,
                "holding": holding / unit,
                "backlog": backlog / unit,
                "total": total / unit,
            }
        )
    return rows
