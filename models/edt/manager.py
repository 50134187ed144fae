"""Whoever decides: once before the run in the published game, at every event in the other."""

from functools import partial
from typing import TYPE_CHECKING, Any

from desim import World
from models.edt import desk, listing, processes
from models.edt.actions import Answer, Decide
from models.edt.answer import extracted, parsed
from models.edt.commands import run_the_firm
from models.edt.decision import Limits, Plan, fault, first_pass, second_pass
from models.edt.firm import MANAGER, Firm

if TYPE_CHECKING:
    from models.edt.params import EnterpriseDigitalTwin

__all__ = ["begin", "judged"]


def begin(world: World, game: "EnterpriseDigitalTwin") -> Firm:
    """Set up the firm; where nobody decides, the scenario runs as it is given."""
    firm = Firm(world, game, game.firm)
    if MANAGER not in world.seats:
        listing.open_as_given(firm)
        processes.start(world, firm)
    else:
        manage = decide_once if game.asks == "once" else run_the_firm
        world.process(manage(world, firm))
    world.process(processes.close(world, firm))
    return firm


def decide_once(world: World, firm: Firm) -> processes.Process:
    """Ask until a decision is not refused, then open the firm by it."""
    limits = Limits.of(firm.scenario)
    while True:
        answer: Decide | Answer = yield world.ask(MANAGER, partial(desk.briefing, firm, limits))
        firm.refusal, plan = judged(answer, limits, firm.game.mode)
        if plan is not None:
            break
    firm.plan = plan
    listing.open_by(firm, plan)
    processes.start(world, firm)


def judged(answer: Decide | Answer, limits: Limits, mode: str) -> tuple[str, Plan | None]:
    """Return why an answer is refused, or the plan it stands for.

    Args:
        answer: As given.
        limits: What the scenario allows.
        mode: "repair": both published passes; "second_pass": the scenario's alone, which lets a
            firm without consultants through; "strict": nothing is repaired.
    """
    given = answer.given if isinstance(answer, Answer) else answer.raw()
    if mode == "strict":
        return _strictly(given, limits)
    raw = extracted(given)
    if mode == "repair":
        raw = first_pass(raw, limits).raw()
    return "", second_pass(raw, limits)


def _strictly(given: Any, limits: Limits) -> tuple[str, Plan | None]:
    try:
        raw = parsed(given)
    except (ValueError, RecursionError) as wrong:
        return f"not_json: {wrong}", None
    why = fault(raw, limits)
    return (why, None) if why else ("", second_pass(raw, limits))
