"""Does our firm have the published earnings, and what are the best possible ones?

Every published number of the Enterprise Digital Twin in the FirmBench paper, beside ours; then the
figures of the reference SPEC (section 11): left of each arrow the reference, right of it ours.
"""

from functools import cache
from typing import Any

import click
from beside import console, show, table
from edt_protocol import Scores, play_six
from edt_spec import risk, staff
from fates import CannotBe, NeedsModel, Parameter, Rebuilt, Rule
from published import Line, find, read
from rich.table import Table

from models.edt import EnterpriseDigitalTwin
from policies.informed.edt.optimal import solve

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
    assert scores.e_mean is not None
    assert scores.e_std is not None
    assert scores.mean_step_utilization is not None
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
    Rule("parameters_edt", "iterations", "*", CannotBe("the size of the paper's experiment")),
    Rule("parameters_edt", "*", "*", Parameter("preset published", parameter)),
    Rule("text", "util_above", "*", NeedsModel("firmbench.toml")),
)


@click.command()
def main() -> None:
    """Print the published sheets, the tables of the SPEC, our ranking and the bound."""
    out = console()
    show(out, read(PAPER), RULES)
    out.print(staff())
    out.print(risk())
    out.print(ranking())
    solution = solve(GAME)
    out.print(
        f"found {solution.found:,.0f}; no decision earns more than {solution.bound:,.0f}; "
        f"gap {solution.gap:,.0f} ({solution.gap / solution.bound:.2%})"
    )


def ranking() -> Table:
    """Return the paper's methods and our policies in the columns of Table 3, the best first."""
    names = ("e_mean", "e_std", "e_norm", "util")
    lines = {
        f"paper: {name}": {column: row.cells[column].value for column in names}
        for name, row in find(PAPER, "table_3").items()
    }
    lines |= {policy: columns(six(GAME, policy)) for policy in POLICIES}
    rows = table("six episodes, millions", *names)
    for name, line in sorted(lines.items(), key=lambda each: -each[1]["e_mean"]):
        rows.add_row(name, *(f"{line[c]:.4g}" for c in names))
    return rows


if __name__ == "__main__":
    main()
