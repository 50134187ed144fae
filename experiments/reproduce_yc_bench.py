"""Do our companies end where the published ones do, and how do our policies rank among its models?

Every published number of YC-Bench and of its public leaderboard, beside ours; then the recorded
bots of the reference (`bots.md`), seed by seed: left of each arrow the reference, right of it ours.
"""

from functools import cache
from statistics import fmean
from typing import Any

import click
from beside import console, named, show, table
from fates import CannotBe, NeedsModel, Parameter, Rebuilt, Rule
from published import Line, find, read
from rich.table import Table
from yc_bots import bots
from yc_parameters import parameter

from desim import Run, play, sweep
from desim.statistics.intervals import interval
from models.yc_bench import YCBench

PAPER = "yc_bench"

#: Seeds of the published greedy baseline, and of the recorded bots.
SEEDS = (1, 2, 3)
GREEDY = "published_greedy"
#: Episodes of a policy that searches; the others play all seeds.
SLOW, FEW = ("planner", "planner,rerolls=0", "oracle"), 5
POLICIES = (
    *(f"published_{n}" for n in ("greedy", "random", "throughput", "prestige")),
    "focus,tasks=1",
    "focus",
    "learning_focus",
    "planner",
    "planner,rerolls=0",
    "oracle",
)


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
DESIGN = CannotBe("the size of the paper's experiment")
OURS = Parameter("preset paper", parameter)
RULES = (
    Rule("table_2", "Context window", "*", CannotBe("a constant of `llm`'s conversation: 20")),
    Rule("table_2", "Domain count", "*", CannotBe("no parameter: every task has one domain")),
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
    Rule("text", "models|seeds|runs", "*", DESIGN),
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
    out.print(bots())
    out.print(ranking(seeds, jobs))


def ranking(seeds: int, jobs: int) -> Table:
    """Return our policies over many seeds, among the published language models."""
    rows = table("yc_bench/default", "funds, dollars", "95 %", "least", "bankrupt")
    lines = []
    for name, row in find(PAPER, "leaderboard").items():
        worth, ruined = row.cells["net_worth"], row.cells["bankrupt_runs"]
        lines.append((worth.value, [f"paper: {name}", worth.text, "", "", ruined.text]))
    for policy in POLICIES:
        episodes = min(seeds, FEW) if policy in SLOW else seeds
        funds = sweep("yc_bench/default", policy, range(1, episodes + 1), jobs=jobs).values("score")
        mean = interval(funds)
        half = f"± {mean.half:,.0f}" if mean.half is not None else ""
        bankrupt = f"{sum(f < 0 for f in funds)}/{episodes}"
        cells = [
            named(YCBench(), policy),
            f"{mean.mean:,.0f}",
            half,
            f"{min(funds):,.0f}",
            bankrupt,
        ]
        lines.append((mean.mean, cells))
    for _, cells in sorted(lines, key=lambda line: -line[0]):
        rows.add_row(*cells)
    return rows


if __name__ == "__main__":  # spawn imports this file again
    main()
