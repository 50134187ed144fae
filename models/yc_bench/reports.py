"""What the looking commands print (SPEC 13.1): a plain document each, keys in the published order.

Nothing here changes anything, and every document is built anew, so that whoever keeps one keeps
what was true then.
"""

from datetime import datetime
from typing import Any

from models.yc_bench.actions import (
    ClientHistory,
    ClientList,
    CompanyStatus,
    EmployeeList,
    FinanceLedger,
    MarketBrowse,
    ReportMonthly,
    TaskInspect,
    TaskList,
)
from models.yc_bench.company import Client, Company, Employee, Task
from models.yc_bench.refusal import Refused

__all__ = [
    "CATEGORIES",
    "STATUSES",
    "client_history",
    "client_list",
    "company_status",
    "employee_list",
    "finance_ledger",
    "market_browse",
    "report_monthly",
    "task_inspect",
    "task_list",
]

#: The published statuses of a task.
STATUSES = ["market", "planned", "active", "completed_success", "completed_fail", "cancelled"]
#: The published categories of the ledger.
CATEGORIES = [
    "monthly_payroll",
    "task_reward",
    "task_fail_penalty",
    "task_cancel_penalty",
    "payment_dispute",
]

_SUCCESS = {"completed_success": True, "completed_fail": False}


# -- the company -----------------------------------------------------------------------------------


def company_status(company: Company, _: CompanyStatus) -> dict[str, Any]:
    """Show funds, prestige, payroll, runway and counts of tasks."""
    clock, now = company.clock, company.world.now
    funds, payroll = company.funds_cents, company.payroll_cents
    return {
        "company_id": "<company>",
        "company_name": company.game.company_name,
        "funds_cents": funds,
        "prestige": {
            domain: float(company.prestige[domain]) for domain in sorted(company.prestige)
        },
        "sim_time": clock.text(now),
        "horizon_end": clock.text(company.horizon),
        "tasks": _counts(company),
        "employees": len(company.employees),
        "next_payroll": clock.text(clock.next_payroll(now)),
        "monthly_payroll_cents": payroll,
        # Without payroll the money lasts for ever, which no number tells.
        "risk": {
            "months_runway": round(funds / payroll, 2) if payroll else None,
            "bankrupt": funds < 0,
        },
    }


def _counts(company: Company) -> dict[str, int]:
    active, planned = len(company.active), len(company.planned)
    completed = sum(client.succeeded + client.failed for client in company.clients)
    cancelled = len(company.owned) - active - planned - completed
    return {"active": active, "planned": planned, "completed": completed, "cancelled": cancelled}


def employee_list(company: Company, _: EmployeeList) -> dict[str, Any]:
    """List the staff with salaries, rates by domain and active tasks."""
    return {
        "count": len(company.employees),
        "employees": [_employee(who) for who in company.employees],
    }


def _employee(who: Employee) -> dict[str, Any]:
    return {
        "name": who.name,
        "tier": who.spec.tier,
        "salary_cents": who.salary_cents,
        "skill_rates": {domain: round(float(who.rates[domain]), 2) for domain in sorted(who.rates)},
        "active_tasks": sorted(task.title for task in who.tasks if task.status == "active"),
    }


# -- tasks -----------------------------------------------------------------------------------------


def market_browse(company: Company, action: MarketBrowse) -> dict[str, Any]:
    """List tasks that could be accepted now, the best paid first."""
    game = company.game
    limit = game.market_browse_default_limit if action.limit is None else action.limit
    skipped = max(0, action.offset)
    matches = _acceptable(company, action)
    rows = matches[skipped : skipped + max(1 if game.browse_shows_one_row else 0, limit)]
    return {
        "total": len(rows) if game.browse_total_is_page else len(matches),
        "offset": action.offset,
        "limit": limit,
        "tasks": [_copied(task.listing or _listed(task)) for task in rows],
    }


def _acceptable(company: Company, action: MarketBrowse) -> list[Task]:
    levels = {domain: int(level) for domain, level in company.prestige.items()}
    if action.domain is not None:
        levels = {action.domain: levels[action.domain]}
    least = action.reward_min_cents
    return [
        task
        for task in company.market
        if task.spec.required_prestige <= levels.get(task.spec.domain, -1)
        and (not task.spec.required_trust or task.spec.required_trust <= task.client.trust)
        and (least is None or task.spec.reward_cents >= least)
    ]


def _copied(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "requirements": [{**row["requirements"][0]}]}


def _listed(task: Task) -> dict[str, Any]:
    """Make a task's row once: rows are the bulk of what is printed, and each is printed often."""
    spec = task.spec
    task.listing = {
        "task_id": task.shown,
        "client_name": task.client.spec.name,
        "required_prestige": spec.required_prestige,
        "required_trust": spec.required_trust,
        "reward_funds_cents": spec.reward_cents,
        "reward_prestige_delta": float(task.delta),
        "skill_boost_pct": spec.skill_boost,
        "requirements": [{"domain": spec.domain, "required_qty": float(spec.required_qty)}],
    }
    return task.listing


def task_list(company: Company, action: TaskList) -> dict[str, Any]:
    """List the company's own tasks, those accepted last first, with progress and deadline."""
    status = action.status
    if status is not None and status not in STATUSES:
        raise Refused(f"Invalid status: {status}. Valid: {STATUSES}")
    own = [task for task in company.owned if status is None or task.status == status]
    own.sort(key=lambda task: (-(task.accepted or 0), task.row))
    return {"count": len(own), "tasks": [_own_row(company, task) for task in own]}


def _own_row(company: Company, task: Task) -> dict[str, Any]:
    late = task.deadline is not None and company.world.now > task.deadline
    return {
        "task_id": task.shown,
        "title": task.title,
        "status": task.status,
        "client_name": task.client.name,
        "progress_pct": _percent(task),
        "deadline": _text(company, task.deadline),
        "at_risk": task.status == "active" and late,
    }


def task_inspect(company: Company, action: TaskInspect) -> dict[str, Any]:
    """Show one task of the market or the company with everything known of it.

    Raises:
        Refused: There is none of that name.
    """
    task = company.task(action.task_id)
    if task is None:
        raise Refused(f"Task '{action.task_id}' not found.")
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
        "accepted_at": _text(company, task.accepted),
        "deadline": _text(company, task.deadline),
        "completed_at": _text(company, task.finished),
        "success": _SUCCESS.get(task.status),
        "progress_pct": _percent(task),
        "requirements": [_requirement(task)],
        "assignments": _assignments(company, task),
    }


def _requirement(task: Task) -> dict[str, Any]:
    return {
        "domain": task.domain,
        "required_qty": float(task.required),
        "completed_qty": float(task.completed),
        "remaining_qty": float(task.required - task.completed),
    }


def _assignments(company: Company, task: Task) -> list[dict[str, Any]]:
    team = sorted((who.name, tick) for who, tick in zip(task.team, task.assigned, strict=True))
    return [{"employee": name, "assigned_at": company.clock.text(tick)} for name, tick in team]


def _percent(task: Task) -> float:
    # A task without work is done.
    return round(float(100 * task.completed / task.required), 2) if task.required else 100.0


def _text(company: Company, tick: int | None) -> str | None:
    return None if tick is None else company.clock.text(tick)


# -- clients ---------------------------------------------------------------------------------------


def client_list(company: Company, _: ClientList) -> dict[str, Any]:
    """List clients by name with trust, tier and specialties."""
    return {
        "count": len(company.clients),
        "clients": [
            {
                "client_id": f"<client:{client.name}>",
                "name": client.name,
                "trust_level": float(client.trust),
                "tier": client.spec.tier,
                "specialties": list(client.spec.specialties),
            }
            for client in _by_name(company)
        ],
    }


def client_history(company: Company, _: ClientHistory) -> dict[str, Any]:
    """List clients by name with tasks done and failed for each."""
    return {
        "count": len(company.clients),
        "client_history": [
            {
                "client_name": client.name,
                "trust_level": float(client.trust),
                "tasks_succeeded": client.succeeded,
                "tasks_failed": client.failed,
                "failure_rate_pct": _failure_rate(client),
            }
            for client in _by_name(company)
        ],
    }


def _failure_rate(client: Client) -> float:
    total = client.succeeded + client.failed
    return round(100 * client.failed / total, 1) if total else 0.0


def _by_name(company: Company) -> list[Client]:
    return sorted(company.clients, key=lambda client: client.name)


# -- money -----------------------------------------------------------------------------------------


def finance_ledger(company: Company, action: FinanceLedger) -> dict[str, Any]:
    """List entries of the published ledger; both bounds are midnights and inclusive.

    Raises:
        Refused: There is no such category, or a bound is no date.
    """
    kind = action.category
    first, last = _midnight(company, action.from_date), _midnight(company, action.to_date)
    if kind is not None and kind not in CATEGORIES:
        raise Refused(f"Invalid category: {kind}. Valid: {CATEGORIES}")
    entries = [
        _entry(company, row, *entry)
        for row, entry in enumerate(company.accounts.entries())
        if (first is None or first <= entry[0])
        and (last is None or entry[0] <= last)
        and kind in (None, entry[1])
    ]
    total = sum(entry["amount_cents"] for entry in entries)
    return {"count": len(entries), "total_amount_cents": total, "entries": entries}


def _entry(
    company: Company, row: int, tick: int, category: str, cents: int, kind: str, name: str
) -> dict[str, Any]:
    return {
        "id": f"<ledger:{row}>",
        "occurred_at": company.clock.text(tick),
        "category": category,
        "amount_cents": cents,
        "ref_type": kind,
        "ref_id": f"<{kind}:{name}>",
    }


def _midnight(company: Company, day: str | None) -> int | None:
    if day is None:
        return None
    try:
        return company.clock.tick(datetime.strptime(day, "%m/%d/%Y"))  # noqa: DTZ007 (no zones)
    except ValueError:
        raise Refused(f"Invalid date format: {day}. Use MM/DD/YYYY.") from None


def report_monthly(_: Company, __: ReportMonthly) -> dict[str, Any]:
    """Show the published monthly reports, of which there are never any."""
    return {"count": 0, "months": []}
