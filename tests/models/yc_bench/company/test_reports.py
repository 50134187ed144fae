"""What the looking commands print, where the traces do not show it: switches, bounds, copies."""

from decimal import Decimal
from typing import Any

import pytest

from desim import Run
from models.yc_bench import YCBench, reports
from models.yc_bench.actions import (
    EmployeeList,
    FinanceLedger,
    MarketBrowse,
    RunCommand,
    TaskInspect,
    TaskList,
)
from models.yc_bench.commands import CommandRefused
from models.yc_bench.company.state import CompanyState


def company_after(*commands: str, **changes: Any) -> CompanyState:
    """A company of seed 1 after some commands, the program's name left out."""
    run = Run(YCBench(plays_on=True, **changes), 1)
    [decision] = run.advance()
    for command in commands:
        run.answer(decision, RunCommand(f"yc-bench {command}"))
        [decision] = run.advance()
        assert decision.observation.reply.exit_code == 0, decision.observation.reply
    company: CompanyState = run.state
    return company


def accept_and_start(title: str, people: str) -> list[str]:
    """The three commands that get a task going."""
    return [
        f"task accept --task-id {title}",
        f"task assign --task-id {title} --employees {people}",
        f"task dispatch --task-id {title}",
    ]


def test_browse_counts_the_page_unless_it_is_to_count_the_matches() -> None:
    """`browse_total_is_page` is what the published code does."""
    published, repaired = company_after(), company_after(browse_total_is_page=False)
    assert reports.market_browse(published, MarketBrowse(limit=3))["total"] == 3
    every = reports.market_browse(published, MarketBrowse(limit=200))["total"]
    assert reports.market_browse(repaired, MarketBrowse(limit=3))["total"] == every > 3


@pytest.mark.parametrize("limit", [0, -1, -100])
def test_browse_shows_a_row_at_least_unless_it_is_not_to(limit: int) -> None:
    """`browse_shows_one_row` is what the published code does."""
    published, repaired = company_after(), company_after(browse_shows_one_row=False)
    assert len(reports.market_browse(published, MarketBrowse(limit=limit))["tasks"]) == 1
    assert reports.market_browse(repaired, MarketBrowse(limit=limit))["tasks"] == []


def test_browse_shows_what_could_be_accepted_and_nothing_else() -> None:
    """Every row shown is accepted; every task not shown is refused."""
    company = company_after()
    shown = reports.market_browse(company, MarketBrowse(limit=1000))["tasks"]
    fits = [
        task.title
        for task in company.market
        if task.spec.required_prestige <= company.prestige[task.spec.domain]
        and task.spec.required_trust <= task.client.trust
    ]
    assert [row["task_id"] for row in shown] == fits
    assert 0 < len(fits) < len(company.market)


def test_browse_follows_prestige_and_trust() -> None:
    """The selection is kept from look to look, and made anew when a level opens or closes tasks."""
    company = company_after()

    def shown() -> list[str]:
        rows = reports.market_browse(company, MarketBrowse(limit=1000))["tasks"]
        return [row["task_id"] for row in rows]

    def fitting() -> list[str]:
        return [
            task.title
            for task in company.market
            if task.spec.required_prestige <= company.prestige[task.spec.domain]
            and task.spec.required_trust <= task.client.trust
        ]

    sizes = [len(shown())]
    for prestige, trust in (("2.999", "0"), ("3.000", "1.999"), ("3.001", "2.000"), ("1", "0")):
        company.prestige["research"] = Decimal(prestige)
        company.clients[0].trust = Decimal(trust)
        assert shown() == fitting()
        sizes.append(len(shown()))
    assert sizes[0] < sizes[1] < sizes[2] < sizes[3]
    assert sizes[4] == sizes[0]


def test_a_task_under_way_is_printed_anew() -> None:
    """Its progress and its lateness change; rates change with what people learn."""
    company = company_after(
        *accept_and_start("Task-7", "Emp_4,Emp_6,Emp_7,Emp_8"),
        *accept_and_start("Task-1", "Emp_1"),
        "task list",
        "employee list",
        "sim resume",
    )
    progress = {
        row["task_id"]: row["progress_pct"]
        for row in reports.task_list(company, TaskList())["tasks"]
    }
    assert progress["Task-7"] == 100.0
    assert 0 < progress["Task-1"] < 100
    rates = reports.employee_list(company, EmployeeList())["employees"][3]["skill_rates"]
    assert rates["research"] == 7.38


def test_own_tasks_come_with_the_latest_acceptance_first() -> None:
    """Of one instant the one created first comes first."""
    company = company_after(
        "task accept --task-id Task-3",
        *accept_and_start("Task-2", "Emp_4,Emp_6,Emp_7,Emp_8"),
        "sim resume",
        "task accept --task-id Task-1",
    )
    rows = reports.task_list(company, TaskList())["tasks"]
    assert [row["title"] for row in rows] == ["Task-1", "Task-2", "Task-3"]
    done = reports.task_list(company, TaskList(status="completed_success"))
    assert [row["progress_pct"] for row in done["tasks"]] == [100.0]


def test_the_ledger_is_cut_at_midnights() -> None:
    """The last day's entries are left out, those of the first are not; rows keep their number."""
    company = company_after(*accept_and_start("Task-88", "Emp_5"), "sim resume", "sim resume")
    first = FinanceLedger(from_date="02/03/2025", to_date="03/03/2025")
    assert reports.finance_ledger(company, first)["count"] == 8
    second = reports.finance_ledger(company, FinanceLedger(from_date="3/1/2025"))
    assert second["count"] == 8
    assert second["entries"][0]["id"] == "<ledger:8>"
    assert second["total_amount_cents"] == -company.payroll_cents


def test_fines_are_rewards_in_the_published_ledger_alone() -> None:
    """`late_fines_as_rewards` decides the category a fine is found under."""
    late = [*accept_and_start("Task-3", "Emp_1,Emp_2,Emp_3,Emp_6"), "sim resume"]
    for published, category in ((True, "task_reward"), (False, "task_fail_penalty")):
        company = company_after(*late, late_fines_as_rewards=published)
        found = reports.finance_ledger(company, FinanceLedger(category=category))
        assert [entry["amount_cents"] for entry in found["entries"]] == [-284232]


@pytest.mark.parametrize(
    ("report", "action", "why"),
    [
        (reports.task_list, TaskList(status="Active"), r"Invalid status: Active\. Valid: \['mar"),
        (reports.finance_ledger, FinanceLedger(category="x"), r"Invalid category: x\. Valid: \['m"),
        (reports.task_inspect, TaskInspect("it's"), r"Task 'it's' not found\."),
        (
            reports.finance_ledger,
            FinanceLedger(from_date="13/45/2025"),
            r"Invalid date format: 13/45/2025\. Use MM/DD/YYYY\.",
        ),
    ],
)
def test_unknown_values_are_refused(report: Any, action: Any, why: str) -> None:
    """With the published text."""
    with pytest.raises(CommandRefused, match=why):
        report(company_after(), action)
