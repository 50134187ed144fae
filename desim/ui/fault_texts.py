"""What the page and the terminal say of a fault: the answers that led to it, and the ways on."""

from desim.ui.faults import Fault
from desim.ui.game import Game
from desim.ui.layout import action_text

__all__ = ["answer_lines", "way_command", "way_lines"]


def answer_lines(game: Game, fault: Fault) -> list[str]:
    """Return a line for each answer that led to a fault."""
    return [
        f"Decision {answer.number} on record, {answer.step.role} at "
        f"{game.time(answer.step.role, answer.step.t) or f't={answer.step.t}'}: "
        + action_text(answer.step.action, game.role(answer.step.role).action)
        for answer in fault.answers
    ]


def way_lines(game: Game, fault: Fault) -> list[str]:
    """Return what is kept, and how to go on."""
    kept = f"The record {game.file} keeps every decision written so far."
    if _undo_goes_on(game, fault):
        return [kept, "Undo takes your last decision back; another answer may go on."]
    return [kept, fault.way]


def way_command(game: Game, fault: Fault) -> str:
    """Return the command that goes on; empty if there is none, or undo goes on."""
    return "" if _undo_goes_on(game, fault) else fault.command


def _undo_goes_on(game: Game, fault: Fault) -> bool:
    return bool(game.practice and fault.command and game.view.steps)
