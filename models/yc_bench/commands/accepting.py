"""Acceptance of a task: deadline, true quantity and replacement (SPEC section 11.1)."""

from bisect import insort
from decimal import Decimal
from typing import Any

from models.yc_bench.actions import TaskAccept
from models.yc_bench.company.entities import Task
from models.yc_bench.company.lookup import CommandRefused, by_row, named_task
from models.yc_bench.company.open_market import admit, withdraw
from models.yc_bench.rules.checks import stored
from models.yc_bench.rules.draw_market import draw_replacement, replacement_number
from models.yc_bench.rules.formulas import agreed_quantity, deadline_days
from models.yc_bench.rules.specs import TaskSpec
from models.yc_bench.state import CompanyState, enter


def accept(company: CompanyState, action: TaskAccept) -> dict[str, Any]:
    """Take a task from the market and put another in its place."""
    task = named_task(company, action.task_id)
    _require_acceptable(company, task, action.task_id)
    now, params = company.world.now, company.params
    quantity = _quantity(company, task)
    swollen = _swollen(company, task, quantity)
    due = quantity if params.deadline_before_inflation else swollen
    hours = (params.workday_end_hour - params.workday_start_hour) * deadline_days(params, due)
    task.deadline = company.clock.add_hours(now, Decimal(hours))
    task.required, task.status, task.accepted = stored(Decimal(swollen), 4), "planned", now
    withdraw(company, task)
    insort(company.owned, task, key=_acceptance)
    insort(company.planned, task, key=by_row)
    company.planned_shown = None
    # The published runner keeps an honest client's trust unrounded until the step is over.
    if params.accepting_step_unrounded and not task.client.spec.adversarial:
        task.client.unrounded = True
    replacement = _replace(company, task)
    if company.world.log:
        company.world.log.info(
            "task accepted",
            task=task.shown,
            client=task.client.name,
            reward=task.spec.reward_cents / 100,
            deadline=None if task.deadline is None else company.clock.text(task.deadline),
        )
    return {
        "task_id": task.shown,
        "status": task.status,
        "accepted_at": company.clock.text(now),
        "deadline": None if task.deadline is None else company.clock.text(task.deadline),
        "replacement_task_id": replacement.shown,
    }


def _acceptance(task: Task) -> tuple[int, int]:
    """Return the key of the reverse of the order in which `task list` shows tasks."""
    return task.accepted or 0, -task.row


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


def _quantity(company: CompanyState, task: Task) -> int:
    """Return the units from which the deadline is set: trust saves an honest client's work."""
    quantity = task.spec.required_qty
    if task.client.spec.adversarial:
        return quantity
    return agreed_quantity(company.params, quantity, float(task.client.trust))


def _swollen(company: CompanyState, task: Task, quantity: int) -> int:
    """Return the units that must be done: an adversarial client's task swells."""
    params = company.params
    if not (task.client.spec.adversarial and params.scope_creep):
        return quantity
    inflation = max(
        params.scope_creep_floor, params.loyalty_severity * abs(task.client.spec.loyalty)
    )
    for _ in range(params.inflations):
        swollen = max(params.minimum_qty, quantity * (1 + inflation))
        quantity = int(min(params.scope_creep_limit, swollen))
    return quantity


def _replace(company: CompanyState, taken: Task) -> Task:
    """Put a new task on the market in a taken one's place: the world file's, or a drawn one."""
    params, slot = company.params, taken.spec.slot
    if params.replacement_stream == "slot":
        generation = company.generations.get(slot, 0)
        company.generations[slot] = generation + 1
        number = replacement_number(slot, generation)
    else:
        generation, number = 0, company.replaced
    company.replaced += 1
    world = company.world
    seed = company.replacement_seeds.setdefault(number, world.draw_seed)
    # The world file's replacements belong to the future that its seed draws.
    spec = _foreseen(company, slot, generation) if seed == world.seed else None
    if spec is None:
        spec = draw_replacement(params, seed, taken.spec, company.drawn, number)
        if world.log:
            world.log.debug("draw", stream=f"replenish_{number}", drawn=spec.title)
    replacement = enter(company, spec)
    admit(company, replacement)
    return replacement


def _foreseen(company: CompanyState, slot: int, generation: int) -> TaskSpec | None:
    """Return the world file's replacement, unless its client is lost."""
    spec = company.foreseen.get((slot, generation))
    return spec if spec is not None and company.clients[spec.client].lost is None else None
