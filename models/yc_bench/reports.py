"""Replies of the read-only commands (SPEC 13.1): plain documents, keys in the published order.

Rows of facts that no longer change are built once, and shared by the documents.
"""

from datetime import datetime
from typing import Any

from models.yc_bench import actions as do
from models.yc_bench.commands import CommandRefused, named_task, open_tasks
from models.yc_bench.company.accounts import INTERCOMPANY
from models.yc_bench.company.entities import Client, Task
from models.yc_bench.company.state import CompanyState

#: The published categories of the ledger.
_CATEGORIES = ["monthly_payroll", "task_reward", "task_fail_penalty"]
_CATEGORIES += ["task_cancel_penalty", "payment_dispute"]


def company_status(company: CompanyState, _: do.CompanyStatus) -> dict[str, Any]:
    """Show funds, prestige, payroll, runway and counts of tasks."""
    clock, now = company.clock, company.world.now
    funds, payroll = company.funds_cents, company.payroll_cents
    active, planned = len(company.active), len(company.planned)
    completed = sum(client.succeeded + client.failed for client in company.clients)
    return {
        "company_id": "<company>",
        "company_name": company.params.company_name,
        "funds_cents": funds,
        "prestige": {each: float(company.prestige[each]) for each in sorted(company.prestige)},
        "sim_time": clock.text(now),
        "horizon_end": clock.text(clock.horizon),
        "tasks": {
            "active": active,
            "planned": planned,
            "completed": completed,
            "cancelled": len(company.owned) - active - planned - completed,
        },
        "employees": len(company.employees),
        "next_payroll": clock.text(clock.next_payroll(now)),
        "monthly_payroll_cents": payroll,
        "risk": {
            "months_runway": round(funds / payroll, 2) if payroll else None,
            "bankrupt": company.bankrupt,
        },
    }


def employee_list(company: CompanyState, _: do.EmployeeList) -> dict[str, Any]:
    """List the staff with salaries, rates by domain and active tasks."""
    staff = [
        {
            "name": who.name,
            "tier": who.spec.tier,
            "salary_cents": who.salary_cents,
            "skill_rates": {each: round(float(who.rates[each]), 2) for each in sorted(who.rates)},
            "active_tasks": sorted([task.title for task in who.tasks if task.status == "active"]),
        }
        for who in company.employees
    ]
    return {"count": len(staff), "employees": staff}


def client_list(company: CompanyState, _: do.ClientList) -> dict[str, Any]:
    """List clients by name with trust, tier and specialties; a lost client is left out."""
    present = [
        {
            "client_id": f"<client:{client.name}>",
            "name": client.name,
            "trust_level": float(client.trust),
            "tier": client.spec.tier,
            "specialties": list(client.spec.specialties),
        }
        for client in _by_name(company)
        if client.lost is None
    ]
    return {"count": len(present), "clients": present}


def client_history(company: CompanyState, _: do.ClientHistory) -> dict[str, Any]:
    """List clients by name with tasks done and failed for each, lost clients included."""
    rows = [
        {
            "client_name": client.name,
            "trust_level": float(client.trust),
            "tasks_succeeded": (done := client.succeeded),
            "tasks_failed": (failed := client.failed),
            "failure_rate_pct": round(100 * failed / (done + failed or 1), 1),
        }
        for client in _by_name(company)
    ]
    return {"count": len(rows), "client_history": rows}


def _by_name(company: CompanyState) -> list[Client]:
    return sorted(company.clients, key=lambda client: client.name)


def market_browse(company: CompanyState, action: do.MarketBrowse) -> dict[str, Any]:
    """List tasks that could be accepted now, the best paid first."""
    params = company.params
    limit = params.market_browse_default_limit if action.limit is None else action.limit
    skipped = max(0, action.offset)
    domain, least = action.domain, action.reward_min_cents
    matches = open_tasks(company)
    if domain is not None:
        matches = [task for task in matches if domain in task.domains]
    if least is not None:
        matches = [task for task in matches if task.spec.reward_cents >= least]
    rows = matches[skipped : skipped + max(1 if params.browse_shows_one_row else 0, limit)]
    return {
        "total": len(rows) if params.browse_total_is_page else len(matches),
        "offset": action.offset,
        "limit": limit,
        "tasks": [task.listing or _listed(task) for task in rows],
    }


def _listed(task: Task) -> dict[str, Any]:
    spec, quantity = task.spec, float(task.spec.required_qty)
    task.listing = {
        "task_id": task.shown,
        "client_name": task.client.name,
        "required_prestige": spec.required_prestige,
        "required_trust": spec.required_trust,
        "reward_funds_cents": spec.reward_cents,
        "reward_prestige_delta": float(task.delta),
        "skill_boost_pct": spec.skill_boost,
        "requirements": [{"domain": each, "required_qty": quantity} for each in spec.domains],
    }
    return task.listing


def task_list(company: CompanyState, action: do.TaskList) -> dict[str, Any]:
    """List the company's own tasks with progress and deadline, the latest acceptance first."""
    status = action.status
    if status is not None and status not in do.STATUSES:
        raise CommandRefused(f"Invalid status: {status}. Valid: {[*do.STATUSES]}")
    own = [
        task.closed_row or _own_row(company, task)
        for task in reversed(company.owned)
        if status is None or task.status == status
    ]
    return {"count": len(own), "tasks": own}


def _own_row(company: CompanyState, task: Task) -> dict[str, Any]:
    late = task.deadline is not None and company.world.now > task.deadline
    row = {
        "task_id": task.shown,
        "title": task.title,
        "status": task.status,
        "client_name": task.client.name,
        "progress_pct": _percent(task),
        "deadline": company.clock.text_of(task.deadline),
        "at_risk": task.status == "active" and late,
    }
    if not task.open:
        task.closed_row = row
    return row


def task_inspect(company: CompanyState, action: do.TaskInspect) -> dict[str, Any]:
    """Show one task of the market or the company with all facts open to a player."""
    task = named_task(company, action.task_id)
    spec = task.spec
    team = sorted((who.name, tick) for who, tick in task.team.items())
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
        "accepted_at": company.clock.text_of(task.accepted),
        "deadline": company.clock.text_of(task.deadline),
        "completed_at": company.clock.text_of(task.finished),
        "success": {"completed_success": True, "completed_fail": False}.get(task.status),
        "progress_pct": _percent(task),
        "requirements": [
            {
                "domain": domain,
                "required_qty": float(task.required),
                "completed_qty": float(task.completed),
                "remaining_qty": float(task.required - task.completed),
            }
            for domain in task.domains
        ],
        "assignments": [
            {"employee": name, "assigned_at": company.clock.text(tick)} for name, tick in team
        ],
    }


def _percent(task: Task) -> float:
    # A task without work is done.
    return round(float(100 * task.completed / task.required), 2) if task.required else 100.0


def finance_ledger(company: CompanyState, action: do.FinanceLedger) -> dict[str, Any]:
    """List entries of the published ledger; both bounds are midnights and inclusive."""
    category = action.category
    first, last = _midnight(company, action.from_date), _midnight(company, action.to_date)
    # That of group cash is known once some was exchanged.
    grouped = INTERCOMPANY in company.accounts.book.held
    known = [*_CATEGORIES, INTERCOMPANY] if grouped else _CATEGORIES
    if category is not None and category not in known:
        raise CommandRefused(f"Invalid category: {category}. Valid: {known}")
    entries: list[dict[str, Any]] = [
        {
            "id": f"<ledger:{number}>",
            "occurred_at": company.clock.text(row.tick),
            "category": row.category,
            "amount_cents": row.cents,
            "ref_type": row.reference_type,
            "ref_id": f"<{row.reference_type}:{row.reference}>",
        }
        for number, row in enumerate(company.accounts.entries())
        if (first is None or first <= row.tick)
        and (last is None or row.tick <= last)
        and category in (None, row.category)
    ]
    total = sum(entry["amount_cents"] for entry in entries)
    return {"count": len(entries), "total_amount_cents": total, "entries": entries}


def _midnight(company: CompanyState, day: str | None) -> int | None:
    if day is None:
        return None
    try:
        return company.clock.tick(datetime.strptime(day, "%m/%d/%Y"))  # noqa: DTZ007 (no zones)
    except ValueError:
        raise CommandRefused(f"Invalid date format: {day}. Use MM/DD/YYYY.") from None


def report_monthly(_: CompanyState, __: do.ReportMonthly) -> dict[str, Any]:
    """Return the published list of monthly reports, which is always empty."""
    return {"count": 0, "months": []}
