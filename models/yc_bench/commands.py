"""The founder's commands and what they change at once (SPEC section 11); resuming is a process.

Every check comes before any change, so a refused command leaves no trace.
"""

from bisect import insort
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from models.yc_bench import generation, reports
from models.yc_bench.actions import (
    ClientHistory,
    ClientList,
    CompanyStatus,
    EmployeeList,
    FinanceLedger,
    MarketBrowse,
    ReportMonthly,
    ScratchpadAppend,
    ScratchpadClear,
    ScratchpadRead,
    ScratchpadWrite,
    SimInit,
    TaskAccept,
    TaskAssign,
    TaskAssignAll,
    TaskCancel,
    TaskDispatch,
    TaskInspect,
    TaskList,
)
from models.yc_bench.company import Company, Employee, Task, enter
from models.yc_bench.completion import lose_prestige, set_trust
from models.yc_bench.numbers import stored
from models.yc_bench.refusal import Crashed, Refused
from models.yc_bench.work import forget, plan_anew, sharing

__all__ = ["FOUNDED", "NO_ACTIVE_TASKS", "execute"]

FOUNDED = "A simulation already exists. Only one simulation per database is supported."
NO_ACTIVE_TASKS = (
    "No active tasks. Accept and dispatch a task before calling sim resume. "
    "Use: market browse → task accept → task dispatch → sim resume"
)

#: Trust lost with a cancellation, as a share of fragility (SPEC 2.3).
_CANCELLED = 1.0


def execute(company: Company, action: Any) -> Any:
    """Carry out a command that takes no time and return the document it prints.

    Raises:
        Refused: Nothing has changed.
        Crashed: The published command breaks here; nothing has changed.
    """
    return _COMMANDS[type(action)](company, action)


# -- tasks -----------------------------------------------------------------------------------------


def accept(company: Company, action: TaskAccept) -> dict[str, Any]:
    """Take a task from the market; another comes in its place."""
    task = _found(company, action.task_id)
    _require_acceptable(company, task, action.task_id)
    now, game = company.world.now, company.game
    quantity = _agreed_quantity(company, task)
    swollen = _swollen(company, task, quantity)
    due = quantity if game.deadline_before_inflation else swollen
    days = max(game.deadline_min_biz_days, int(due / game.deadline_qty_per_day))
    hours = (game.workday_end_hour - game.workday_start_hour) * days
    task.deadline = company.clock.add_hours(now, Decimal(hours))
    task.required, task.status, task.accepted = stored(Decimal(swollen), 4), "planned", now
    company.market.remove(task)
    company.owned.append(task)
    insort(company.planned, task, key=_row)
    company.planned_shown = None
    # The published runner keeps an honest client's trust unrounded until the step is over.
    if game.accepting_step_unrounded and not task.client.spec.adversarial:
        task.client.unrounded = True
    replacement = _replace(company, task)
    return {
        "task_id": task.shown,
        "status": task.status,
        "accepted_at": company.clock.text(now),
        "deadline": None if task.deadline is None else company.clock.text(task.deadline),
        "replacement_task_id": replacement.shown,
    }


def assign(company: Company, action: TaskAssign) -> dict[str, Any]:
    """Put people on a task; on an active one the plans of all they work on change."""
    task = _found(company, action.task_id)
    if not task.open:
        raise Refused(
            f"Task {action.task_id} must be planned or active to assign (current: {task.status})."
        )
    named = _named(company, action.employees)
    new = [who for who in named if who not in task.team]
    if len(new) > len(set(new)):
        raise Crashed("IntegrityError")
    for who in new:
        who.tasks.append(task)
        task.team.append(who)
        task.assigned.append(company.world.now)
        who.load += task.status == "active" or company.game.planned_tasks_split
    if task.status == "active":
        plan_anew(company, sharing(named if company.game.reassignment_replans else new))
    return {
        "task_id": task.shown,
        "status": task.status,
        "newly_assigned": [who.name for who in new],
        "total_assigned": _names(task),
    }


def dispatch(company: Company, action: TaskDispatch) -> dict[str, Any]:
    """Start work on a planned task."""
    task = _found(company, action.task_id)
    if task.status != "planned":
        raise Refused(
            f"Task {action.task_id} must be planned to dispatch (current: {task.status})."
        )
    if not task.team:
        raise Refused(
            "No employees assigned. Use `task assign-all` or `task assign --employee-id Emp_1` "
            "first."
        )
    task.status = "active"
    company.planned.remove(task)
    company.planned_shown = None
    insort(company.active, task, key=_row)
    for who in task.team:
        who.load += not company.game.planned_tasks_split
    plan_anew(company, sharing(task.team))
    company.start(task)
    return {
        "task_id": task.shown,
        "status": task.status,
        "assignment_count": len(task.team),
        "assigned_employees": _names(task),
    }


def cancel(company: Company, action: TaskCancel) -> dict[str, Any]:
    """Give a task up, as the published code means it; as it is, it breaks."""
    task = _found(company, action.task_id)
    if not task.open:
        raise Refused(f"Task {action.task_id} cannot be cancelled (current: {task.status}).")
    game = company.game
    if game.cancel_fails:
        raise Crashed("AttributeError")
    old, trust = company.prestige[task.domain], float(task.client.trust)
    lose_prestige(company, task, game.penalty_cancel_multiplier)
    left = max(0.0, trust - game.trust_fragility * _CANCELLED)
    set_trust(company, task.client, left)
    _give_up(company, task)
    new = company.prestige[task.domain]
    change = {"old": float(old), "new": float(new), "delta": float(new - old)}
    return {
        "task_id": task.shown,
        "status": task.status,
        "reason": action.reason,
        "cancel_penalty_per_domain": game.penalty_cancel_multiplier * float(task.delta),
        "prestige_changes": {task.domain: change},
        "trust_delta": left - trust,
        "bankrupt": company.bankrupt,
    }


def assign_all(_: Company, __: TaskAssignAll) -> dict[str, Any]:
    """Refuse, whatever is asked."""
    raise Refused(
        "assign-all is not available. Use `task assign --task-id <ID> --employees "
        "Emp_1,Emp_4,Emp_7` to assign specific employees."
    )


def _found(company: Company, name: str) -> Task:
    task = company.task(name)
    if task is None:
        raise Refused(f"Task '{name}' not found.")
    return task


def _require_acceptable(company: Company, task: Task, name: str) -> None:
    needs, level = task.spec.required_prestige, company.prestige[task.domain]
    if task.status != "market":
        raise Refused(f"Task {name} is not in market status (current: {task.status}).")
    if needs > level:
        raise Refused(
            f"Company prestige in {task.domain} ({level:.1f}) does not meet task requirement "
            f"({needs})."
        )
    needs, trust = task.spec.required_trust, task.client.trust
    if needs > 0 and trust < needs:
        raise Refused(
            f"Client trust with {task.client.name} ({trust:.1f}) does not meet task requirement "
            f"({needs})."
        )


def _agreed_quantity(company: Company, task: Task) -> int:
    """Return the work the deadline is set from: trust saves an honest client's work."""
    game, quantity = company.game, task.spec.required_qty
    if task.client.spec.adversarial:
        return quantity
    share = float(task.client.trust) / game.trust_max
    return max(game.minimum_qty, int(quantity * (1 - game.trust_work_reduction_max * share)))


def _swollen(company: Company, task: Task, quantity: int) -> int:
    """Return the work there is in truth: an adversarial client's task swells."""
    game = company.game
    if not (task.client.spec.adversarial and game.scope_creep):
        return quantity
    inflation = max(game.scope_creep_floor, game.loyalty_severity * abs(task.client.spec.loyalty))
    for _ in range(game.inflations):
        swollen = max(game.minimum_qty, quantity * (1 + inflation))
        quantity = int(min(game.scope_creep_limit, swollen))
    return quantity


def _replace(company: Company, taken: Task) -> Task:
    """Draw what comes in a taken task's place on the market."""
    game, drawn = company.game, company.drawn
    if game.replacement_stream == "slot":
        generation_ = company.generations.get(taken.spec.slot, 0)
        company.generations[taken.spec.slot] = generation_ + 1
        number = 1000 * taken.spec.slot + generation_
    else:
        generation_, number = 0, company.replaced
    company.replaced += 1
    spec = company.foreseen.get((taken.spec.slot, generation_)) or generation.replacement(
        game, company.world.seed, taken.spec, drawn, number
    )
    return enter(company, spec)


def _named(company: Company, names: tuple[str, ...]) -> list[Employee]:
    found = []
    for name in filter(None, (name.strip() for name in names)):
        who = company.employee(name)
        if who is None:
            raise Refused(f"Employee '{name}' not found.")
        found.append(who)
    return found


def _give_up(company: Company, task: Task) -> None:
    team, active = task.team, task.status == "active"
    task.status = "cancelled"
    (company.active if active else company.planned).remove(task)
    company.planned_shown = None
    forget(task)
    for who in team:
        who.tasks.remove(task)
        who.load -= active or company.game.planned_tasks_split
    plan_anew(company, sharing(team))


def _names(task: Task) -> list[str]:
    return sorted(who.name for who in task.team)


def _row(task: Task) -> int:
    return task.row


# -- notes -----------------------------------------------------------------------------------------


def read(company: Company, _: ScratchpadRead) -> dict[str, Any]:
    """Show the notes."""
    return {"content": company.scratchpad}


def write(company: Company, action: ScratchpadWrite) -> dict[str, Any]:
    """Replace the notes."""
    company.scratchpad = action.content
    return {"ok": True, "content": company.scratchpad}


def append(company: Company, action: ScratchpadAppend) -> dict[str, Any]:
    """Add a line to the notes."""
    former = company.scratchpad
    company.scratchpad = f"{former}\n{action.content}" if former else action.content
    return {"ok": True, "content": company.scratchpad}


def clear(company: Company, _: ScratchpadClear) -> dict[str, Any]:
    """Throw the notes away."""
    company.scratchpad = ""
    return {"ok": True}


def found(_: Company, __: SimInit) -> dict[str, Any]:
    """Refuse: there is a company."""
    raise Refused(FOUNDED)


_COMMANDS: Mapping[type, Callable[[Company, Any], Any]] = {
    SimInit: found,
    TaskAccept: accept,
    TaskAssign: assign,
    TaskAssignAll: assign_all,
    TaskDispatch: dispatch,
    TaskCancel: cancel,
    CompanyStatus: reports.company_status,
    EmployeeList: reports.employee_list,
    MarketBrowse: reports.market_browse,
    TaskList: reports.task_list,
    TaskInspect: reports.task_inspect,
    ClientList: reports.client_list,
    ClientHistory: reports.client_history,
    FinanceLedger: reports.finance_ledger,
    ReportMonthly: reports.report_monthly,
    ScratchpadRead: read,
    ScratchpadWrite: write,
    ScratchpadAppend: append,
    ScratchpadClear: clear,
}
