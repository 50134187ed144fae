"""The life cycles of consultants and projects as SimPy processes, paydays, and the end.

Tick k is step k. A process waits for the next step in which it can have something to do.
"""

from collections.abc import Generator
from itertools import count
from typing import Any

from simpy.events import Event

from desim import World
from models.edt.agents import Engagement, Phase, StaffMember
from models.edt.controlling import SALARIES, UNIT, Controlling
from models.edt.firm import LAST, OPENING, Firm

Process = Generator[Any, Any, None]


def start(world: World, firm: Firm) -> None:
    """Start the life cycles of all agents on the list, and the paydays."""
    for who in firm.employees:
        world.process(consultant(firm, who))
    for engagement in firm.engagements:
        world.process(project(world, firm, engagement))
    world.process(paydays(world, firm.controlling))


def paydays(world: World, controlling: Controlling) -> Process:
    """Pay everyone on the payroll in every step, at controlling's place."""
    for step in count(1):
        yield world.timeout(1, rank=controlling.rank)
        controlling.pay(step)
        if world.log:
            world.log.info("payday", salaries=controlling.flows[SALARIES][step] / UNIT)


def consultant(firm: Firm, me: StaffMember) -> Process:
    """Take a seat, stay until the project is over, lose a step, and repeat."""
    while True:
        while (vacancy := firm.vacancy()) is None:
            yield firm.wait_for_work(me)
        firm.join(vacancy, me)
        firm.call(me.rank)
        yield firm.turn(me, firm.steps + 1)


def newcomer(firm: Firm, me: StaffMember) -> Process:
    """Return the life cycle of a consultant from the step after the hiring on."""
    # Scheduled here and not in the process, which begins later in this instant: by then the
    # manager may have released the consultant, and hired the same one again.
    return _enter(firm, me, firm.turn(me, firm.world.now + 1))


def _enter(firm: Firm, me: StaffMember, first: Event) -> Process:
    if me.turn is first:
        yield first
        yield from consultant(firm, me)


def project(world: World, firm: Firm, me: Engagement) -> Process:
    """Become ready, be worked on, be extended while the gate is open, end, be followed."""
    if me.start_step is not None and me.start_step + firm.delay <= me.deadline_step:
        # Where work begins at once, ahead of the consultants' turns.
        yield firm.turn(me, me.start_step, None if firm.delay else OPENING)
        become_ready(world, firm, me)
    while me.phase is not Phase.COMPLETED:
        yield firm.turn(me, firm.plan_turn(me))
        firm.work_off(me, world.now)
        if world.now >= me.deadline_step:
            firm.close(me, me.rank)
            firm.happened("deadline", me)
        elif me.phase.active and me.remaining <= 0:
            extend_or_complete(world, firm, me)
    if me.on_time:
        if world.now < me.deadline_step:
            yield firm.turn(me, me.deadline_step)
        # At the deadline, staffed or not.
        if is_open(world, firm, me, "follow_on", me.terms.follow_on_probability):
            world.log.info("follow-on project", after=me.name)
            world.process(project(world, firm, firm.found_follow_on(me)))


def become_ready(world: World, firm: Firm, me: Engagement) -> None:
    """Open the seats of a project from this turn on."""
    me.become(Phase.READY, world.now)
    firm.controlling.seek(me.terms.consultants, me.rank, world.now)
    firm.review(me)
    firm.call(me.rank if firm.delay else OPENING)
    firm.happened("ready", me)


def extend_or_complete(world: World, firm: Firm, me: Engagement) -> None:
    """Add a block of effort if the gate is open; a project without more work is completed."""
    chance = me.terms.extension_probability
    may_extend = firm.params.extensions == "repeated" or "extension" not in me.occurrences
    if may_extend and is_open(world, firm, me, "extension", chance):
        me.refill(me.remaining + me.terms.extension_effort, world.now)
        me.effort_risk = 1 - chance
    if me.remaining > 0:
        firm.happened("extended", me)
    else:
        firm.close(me, me.rank)
        firm.happened("completed", me)


def is_open(world: World, firm: Firm, project: Engagement, kind: str, probability: float) -> bool:
    """Return whether the gate "extension" or "follow_on" of a project opens now.

    With `threshold`, as published, it opens if the probability is above 1 - R, in doubles. With
    `bernoulli`, as in the paper's text, a draw must fall below the probability as well. Every gate
    event draws from a stream of its own, so no decision shifts the draw of another event.
    """
    occurrence = project.occurrences[kind] = project.occurrences.get(kind, 0) + 1
    if not probability > 1.0 - firm.risk:
        return False
    if firm.params.gating == "threshold":
        return True
    draw: float = world.stream("gate", project.key, kind, occurrence).random()
    return draw < probability


def close(world: World, firm: Firm) -> Process:
    """Post the last step behind its last turn, and end the episode."""
    yield world.timeout(firm.steps - world.now, rank=LAST)
    firm.settle()
    world.end("horizon")
