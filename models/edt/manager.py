"""The manager's process: one decision in the published game, commands at events in the other."""

from collections.abc import Generator
from functools import partial
from typing import Any

from desim import World
from models.edt import listing, processes, reporting
from models.edt.actions import Answer, Command, Decide, Wait
from models.edt.commands import carry_out
from models.edt.decision import DecisionLimits
from models.edt.firm import LAST, MANAGER, Firm
from models.edt.judgement import judged
from models.edt.params import DigitalTwinParams

__all__ = ["begin"]

Process = Generator[Any, Any, None]


def begin(world: World, params: DigitalTwinParams) -> Firm:
    """Set up the firm and start its processes; without a manager the scenario runs as given."""
    firm = Firm(world, params, params.loaded_scenario)
    if MANAGER not in world.seats:
        listing.open_as_given(firm)
        processes.start(world, firm)
    else:
        manage = decide_once if params.asks == "once" else manage_at_events
        world.process(manage(world, firm))
    world.process(processes.close(world, firm))
    return firm


def decide_once(world: World, firm: Firm) -> Process:
    """Ask until a decision is not refused, then open the firm with it."""
    limits = DecisionLimits.of(firm.scenario)
    while True:
        answer: Decide | Answer = yield world.ask(
            MANAGER, partial(reporting.briefing, firm, limits)
        )
        firm.refusal, plan = judged(answer, limits, firm.params.mode)
        if plan is not None:
            break
    firm.plan = plan
    listing.open_by(firm, plan)
    processes.start(world, firm)


def manage_at_events(world: World, firm: Firm) -> Process:
    """Open the whole firm, then carry out commands at every event until the manager waits."""
    listing.open_all(firm)
    processes.start(world, firm)
    firm.happenings.append((0, "opened", ""))
    while True:
        while True:
            command: Command = yield world.ask(MANAGER, partial(reporting.dashboard, firm))
            if isinstance(command, Wait):
                break
            firm.refusal = carry_out(firm, command)
        firm.refusal = ""
        firm.happenings.clear()
        yield _next_event(world, firm)
        if not firm.happenings:
            firm.happenings.append((world.now, "quarter", ""))
        firm.settle()


def _next_event(world: World, firm: Firm) -> Any:
    """Return the event of the quarter's end, which `Firm.happened` moves forward."""
    quarter = firm.params.quarter
    firm.bell = world.timeout(quarter - world.now % quarter, rank=LAST)
    return firm.bell
