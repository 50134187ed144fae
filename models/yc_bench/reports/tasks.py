"""Replies of `market browse`, `task list` and `task inspect`."""

from typing import Any

from models.yc_bench.actions import STATUSES, MarketBrowse, TaskInspect, TaskList
from models.yc_bench.company.entities import Task
from models.yc_bench.company.lookup import CommandRefused, named_task
from models.yc_bench.company.open_market import open_tasks
from models.yc_bench.observation import ReadOnlyRow, market_row
from models.yc_bench.state import CompanyState

_SUCCESS = {"completed_success": True, "completed_fail": False}


def market_browse(company: CompanyState, action: MarketBrowse) -> dict[str, Any]:
    """List tasks that could be accepted now, the best paid first."""
    params = company.params
    limit = params.market_browse_default_limit if action.limit is None else action.limit
    skipped = max(0, action.offset)
    matches = _acceptable(company, action)
    rows = matches[skipped : skipped + max(1 if params.browse_shows_one_row else 0, limit)]
    return {
        "total": len(rows) if params.browse_total_is_page else len(matches),
        "offset": action.offset,
        "limit": limit,
        "tasks": [task.listing or _listed(task) for task in rows],
    }


def _acceptable(company: CompanyState, action: MarketBrowse) -> list[Task]:
    domain, least = action.domain, action.reward_min_cents
    if domain is None and least is None:
        return open_tasks(company)
    return [
        task
        for task in open_tasks(company)
        if (domain is None or domain in task.domains)
        and (least is None or task.spec.reward_cents >= least)
    ]


def _listed(task: Task) -> ReadOnlyRow:
    """Build a task's row once: most of the output is rows, and each row is printed many times."""
    task.listing = market_row(task.spec, task.shown, task.client.name, float(task.delta))
    return task.listing


def task_list(company: CompanyState, action: TaskList) -> dict[str, Any]:
    """List the company's own tasks with progress and deadline, the latest acceptance first.

    Raises:
        CommandRefused: The status is unknown.
    """
    status = action.status
    if status is not None and status not in STATUSES:
        raise CommandRefused(f"Invalid status: {status}. Valid: {[*STATUSES]}")
    own = [
        task.closed_row or _own_row(company, task)
        for task in reversed(company.owned)
        if status is None or task.status == status
    ]
    return {"count": len(own), "tasks": own}


def _own_row(company: CompanyState, task: Task) -> ReadOnlyRow:
    """Build a task's row; a task that is over keeps it, so that a year's rows are built once."""
    late = task.deadline is not None and company.world.now > task.deadline
    row = ReadOnlyRow(_own_fields(company, task, late=late))
    if not task.open:
        task.closed_row = row
    return row


def _own_fields(company: CompanyState, task: Task, *, late: bool) -> dict[str, Any]:
    return {
        "task_id": task.shown,
        "title": task.title,
        "status": task.status,
        "client_name": task.client.name,
        "progress_pct": _percent(task),
        "deadline": _date_text(company, task.deadline),
        "at_risk": task.status == "active" and late,
    }


def task_inspect(company: CompanyState, action: TaskInspect) -> dict[str, Any]:
    """Show one task of the market or the company with all facts open to a player.

    Raises:
        CommandRefused: No task has that name.
    """
    task = named_task(company, action.task_id)
    spec = task.spec
    return {
        "task_id": task.shown,
        "title": task.title,
        "status": task.status,
        "client_name": task.client.name,
        "required_prestige": spec.required_prestige,
        "required_trust": spec.required_trust,
        "reward_funds_cents": spec.reward_cents,
        "reward_prestige_delta": float(task.delta),
        "skill_boost_pct": float(task.boost),
        "accepted_at": _date_text(company, task.accepted),
        "deadline": _date_text(company, task.deadline),
        "completed_at": _date_text(company, task.finished),
        "success": _SUCCESS.get(task.status),
        "progress_pct": _percent(task),
        "requirements": [_requirement(task, domain) for domain in task.domains],
        "assignments": _assignments(company, task),
    }


def _requirement(task: Task, domain: str) -> dict[str, Any]:
    return {
        "domain": domain,
        "required_qty": float(task.required),
        "completed_qty": float(task.completed),
        "remaining_qty": float(task.required - task.completed),
    }


def _assignments(company: CompanyState, task: Task) -> list[dict[str, Any]]:
    team = sorted((who.name, tick) for who, tick in zip(task.team, task.assigned, strict=True))
    return [{"employee": name, "assigned_at": company.clock.text(tick)} for name, tick in team]


def _percent(task: Task) -> float:
    # A task without work is done.
    return round(float(100 * task.completed / task.required), 2) if task.required else 100.0


def _date_text(company: CompanyState, tick: int | None) -> str | None:
    return None if tick is None else company.clock.text(tick)
