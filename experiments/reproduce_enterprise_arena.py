"""Does our lender reproduce the calibrated prototype, and how do our rules compare with humans?

Every published number of EnterpriseArena, beside ours; then the calibration targets of the
reference, and Table 2 with our rules.
"""

from collections.abc import Callable, Sequence
from functools import cache

import click
from arena_columns import COLUMNS, Episodes
from arena_parameters import parameter
from arena_targets import PROFILES, compare
from arena_targets import RULES as CALIBRATED
from beside import console, named, show, table
from fates import CannotBe, NeedsModel, Parameter, Rebuilt, Rule
from published import find, read
from rich.table import Table

from desim import Rows, sweep
from desim.statistics.intervals import interval
from models.enterprise_arena import EnterpriseArena

PAPER = "enterprise_arena"
#: Rules of the tables, without those of the targets that only repeat them.
POLICIES = (*CALIBRATED.values(), "treasurer")
#: Columns that follow from raising nothing, whatever else an officer does.
FUNDING = "score|survival_pct|*_raised|months_survived|*_cash|fr_*"


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
            Rebuilt("human_like (informed), paper; calibrated to this row", human.column),
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
        Rule("parameters_all", "models|rounds|human_experts|data_types", "*", CannotBe(DESIGN)),
        Rule("parameters_all", "actions|tools|initial_debt", "*", CannotBe(STRUCTURE)),
        Rule("parameters_all", "*", "*", ours),
        Rule("*", "*", "*", NeedsModel("enterprise_arena.toml")),
    )


FILING = "the documents are those of a named company; ours are constructed (models/.../opening.py)"
DESIGN = "the size of the paper's experiment or of its data"
STRUCTURE = "no parameter: part of the model's code, the same there"


@click.command()
@click.option("--seeds", default=200, show_default=True, help="Episodes of each rule.")
@click.option("--jobs", default=2, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the published sheets, the targets, and Table 2 with our rules."""
    out = console()

    @cache
    def played(profile: str) -> Rows:
        return sweep(f"enterprise_arena/{profile}", list(POLICIES), range(seeds), jobs=jobs)

    show(out, read(PAPER), rules(lambda: played("paper")))
    early = sweep("enterprise_arena/paper", "never_raise", range(seeds), set={"horizon": 3})
    out.print(compare({profile: played(profile) for profile in PROFILES}, early, seeds))
    for profile in PROFILES:
        for first in range(0, len(COLUMNS), 8):
            out.print(standing(profile, played(profile), list(COLUMNS)[first : first + 8]))


def standing(profile: str, rows: Rows, columns: Sequence[str]) -> Table:
    """Return some columns of Table 2: the paper's human, then our rules, mean ± 95 %."""
    lines = table(profile, *columns)
    human = find(PAPER, "table_2")["Human"]
    lines.add_row("paper: human, 2 experts", *(human.cells[column].text for column in columns))
    for rule in POLICIES:
        mine = Episodes(rule, lambda: rows)
        texts = [mean_half(mine.column(human, column)) for column in columns]
        name = named(EnterpriseArena.preset(profile), rule)
        lines.add_row(name.replace(",instrument=equity", ""), *texts)
    return lines


def mean_half(known: Sequence[float]) -> str:
    """Return a mean and half its 95 % interval as text; empty if no episode has the figure."""
    if not known:
        return ""
    mean = interval(known)
    return f"{mean.mean:.2f}" + (f" ± {mean.half:.2f}" if mean.half is not None else "")


if __name__ == "__main__":  # spawn imports this file again
    main()
