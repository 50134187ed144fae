"""Does our lender reproduce the calibrated prototype, and how do our rules compare with humans?

Every published number of EnterpriseArena, beside ours; then the calibration targets of the
reference, and Table 2 with our rules.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, get_args

import click
from arena_targets import PROFILES, compare, shown
from arena_targets import RULES as CALIBRATED
from attrs import frozen
from beside import (
    CannotBe,
    NeedsModel,
    Parameter,
    Rebuilt,
    Rule,
    named,
    show,
    show_reference,
    suite_size,
)
from published import Line, find, read

from desim import Rows, Run, sweep
from desim.show.console import console
from desim.show.table import Table
from desim.statistics.intervals import interval
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import Action, Tool

PAPER = "enterprise_arena"
#: Rules of the tables, without those of the targets that only repeat them.
POLICIES = (*CALIBRATED.values(), "treasurer")
#: Columns that follow from raising nothing, whatever else an officer does.
FUNDING = "score|survival_pct|*_raised|months_survived|*_cash|fr_*"
BASIS_POINTS = 10_000
CENTS, THOUSAND, MILLION = 100, 1_000, 1_000_000
#: Our metric for a column of Table 2, and its factor.
COLUMNS = {
    "score": ("score", 1),
    "survival_pct": ("survived", 100),
    "months_survived": ("months", 1),
    "equity_raised": ("equity_raised", 1),
    "debt_raised": ("debt_raised", 1),
    "total_raised": ("total_raised", 1),
    "fundraise_success_pct": ("success_rate", 100),
    "peak_cash": ("peak_cash", 1),
    "end_cash": ("end_cash", 1),
    "low_cash": ("low_cash", 1),
    "tools_per_month": ("tool_calls_per_month", 1),
    "fr_action_pct": ("request_share", 100),
    "fr_success_action_pct": ("successful_request_share", 100),
    "book_closing_pct": ("closing_share", 100),
    "pass_count": ("passes", 1),
    "pass_pct": ("pass_share", 100),
}


@frozen
class Episodes:
    """Episodes of one rule, preset `paper`."""

    policy: str
    rows: Callable[[], Rows] | None

    def column(self, _: Line, column: str) -> list[float]:
        """Return a column of Table 2, one value for each episode."""
        name, scale = COLUMNS[column]
        return [scale * value for value in shown(self._mine, name)]

    def closings(self, *_: object) -> list[float]:
        """Return the number of book closings of each episode."""
        months = self._mine.values("months")
        shares = self._mine.values("closing_share")
        return [share * (month + 1) for share, month in zip(shares, months, strict=True)]

    @property
    def _mine(self) -> Rows:
        assert self.rows is not None
        return self.rows().where(policy=self.policy)


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
        "initial_debt": opening_debt(game) / MILLION,
        "actions": len(get_args(Action)),
        "tools": len(get_args(Tool)) // 2,  # each has the paper's name and the public simulator's
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


def opening_debt(game: EnterpriseArena) -> float:
    """Return the notes outstanding when the first month begins, dollars."""
    run = Run(game, 0)
    run.advance()
    return run.state.debt / CENTS


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


def rules(played: Callable[[], Rows] | None = None) -> tuple[Rule, ...]:
    """Return the fates of all numbers of the paper.

    Args:
        played: Returns the episodes of preset `paper`; called when a figure is printed. Without it
            no figure can be computed, but numbers can be counted.
    """
    human, none = Episodes("human_like", played), Episodes("never_raise", played)
    ours = Parameter("preset paper", parameter)
    return (
        Rule(
            "table_2",
            "Human",
            "*",
            Rebuilt("human_like (future), paper; calibrated to this row", human.column),
        ),
        Rule(
            "table_2",
            "Llama-3.3-70B-Instruct",
            FUNDING,
            Rebuilt("never_raise, paper; raises nothing, as this model", none.column),
        ),
        Rule("figure_3", "human_end", "*", Rebuilt("human_like, paper", human.closings)),
        Rule(
            "figure_4", "human_*", "*", CannotBe("a span or a bound, read from the experts' runs")
        ),
        Rule("table_6", "*Board*|Business*|Capital*|Financial*|Vendor*", "*", CannotBe(FILING)),
        Rule("table_7", "*", "*", CannotBe("a fact about a language model, not about the world")),
        Rule("table_4|table_5|table_6", "*", "*", ours),
        Rule("parameters_all", "human_experts|data_types", "*", CannotBe(DESIGN)),
        Rule("parameters_all", "models|rounds", "*", suite_size("enterprise_arena.toml")),
        Rule("parameters_all", "*", "*", ours),
        Rule("*", "*", "*", NeedsModel("enterprise_arena.toml")),
    )


FILING = "the documents are those of a named company; ours are constructed (documents.py)"
DESIGN = "the size of the paper's experiment or of its data"


@click.command()
@click.option("--seeds", default=200, show_default=True, help="Episodes of each rule.")
@click.option("--jobs", default=2, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the published sheets, the targets, and Table 2 with our rules."""
    out = console()

    @cache
    def played(profile: str, **changes: str) -> Rows:
        world = f"enterprise_arena/{profile}"
        return sweep(world, list(POLICIES), range(seeds), jobs=jobs, set=changes)

    show(out, read(PAPER), rules(lambda: played("paper")))
    early = sweep("enterprise_arena/paper", "never_raise", range(seeds), set={"horizon": 3})
    every = {profile: played(profile) for profile in PROFILES}
    # The SPEC's prototype tests solvency when a month opens; the paper, at its end.
    opening = {"solvency": "opening"}
    before = {"paper": played("paper", **opening)}
    show_reference(
        out,
        lambda: compare(every, early, seeds),
        lambda: compare(before, early, seeds, **opening),
    )
    for profile in PROFILES:
        for first in range(0, len(COLUMNS), 8):
            out.print(standing(profile, played(profile), list(COLUMNS)[first : first + 8]))


def standing(profile: str, rows: Rows, columns: Sequence[str]) -> Table:
    """Return some columns of Table 2: the paper's human, then our rules, mean ± 95 %."""
    human = find(PAPER, "table_2")["Human"]
    lines = [["paper: human, 2 experts", *(human.cells[column].text for column in columns)]]
    for rule in POLICIES:
        mine = Episodes(rule, lambda: rows)
        texts = [mean_half(mine.column(human, column)) for column in columns]
        name = named(EnterpriseArena.preset(profile), rule)
        lines.append([name.replace(",instrument=equity", ""), *texts])
    return Table([profile, *columns], lines)


def mean_half(known: Sequence[float]) -> str:
    """Return a mean and half its 95 % interval as text; empty if no episode has the figure."""
    if not known:
        return ""
    mean = interval(known)
    return f"{mean.mean:.2f}" + (f" ± {mean.half:.2f}" if mean.half is not None else "")


if __name__ == "__main__":  # spawn imports this file again
    main()
