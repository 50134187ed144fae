"""The founder's commands that take no time, and their effects at once (SPEC section 11).

Every check comes before any change, so a refused command costs nothing and leaves no trace.
"""

from bisect import insort
from decimal import Decimal
from typing import Any

from models.yc_bench import actions as do
from models.yc_bench import formulas
from models.yc_bench.company.entities import Client, StaffMember, Task, best_paid, by_row
from models.yc_bench.company.state import CompanyState
from models.yc_bench.company.work import (
    give_up,
    lose_prestige,
    note_workload,
    plan_anew,
    set_trust,
    sharing,
)
from models.yc_bench.specs import stored
from models.yc_bench.world import draw_replacement

#: Replacements of a slot that have numbers of their own.
_GENERATIONS = 1000

#: Characters that the scratchpad holds at most; the published one has no limit.
MOST_CHARACTERS = 1_000_000


#: Commands that are always refused, as published.
REFUSED = {
    do.SimInit: "A simulation already exists. Only one simulation per database is supported.",
    do.TaskAssignAll: "assign-all is not available. Use `task assign --task-id <ID> --employees "
    "Emp_1,Emp_4,Emp_7` to assign specific employees.",
}


class CommandRefused(Exception):
    """The console answers with `{"error": text}` and exit code 1."""


class CommandCrashed(Exception):
    """The published command breaks with an exception of this name: exit code 1, no document."""


def named_task(company: CompanyState, name: str) -> Task:
    """Return a task by title or identifier, or refuse the command."""
    if task := company.task(name):
        return task
    raise CommandRefused(f"Task '{name}' not found.")


def _named_staff(company: CompanyState, names: tuple[str, ...]) -> list[StaffMember]:
    """Return employees by name or identifier; blank names are skipped."""
    known = {who.name: who for who in company.employees}
    known |= {f"<employee:{who.name}>": who for who in company.employees}
    named = []
    for name in filter(None, (name.strip() for name in names)):
        if name not in known:
            raise CommandRefused(f"Employee '{name}' not found.")
        named.append(known[name])
    return named


def _team(task: Task) -> list[str]:
    return sorted(who.name for who in task.team)


def open_tasks(company: CompanyState) -> list[Task]:
    """Return the tasks that could be accepted now, the best paid first; do not change the list.

    It is kept until prestige or trust passes a whole number: tasks need whole levels.
    """
    trust = [client.trust for client in company.clients]
    levels = tuple(map(int, [*company.prestige.values(), *trust]))
    if levels != company.open_levels:
        company.open_levels = levels
        company.open = [task for task in company.market if _fits(company, task)]
    return company.open


def withdraw_client(company: CompanyState, client: Client) -> int:
    """Take all tasks of a client off the market for good, and return their number."""
    leaving = [task for task in company.market if task.client is client]
    for task in leaving:
        # No longer "market", because a task may be accepted by a name that was seen before.
        task.status = "cancelled"
    company.market = [task for task in company.market if task.client is not client]
    company.open = [task for task in company.open if task.client is not client]
    return len(leaving)


def _fits(company: CompanyState, task: Task) -> bool:
    spec, levels = task.spec, company.prestige
    if spec.required_prestige > levels[spec.domain]:
        return False
    if spec.required_trust and spec.required_trust > task.client.trust:
        return False
    # Called for every task of the market, most of which have one domain.
    return not spec.further or spec.required_prestige <= min(map(levels.__getitem__, spec.further))


def accept(company: CompanyState, action: do.TaskAccept) -> dict[str, Any]:
    """Take a task from the market and put another in its place (SPEC 11.1)."""
    task = named_task(company, action.task_id)
    _require_acceptable(company, task, action.task_id)
    now, params, clock = company.world.now, company.params, company.clock
    agreed, swollen = _quantities(company, task)
    due = agreed if params.deadline_before_inflation else swollen
    workday = params.workday_end_hour - params.workday_start_hour
    hours = Decimal(workday * formulas.deadline_days(params, due))
    task.deadline = clock.add_hours(now, hours)
    task.required, task.status, task.accepted = stored(Decimal(swollen), 4), "planned", now
    _leave_market(company, task)
    insort(company.owned, task, key=_acceptance)
    insort(company.planned, task, key=by_row)
    # The published runner keeps an honest client's trust unrounded until the step is over.
    if params.accepting_step_unrounded and not task.client.spec.adversarial:
        task.client.unrounded = True
    replacement = _replace(company, task)
    deadline = clock.text_of(task.deadline)
    if company.world.log:
        about = {"client": task.client.name, "reward": task.spec.reward_cents / 100}
        company.world.log.info("task accepted", task=task.shown, **about, deadline=deadline)
    return {
        "task_id": task.shown,
        "status": task.status,
        "accepted_at": clock.text(now),
        "deadline": deadline,
        "replacement_task_id": replacement.shown,
    }


def _require_acceptable(company: CompanyState, task: Task, name: str) -> None:
    domain = min(task.domains, key=company.prestige.__getitem__)
    needs, level = task.spec.required_prestige, company.prestige[domain]
    if task.status != "market":
        raise CommandRefused(f"Task {name} is not in market status (current: {task.status}).")
    if needs > level:
        raise CommandRefused(
            f"Company prestige in {domain} ({level:.1f}) does not meet task requirement ({needs})."
        )
    needs, trust = task.spec.required_trust, task.client.trust
    if needs > 0 and trust < needs:
        raise CommandRefused(
            f"Client trust with {task.client.name} ({trust:.1f}) does not meet task requirement "
            f"({needs})."
        )


def _quantities(company: CompanyState, task: Task) -> tuple[int, int]:
    """Return the units agreed, less those that trust saves, and those that they swell to."""
    params, spec = company.params, task.client.spec
    agreed = task.spec.required_qty
    if not spec.adversarial:
        agreed = formulas.agreed_quantity(params, agreed, float(task.client.trust))
    swollen = agreed
    if spec.adversarial and params.scope_creep:
        inflation = max(params.scope_creep_floor, params.loyalty_severity * abs(spec.loyalty))
        for _ in range(params.inflations):
            grown = max(params.minimum_qty, swollen * (1 + inflation))
            swollen = int(min(params.scope_creep_limit, grown))
    return agreed, swollen


def _leave_market(company: CompanyState, task: Task) -> None:
    """Take an accepted task off the market; record the adversarial share of the open tasks."""
    selected = open_tasks(company)
    adversarial = sum([each.client.spec.adversarial for each in selected])
    company.adversarial_offered += adversarial / len(selected)
    selected.remove(task)
    company.market.remove(task)


def _acceptance(task: Task) -> tuple[int, int]:
    """Return the key of the reverse of the order in which `task list` shows tasks."""
    return task.accepted or 0, -task.row


def _replace(company: CompanyState, taken: Task) -> Task:
    """Put a new task on the market in a taken one's place: the world file's, or a drawn one."""
    params, world, slot = company.params, company.world, taken.spec.slot
    if params.replacement_stream == "slot":
        generation = company.generations.get(slot, 0)
        company.generations[slot] = generation + 1
        number = _GENERATIONS * slot + generation
    else:
        generation, number = 0, company.replaced
    company.replaced += 1
    seed = company.replacement_seeds.setdefault(number, world.draw_seed)
    # The world file's replacements belong to the future that its seed draws.
    spec = company.foreseen.get((slot, generation)) if seed == world.seed else None
    if spec is None or company.clients[spec.client].lost is not None:
        clients = [client.spec for client in company.clients]
        spec = draw_replacement(params, seed, taken.spec, clients, number)
        if world.log:
            world.log.debug("draw", stream=f"replenish_{number}", drawn=spec.title)
    replacement = company.enter(spec)
    if _fits(company, replacement):
        insort(company.open, replacement, key=best_paid)
    return replacement


def assign(company: CompanyState, action: do.TaskAssign) -> dict[str, Any]:
    """Put people on a task; if it is active, plan anew the tasks that share them."""
    task, params = named_task(company, action.task_id), company.params
    if not task.open:
        raise CommandRefused(
            f"Task {action.task_id} must be planned or active to assign (current: {task.status})."
        )
    named = _named_staff(company, action.employees)
    new = [who for who in named if who not in task.team]
    if len(new) > len(set(new)):
        raise CommandCrashed("IntegrityError")
    for who in new:
        who.tasks.append(task)
        task.team[who] = company.world.now
        who.load += task.status == "active" or params.planned_tasks_split
    if task.status == "active":
        note_workload(company)
        plan_anew(company, sharing(named if params.reassignment_replans else new))
    return {
        "task_id": task.shown,
        "status": task.status,
        "newly_assigned": [who.name for who in new],
        "total_assigned": _team(task),
    }


def dispatch(company: CompanyState, action: do.TaskDispatch) -> dict[str, Any]:
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
    insort(company.active, task, key=by_row)
    for who in task.team:
        who.load += not company.params.planned_tasks_split
    note_workload(company)
    plan_anew(company, sharing(task.team))
    company.start(task)
    if company.world.log:
        company.world.log.info("task started", task=task.shown, staff=_team(task))
    return {
        "task_id": task.shown,
        "status": task.status,
        "assignment_count": len(task.team),
        "assigned_employees": _team(task),
    }


def cancel(company: CompanyState, action: do.TaskCancel) -> dict[str, Any]:
    """Give a task up as the published code intends; with `cancel_fails` it breaks as published."""
    task, params = named_task(company, action.task_id), company.params
    if not task.open:
        raise CommandRefused(f"Task {action.task_id} cannot be cancelled (current: {task.status}).")
    if params.cancel_fails:
        raise CommandCrashed("AttributeError")
    old, new, trust = dict(company.prestige), company.prestige, float(task.client.trust)
    lose_prestige(company, task, params.penalty_cancel_multiplier)
    left = formulas.trust_after_cancellation(params, trust)
    set_trust(company, task.client, left)
    give_up(company, task)
    company.world.log.info("task cancelled", task=task.shown, reason=action.reason)
    return {
        "task_id": task.shown,
        "status": task.status,
        "reason": action.reason,
        "cancel_penalty_per_domain": params.penalty_cancel_multiplier * float(task.delta),
        "prestige_changes": {
            each: {
                "old": float(old[each]),
                "new": float(new[each]),
                "delta": float(new[each] - old[each]),
            }
            for each in task.domains
        },
        "trust_delta": left - trust,
        "bankrupt": company.bankrupt,
    }


def note(company: CompanyState, action: Any) -> dict[str, Any]:
    """Show or change the scratchpad, a text that the founder keeps between turns (SPEC 13)."""
    text = company.scratchpad
    match action:
        case do.ScratchpadRead():
            return {"content": text}
        case do.ScratchpadClear():
            company.scratchpad = ""
            return {"ok": True}
        case do.ScratchpadWrite():
            text = ""
    text = f"{text}\n{action.content}" if text else action.content
    if len(text) > MOST_CHARACTERS:
        raise CommandRefused(f"The scratchpad holds {MOST_CHARACTERS} characters at most.")
    company.scratchpad = text
    return {"ok": True, "content": text}
