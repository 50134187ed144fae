"""The life cycles of consultants and projects as SimPy processes, and the end of the episode.

Tick k is step k. Agents of one step act one after the other in the order of the list; their place
in it is their rank. A process sleeps until the next step in which it can have something to do.
"""

from collections.abc import Generator
from typing import Any

from desim import World
from models.edt import listing
from models.edt.firm import LAST, Firm
from models.edt.gates import is_open
from models.edt.state import Employee, Engagement, State

__all__ = ["Process", "close", "consultant", "newcomer", "project", "start"]

Process = Generator[Any, Any, None]


def start(world: World, firm: Firm) -> None:
    """Start the life cycles of everybody on the list."""
    for who in firm.employees:
        world.process(consultant(firm, who))
    for engagement in firm.engagements:
        world.process(project(world, firm, engagement))


def consultant(firm: Firm, me: Employee) -> Process:
    """Look for a seat, stay until the project is over, lose a step, look again."""
    while True:
        while (found := firm.vacancy()) is None:
            yield firm.wait_for_work(me)
        firm.join(found, me)
        firm.call(me.rank)
        yield firm.turn(me, firm.steps + 1)


def newcomer(firm: Firm, me: Employee) -> Process:
    """Begin with the step after the hiring."""
    yield firm.turn(me, firm.world.now + 1)
    yield from consultant(firm, me)


def project(world: World, firm: Firm, me: Engagement) -> Process:
    """Become ready, be worked on, be extended while the gate is open, end, and be followed."""
    if me.start_step is not None and me.start_step < me.deadline_step:
        yield firm.turn(me, me.start_step)
        become_ready(world, firm, me)
    while me.state is not State.COMPLETED:
        yield firm.turn(me, firm.plan_turn(me))
        firm.work_off(me, world.now)
        if world.now >= me.deadline_step:
            firm.complete(me)
            firm.happened("deadline", me)
        elif me.state.active and me.remaining <= 0:
            extend_or_complete(world, firm, me)
    if me.on_time:
        if world.now < me.deadline_step:
            yield firm.turn(me, me.deadline_step)
        follow_on(world, firm, me)


def become_ready(world: World, firm: Firm, me: Engagement) -> None:
    """Offer seats from this turn on."""
    me.become(State.READY, world.now)
    firm.accounts.seek(me.terms.consultants, me.rank, world.now)
    firm.review(me)
    firm.call(me.rank)
    firm.happened("ready", me)


def extend_or_complete(world: World, firm: Firm, me: Engagement) -> None:
    """Add another block of effort if the gate is open; without more work the project is over."""
    if is_open(world, firm, me, "extension", me.terms.extension_probability):
        me.refill(me.remaining + me.terms.extension_effort, world.now)
        me.effort_risk = 1 - me.terms.extension_probability
    if me.remaining > 0:
        firm.happened("extended", me)
    else:
        firm.complete(me)
        firm.happened("completed", me)


def follow_on(world: World, firm: Firm, me: Engagement) -> None:
    """At the deadline, staffed or not, another project may follow."""
    if is_open(world, firm, me, "follow_on", me.follow_on_probability):
        world.process(project(world, firm, listing.follow_on(firm, me)))


def close(world: World, firm: Firm) -> Process:
    """Close the books behind the last turn of the last step."""
    yield world.timeout(firm.steps - world.now, rank=LAST)
    firm.settle()
    world.end("horizon")
