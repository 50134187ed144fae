"""Options of a desk: commands that the world takes, whatever the last reply was."""

from typing import Any

import pytest

from desim import Run, play
from models.yc_bench import YCBench
from models.yc_bench.actions import (
    ClientHistory,
    ClientList,
    Command,
    CompanyStatus,
    EmployeeList,
    FinanceLedger,
    MarketBrowse,
    ReportMonthly,
    TaskAccept,
    TaskInspect,
    TaskList,
)
from models.yc_bench.desk import options

LOOKS: list[Command] = [
    CompanyStatus(),
    EmployeeList(),
    TaskList(),
    ClientList(),
    ClientHistory(),
    FinanceLedger(),
    ReportMonthly(),
    TaskInspect("Task-1"),
]


def desk_after(*commands: Command) -> Any:
    """Return the founder's observation after some commands."""
    run = Run(YCBench(), 1)
    (decision,) = run.advance()
    for command in commands:
        run.answer(decision, command)
        (decision,) = run.advance()
    return decision.observation


def names(desk: Any) -> list[str]:
    """Return the class names of a desk's options."""
    return [type(option.action).__name__ for option in options(desk)]


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: type(look).__name__)
def test_every_look_leaves_the_founder_with_options(look: Command) -> None:
    """`company status` counts tasks under the key under which `market browse` lists them."""
    assert names(desk_after(look)) == ["MarketBrowse", "EndTurn"]
    assert names(desk_after(TaskAccept("Task-1"), look))[-1] == "EndTurn"


def test_tasks_of_the_market_are_options() -> None:
    """After a look at the market each listed task may be accepted."""
    assert names(desk_after(MarketBrowse(limit=3))) == [*["TaskAccept"] * 3, "EndTurn"]


@pytest.mark.parametrize("preset", ["default", "direct", "paper"])
@pytest.mark.parametrize("spec", ["greedy", "random"])
def test_the_generic_policies_play_to_an_end(spec: str, preset: str) -> None:
    """Options alone suffice for a year, or for a bankruptcy."""
    assert play(YCBench.preset(preset), spec, seed=2).ended in {"horizon_end", "bankruptcy"}
