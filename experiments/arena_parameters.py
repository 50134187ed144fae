"""The parameters of EnterpriseArena under the names that the paper's tables give them."""

from typing import Any

from published import Line

from models.enterprise_arena import EnterpriseArena

BASIS_POINTS = 10_000
THOUSAND, MILLION = 1_000, 1_000_000


def parameter(line: Line, column: str) -> Any:
    """Return a parameter of preset `paper` by its row and column, in the paper's unit."""
    game = EnterpriseArena.preset("paper")
    if column == "value":
        return _listed(game)[line.label]
    if column in ("span", "span_months"):
        return len(game.table)
    return (_noise(game) | _funding(game))[line.label][column]


def _listed(game: EnterpriseArena) -> dict[str, Any]:
    """Return the parameters of Section 3 and 4.1 and of the appendix."""
    return {
        "horizon_months": game.horizon,
        "horizon_years": game.horizon / 12,
        "initial_cash": game.opening_cash / MILLION,
        "initial_borrowers": game.opening_users,
        "average_loan": game.average_loan / THOUSAND,
        "equity_shares": game.opening_shares / MILLION,
        "share_price": game.share_price,
        "tool_budget": game.tool_budget,
        "valuation_multiple": game.valuation_multiple,
        "tool_penalty": game.tool_charge,
        "fill_rate_low": game.fill_range[0],
        "fill_rate_high": game.fill_range[1],
        "delay_low": game.delay_range[0],
        "delay_high": game.delay_range[1],
        "equity_round_factor": game.round_decay,
        "debt_penalty_slope": game.leverage_penalty,
        "debt_penalty_threshold": game.leverage_threshold,
        "debt_penalty_zero": game.leverage_threshold + 1 / game.leverage_penalty,
        "debt_rate_spread": game.leverage_spread * BASIS_POINTS,
        "notes_shown": game.notes_shown,
    }


def _noise(game: EnterpriseArena) -> dict[str, dict[str, float]]:
    """Return the rows of Table 4."""
    low, high = game.gross_margin_range
    least, most = game.ebitda_margin_range
    slow, fast = game.collection_range
    return {
        "Gross margin": {"sigma": game.sigma_gross_margin, "clip_low": low, "clip_high": high},
        "EBITDA margin": {"sigma": game.sigma_ebitda_margin, "clip_low": least, "clip_high": most},
        "User growth rate": {"sigma": game.sigma_growth},
        "Collection rate": {
            "sigma": game.sigma_collection,
            "clip_low": slow,
            "clip_high": fast,
            "x0": game.collection_base,
        },
    }


def _funding(game: EnterpriseArena) -> dict[str, dict[str, float]]:
    """Return the rows of Table 5."""
    return {
        "Funding outcome (equity)": {"per_round_factor": game.round_decay},
        "Funding outcome (debt)": {"leverage_threshold": game.leverage_threshold},
        "Fill rate": {"low": game.fill_range[0], "high": game.fill_range[1]},
        "Settlement delay": {"low": game.delay_range[0], "high": game.delay_range[1]},
        "Contract rate": {
            "leverage_threshold": game.leverage_threshold,
            "leverage_spread": game.leverage_spread * BASIS_POINTS,
        },
    }
