"""The gates: whether work is extended, and whether another project follows."""

from typing import TYPE_CHECKING

from desim import World
from models.edt.state import Engagement

if TYPE_CHECKING:
    from models.edt.firm import Firm

__all__ = ["is_open"]


def is_open(world: World, firm: "Firm", project: Engagement, kind: str, probability: float) -> bool:
    """Tell whether a gate opens now.

    `threshold`, as published: if the probability is above 1 - R, in doubles. `bernoulli`, as the
    paper's prose has it: in addition a draw must fall below the probability. Every gate event has a
    stream of its own, so no decision shifts another event's draw.

    Args:
        world: Where the draws come from.
        firm: Whose risk level counts.
        project: Whose gate.
        kind: "extension" or "follow_on".
        probability: Of this project and kind.
    """
    occurrence = project.occurrences[kind] = project.occurrences.get(kind, 0) + 1
    if not probability > 1.0 - firm.risk:
        return False
    if firm.game.gating == "threshold":
        return True
    draw: float = world.stream("gate", project.key, kind, occurrence).random()
    return draw < probability
