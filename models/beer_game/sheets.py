"""What a stage's manager may look up: the stage's own weeks, goods and costs."""

from typing import TYPE_CHECKING, Any

from models.beer_game.state import DIGITS, shown

if TYPE_CHECKING:
    from models.beer_game.state import Chain, Echelon

__all__ = ["sheets"]


def sheets(chain: "Chain", role: str) -> dict[str, list[dict[str, Any]]]:
    """Return the weeks, stock moves and costs of one stage; of the others nothing is told."""
    echelon = next(e for e in chain.echelons if e.name == role)
    return {
        "weeks": [
            {"week": number, **week._asdict()} for number, week in enumerate(chain.history(role), 1)
        ],
        "stock_moves": _moves(chain, echelon),
        "costs": _costs(chain, echelon),
    }


def _moves(chain: "Chain", e: "Echelon") -> list[dict[str, Any]]:
    """List what came to the stage's stock and left it, with what was then on hand."""
    rows: list[dict[str, Any]] = []
    on_hand = shown(0)
    for move in chain.goods.moves:
        if e.on_hand in (move.source, move.target):
            came = move.target == e.on_hand
            units = shown(move.units if came else -move.units)
            on_hand += units
            other = move.source if came else move.target
            rows.append({"week": move.time, "units": units, "place": other, "on_hand": on_hand})
    return rows


def _costs(chain: "Chain", e: "Echelon") -> list[dict[str, Any]]:
    """List a stage's cost week by week, in money, with the sum so far."""
    rows: list[dict[str, Any]] = []
    total, unit = 0, 10**DIGITS
    for entry in chain.book.journal:
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
