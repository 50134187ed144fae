"""Does our firm have the published earnings, and what are the best possible ones?

Every published number of the Enterprise Digital Twin in the FirmBench paper, beside ours; then the
figures of the reference SPEC (section 11): left of each arrow the reference, right of it ours.
"""

from functools import cache
from typing import Any

import click
from attrs import frozen
from beside import (
    NeedsModel,
    Parameter,
    Rebuilt,
    Rule,
    pair,
    show,
    show_reference,
    suite_size,
    verdict,
)
from edt_protocol import Scores, play_six
from published import Line, find, markdown, number, read

from desim import Policy, play
from desim.catalog.known_scores import known_scores_of
from desim.show.console import console
from desim.show.table import Table
from models.edt import Decide, EnterpriseDigitalTwin, Window
from models.edt.desk import Briefing

PAPER = "firmbench"
POLICIES = ("simple", "greedy", "random", "local_search", "optimal")
GAME = EnterpriseDigitalTwin()
MILLION = 1e6

six = cache(play_six)


def best_mean() -> float:
    """Return the published E_mean whose E_norm is 1, money."""
    best = next(r for r in find(PAPER, "table_3").values() if r.cells["e_norm"].value == 1)
    return float(best.cells["e_mean"].value) * MILLION


def columns(scores: Scores) -> dict[str, float]:
    """Return the columns of Table 3 that hold figures, in its units."""
    return {
        "e_norm": scores.e_mean / best_mean(),
        "e_mean": scores.e_mean / MILLION,
        "e_std": scores.e_std / MILLION,
        "util": scores.mean_step_utilization,
    }


def parameter(line: Line, _: str) -> Any:
    """Return a parameter of the published firm by its name in the paper."""
    firm = GAME.loaded_scenario
    first = firm.projects[0]
    staff = firm.consultants[0]
    own = {
        "start_time": firm.starttime,
        "stop_time": firm.stoptime,
        "salary": staff.salary,
        "workplace_cost": staff.workplace_cost,
        "consultants": len(firm.consultants),
        "projects": len(firm.projects),
    }
    name = line.label.removeprefix("project1_")
    if name != line.label:
        return getattr(first, name)
    return own[name] if name in own else getattr(firm, name)


RULES = (
    Rule(
        "table_3",
        "Simple",
        "*",
        Rebuilt("simple, published", lambda _, c: columns(six(GAME, "simple"))[c]),
    ),
    Rule("table_3", "*", "*", NeedsModel("firmbench.toml")),
    Rule("table_1", "*EDT", "*", NeedsModel("firmbench.toml")),
    Rule("parameters_edt", "iterations", "*", suite_size("firmbench.toml")),
    Rule("parameters_edt", "*", "*", Parameter("preset published", parameter)),
    Rule("text", "util_above", "*", NeedsModel("firmbench.toml")),
)


@click.command()
def main() -> None:
    """Print the published sheets, the tables of the SPEC, our ranking and the bound."""
    out = console()
    show(out, read(PAPER), RULES)
    show_reference(out, by_staff, by_risk)
    out.print(ranking())
    known = known_scores_of(EnterpriseDigitalTwin, "published")
    out.print(f"no decision earns more than {known.every.bound:,.0f}")


def ranking() -> Table:
    """Return the paper's methods and our policies in the columns of Table 3, the best first."""
    names = ("e_mean", "e_std", "e_norm", "util")
    lines = {
        f"paper: {name}": {column: row.cells[column].value for column in names}
        for name, row in find(PAPER, "table_3").items()
    }
    lines |= {policy: columns(six(GAME, policy)) for policy in POLICIES}
    ordered = sorted(lines.items(), key=lambda each: -each[1]["e_mean"])
    rows = ([name, *(f"{line[c]:.4g}" for c in names)] for name, line in ordered)
    return Table(["six episodes, millions", *names], rows)


@frozen
class Everything(Policy):
    """Take every project for the longest window."""

    consultants: int
    revenue_risk: float

    def decide(self, seen: Briefing) -> Decide:
        windows = (Window(0, seen.horizon),) * len(seen.projects)
        return Decide(self.consultants, self.revenue_risk, windows)


def by_staff() -> Table:
    """Return the table of earnings by consultants, with every gate closed."""
    rows = []
    for consultants, earned, *_, used in markdown("edt/SPEC.md", "11. Simple", 0)[1:]:
        metrics = earnings(int(consultants), 0.0)
        ours = (metrics["accumulated_earnings"], round(metrics["mean_step_utilization"], 5))
        known = (number(earned), number(used))
        rows.append([consultants, *map(pair, known, ours), verdict(known, ours)])
    return Table(["SPEC: consultants, R = 0", "earnings", "utilisation", "same"], rows)


def by_risk() -> Table:
    """Return the table of earnings by risk level, by number of consultants."""
    levels, *lines = markdown("edt/SPEC.md", "11. Simple", 1)
    rows = []
    for level, *known in zip(*[levels[1:], *(line[1:] for line in lines)], strict=True):
        for each in level.replace(",", " ").split():
            ours = [
                earnings(int(line[0].split()[-1]), float(each))["accumulated_earnings"]
                for line in lines
            ]
            published = list(map(number, known))
            rows.append([each, *map(pair, published, ours), verdict(published, ours)])
    return Table(["SPEC: R", *(line[0] for line in lines), "same"], rows)


def earnings(consultants: int, level: float) -> dict[str, float]:
    """Return the metrics of an episode that takes every project."""
    return dict(play(GAME, {"manager": Everything(consultants, level)}).metrics)


if __name__ == "__main__":
    main()
