"""The parameters of YC-Bench under the names that the paper's tables give them."""

from collections.abc import Sequence
from typing import Any

from published import Line

from models.yc_bench import YCBench
from models.yc_bench.rules.specs import DOMAINS

PERCENT, CENTS = 100, 100
THOUSAND = 1_000


def parameter(line: Line, column: str) -> Any:
    """Return a parameter of preset `paper` by its row and column, in the paper's unit."""
    game = YCBench.preset("paper")
    return (_single(game) | _tiers(game) | _draws(game) | _drawing(game))[line.label][column]


def _single(game: YCBench) -> dict[str, dict[str, Any]]:
    values = {
        "Horizon": game.horizon_years,
        "Auto-advance": game.auto_advance_after_turns,
        "Employees": game.num_employees,
        "Initial funds": game.initial_funds_cents / CENTS / THOUSAND,
        "Salary bump": game.salary_bump_pct * PERCENT,
        "Market tasks": game.num_market_tasks,
        "Browse limit": game.market_browse_default_limit,
        "Clients": game.num_clients,
        "Decay": game.prestige_decay_per_day,
        "Reward scale": game.reward_prestige_scale,
        "Qty/day": game.deadline_qty_per_day,
        "Min days": game.deadline_min_biz_days,
        "Fail penalty": game.penalty_fail_funds_pct * PERCENT,
        "Max": game.trust_max,
        "Build rate": game.trust_build_tasks,
        "Work reduction": game.trust_work_reduction_max * PERCENT,
        "Gated fraction": game.trust_gating_fraction * PERCENT,
        "Focus pressure": game.trust_focus_pressure,
        "Fraction": game.loyalty_rat_fraction * PERCENT,
    }
    return {name: {"value": value} for name, value in values.items()}


def _tiers(game: YCBench) -> dict[str, dict[str, Any]]:
    return {
        tier.name.capitalize(): {
            **_range([cents / CENTS / THOUSAND for cents in tier.salary_cents]),
            "share": tier.share * PERCENT,
            "rate_low": tier.rate[0],
            "rate_high": tier.rate[1],
        }
        for tier in game.tiers
    }


def _draws(game: YCBench) -> dict[str, dict[str, Any]]:
    reward = [cents / CENTS / THOUSAND for cents in game.reward_funds_cents]
    return {
        "Business hours": _range((game.workday_start_hour, game.workday_end_hour)),
        "Range": _range((game.prestige_min, game.prestige_max)),
        "Req. prestige": _triangle(game.required_prestige),
        "Task reward": _triangle(reward),
        "Work qty": _triangle(game.required_qty),
    }


def _drawing(game: YCBench) -> dict[str, dict[str, Any]]:
    """Return what drawings and sentences name."""
    milestones = (*game.task_progress_milestones, 1.0)
    values = {
        "start": game.initial_funds_cents / CENTS / THOUSAND,
        "staff": game.num_employees,
        "domains": len(DOMAINS),
        "adversarial": game.loyalty_rat_fraction * PERCENT,
        "horizon": game.horizon_years,
        "inflation": 1 + game.scope_creep_floor,
        "task_checkpoints": tuple(share * PERCENT for share in milestones),
    }
    return {name: {"value": value} for name, value in values.items()}


def _range(pair: Sequence[float]) -> dict[str, float]:
    return {"low": pair[0], "high": pair[1]}


def _triangle(draw: Sequence[float]) -> dict[str, float]:
    low, high, mode = draw
    return {"low": low, "high": high, "value": mode}
