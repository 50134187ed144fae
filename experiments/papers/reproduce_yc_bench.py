"""Do our companies end where the published ones do, and how do our policies rank among its models?

Every published number of YC-Bench and of its public leaderboard, beside ours; then the recorded
bots of the reference (`bots.md`), seed by seed: left of each arrow the reference, right of it ours.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import click
from beside import (
    NeedsModel,
    Parameter,
    Rebuilt,
    Rule,
    named,
    pair,
    show,
    show_reference,
    suite_size,
    verdict,
)
from published import Line, find, markdown, number, read

from desim import Run, play, sweep
from desim.show.console import console
from desim.show.table import Table
from desim.statistics.intervals import interval
from models.yc_bench import YCBench
from models.yc_bench.specs import DOMAINS
from policies.llm.worlds.yc_bench import HISTORY

PAPER = "yc_bench"

#: Seeds of the published greedy baseline, and of the recorded bots.
SEEDS = (1, 2, 3)
GREEDY = "published_greedy"
#: Episodes of a policy that searches; the others play all seeds.
SLOW, FEW = ("planner", "planner,rerolls=0"), 5
POLICIES = (
    *(f"published_{n}" for n in ("greedy", "random", "throughput", "prestige")),
    "focus,tasks=1",
    "focus",
    "learning_focus",
    "planner",
    "planner,rerolls=0",
)
#: Policies by the heading of their recorded runs, and presets by its second word.
BOTS = {
    **{n: f"published_{n}" for n in ("greedy", "random", "throughput", "prestige")},
    "focus1": "focus,tasks=1",
    "focus2": "focus,tasks=2",
}
PRESETS = {"direct": "direct", "cli": "default"}
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
        "Domain count": game.domain_count,
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


@cache
def greedy(seed: int) -> dict[str, Any]:
    """Return the metrics of a run of the published baseline."""
    return dict(play("yc_bench/direct", GREEDY, seed).metrics)


def curve(_: Line, month: str) -> float:
    """Return the mean funds of the baseline, dollars; a debt counts as none, as published."""
    months = list(greedy(SEEDS[0])["funds_by_month_cents"])
    if month == months[0]:  # the published January is the start
        return YCBench().initial_funds_cents / 100
    return fmean(max(0, greedy(s)["funds_by_month_cents"][month]) for s in SEEDS) / 100


def board(_: Line, column: str) -> float:
    """Return a column of the leaderboard for the baseline."""
    if column == "bankrupt_runs":
        return sum(greedy(seed)["bankrupt_on"] is not None for seed in SEEDS)
    return fmean(max(0, greedy(seed)["final_funds_cents"]) for seed in SEEDS) / 100


def market_share(*_: Any) -> list[float]:
    """Return the adversarial share of the first market, percent."""
    shares = []
    for seed in SEEDS:
        run = Run(YCBench(), seed)
        run.advance()
        market = run.state.market
        shares.append(100 * fmean(task.client.spec.adversarial for task in market))
    return shares


BASELINE = "published_greedy, direct, seeds 1 to 3"
MODELS, MEMORY = NeedsModel("yc_bench.toml"), NeedsModel("yc_bench_memory.toml")
OURS = Parameter("preset paper", parameter)
WINDOW = Parameter("the option history of llm", lambda *_: HISTORY)
RULES = (
    Rule("table_2", "Context window", "*", WINDOW),
    Rule("table_2|architecture_drawing", "*", "*", OURS),
    Rule("curves", "Greedy Bot", "*", Rebuilt(BASELINE, curve)),
    Rule("leaderboard", "Greedy Bot", "*", Rebuilt(BASELINE, board)),
    Rule(
        "figure_4a",
        "market share line",
        "*",
        Rebuilt("the first market, default, seeds 1 to 3", market_share),
    ),
    Rule("figure_6", "inflation", "*", OURS),
    Rule("figure_10", "*", "*", MEMORY),
    Rule("text", "models|seeds|runs", "*", suite_size("yc_bench.toml")),
    Rule("text", "task_checkpoints|domains", "*", OURS),
    Rule("*", "*", "*", MODELS),
)


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Episodes of each policy.")
@click.option("--jobs", default=2, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the published sheets, the recorded bots and the ranking."""
    out = console()
    show(out, read(PAPER), RULES)
    show_reference(out, bots)
    out.print(ranking(seeds, jobs))


def ranking(seeds: int, jobs: int) -> Table:
    """Return our policies over many seeds, among the published language models."""
    lines = []
    for name, row in find(PAPER, "leaderboard").items():
        worth, ruined = row.cells["net_worth"], row.cells["bankrupt_runs"]
        lines.append((worth.value, [f"paper: {name}", worth.text, "", "", ruined.text]))
    for policy in POLICIES:
        episodes = min(seeds, FEW) if policy in SLOW else seeds
        funds = sweep("yc_bench/default", policy, range(1, episodes + 1), jobs=jobs).values("score")
        mean = interval(funds)
        half = f"± {mean.half:,.0f}" if mean.half is not None else ""
        cells = [
            named(YCBench(), policy),
            f"{mean.mean:,.0f}",
            half,
            f"{min(funds):,.0f}",
            f"{sum(f < 0 for f in funds)}/{episodes}",
        ]
        lines.append((mean.mean, cells))
    heads = ["yc_bench/default", "funds, dollars", "95 %", "least", "bankrupt"]
    return Table(heads, (cells for _, cells in sorted(lines, key=lambda line: -line[0])))


def bots() -> Table:
    """Return the recorded bots, seed by seed."""
    rows = []
    for name, preset, policy in recorded():
        for seed, funds, ok, late, _, prestige, turns, *_ in markdown("ycbench/bots.md", name)[1:]:
            m = play(f"yc_bench/{preset}", policy, int(seed)).metrics
            known = tuple(map(number, (funds, ok, late, turns, prestige)))
            counts = ("tasks_succeeded", "tasks_failed", "turns", "max_prestige")
            ours = (m["final_funds_cents"] / 100, *(m[count] for count in counts))
            texts = map(pair, known[:4], ours[:4])
            rows.append([f"{policy}, {preset}", seed, *texts, verdict(known, ours)])
    heads = ["bots.md", "seed", "dollars at the end", "ok", "late", "turns", "same"]
    return Table(heads, rows)


def recorded() -> Iterator[tuple[str, str, str]]:
    """Yield heading, preset and policy of the recorded runs."""
    for kind, preset in PRESETS.items():
        for name, policy in BOTS.items():
            if kind == "cli" or not name.startswith("focus"):
                yield f"{name} ({kind})", preset, policy


if __name__ == "__main__":  # spawn imports this file again
    main()
