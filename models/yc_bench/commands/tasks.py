"""Assignment, dispatch and cancellation of tasks (SPEC section 11)."""

from bisect import insort
from typing import Any

from models.yc_bench.actions import TaskAssign, TaskAssignAll, TaskCancel, TaskDispatch
from models.yc_bench.company.completion import lose_prestige, set_trust
from models.yc_bench.company.entities import Task
from models.yc_bench.company.lookup import (
    CommandCrashed,
    CommandRefused,
    by_row,
    named_staff,
    named_task,
)
from models.yc_bench.company.work import forget, note_workload, plan_anew, sharing
from models.yc_bench.rules.formulas import trust_after_cancellation
from models.yc_bench.state import CompanyState


def assign(company: CompanyState, action: TaskAssign) -> dict[str, Any]:
    """Put people on a task; if it is active, plan anew the tasks that share them."""
    task = named_task(company, action.task_id)
    if not task.open:
        raise CommandRefused(
            f"Task {action.task_id} must be planned or active to assign (current: {task.status})."
        )
    named = named_staff(company, action.employees)
    new = [who for who in named if who not in task.team]
    if len(new) > len(set(new)):
        raise CommandCrashed("IntegrityError")
    for who in new:
        who.tasks.append(task)
        task.team.append(who)
        task.assigned.append(company.world.now)
        who.load += task.status == "active" or company.params.planned_tasks_split
    if task.status == "active":
        note_workload(company)
        plan_anew(company, sharing(named if company.params.reassignment_replans else new))
    return {
        "task_id": task.shown,
        "status": task.status,
        "newly_assigned": [who.name for who in new],
        "total_assigned": _names(task),
    }


def dispatch(company: CompanyState, action: TaskDispatch) -> dict[str, Any]:
    """Start work on a planned task."""
    task = named_task(company, action.task_id)
    if task.status != "planned":
        raise CommandRefused(
            f"Task {action.task_id} must be planned to dispatch (current: {task.status})."
        )
    if not task.team:
        raise CommandRefused(
            "No employees assigned. Use `task assign-all` or `task assign --employee-id Emp_1` "
            "first."
        )
    task.status = "active"
    company.planned.remove(task)
    company.planned_shown = None
    insort(company.active, task, key=by_row)
    for who in task.team:
        who.load += not company.params.planned_tasks_split
    note_workload(company)
    plan_anew(company, sharing(task.team))
    company.start(task)
    if company.world.log:
        company.world.log.info("task started", task=task.shown, staff=_names(task))
    return {
        "task_id": task.shown,
        "status": task.status,
        "assignment_count": len(task.team),
        "assigned_employees": _names(task),
    }


def cancel(company: CompanyState, action: TaskCancel) -> dict[str, Any]:
    """Give a task up as the published code intends; with `cancel_fails` it breaks as published."""
    task = named_task(company, action.task_id)
    if not task.open:
        raise CommandRefused(f"Task {action.task_id} cannot be cancelled (current: {task.status}).")
    params = company.params
    if params.cancel_fails:
        raise CommandCrashed("AttributeError")
    old, trust = dict(company.prestige), float(task.client.trust)
    lose_prestige(company, task, params.penalty_cancel_multiplier)
    left = trust_after_cancellation(params, trust)
    set_trust(company, task.client, left)
    give_up(company, task)
    company.world.log.info("task cancelled", task=task.shown, reason=action.reason)
    new = company.prestige
    changes = {
        each: {
            "old": float(old[each]),
            "new": float(new[each]),
            "delta": float(new[each] - old[each]),
        }
        for each in task.domains
    }
    return {
        "task_id": task.shown,
        "status": task.status,
        "reason": action.reason,
        "cancel_penalty_per_domain": params.penalty_cancel_multiplier * float(task.delta),
        "prestige_changes": changes,
        "trust_delta": left - trust,
        "bankrupt": company.bankrupt,
    }


def assign_all(_: CompanyState, __: TaskAssignAll) -> dict[str, Any]:
    """Refuse always, as published."""
    raise CommandRefused(
        "assign-all is not available. Use `task assign --task-id <ID> --employees "
        "Emp_1,Emp_4,Emp_7` to assign specific employees."
    )


def give_up(company: CompanyState, task: Task) -> None:
    """Cancel an open task and plan anew the tasks that share its people; no penalty is posted."""
    team, active = task.team, task.status == "active"
    task.status = "cancelled"
    (company.active if active else company.planned).remove(task)
    company.planned_shown = None
    note_workload(company)
    forget(task)
    for who in team:
        who.tasks.remove(task)
        who.load -= active or company.params.planned_tasks_split
    plan_anew(company, sharing(team))


def _names(task: Task) -> list[str]:
    return sorted(who.name for who in task.team)
