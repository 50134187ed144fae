"""The gates: whether work is extended, and whether a follow-on project comes about."""

from desim import World
from models.edt.firm import Firm
from models.edt.state import Engagement

__all__ = ["is_open"]


def is_open(world: World, firm: Firm, project: Engagement, kind: str, probability: float) -> bool:
    """Return whether a gate opens now.

    With `threshold`, as published, it opens if the probability is above 1 - R, in doubles. With
    `bernoulli`, as in the paper's text, a draw must fall below the probability as well. Every gate
    event draws from a stream of its own, so no decision shifts the draw of another event.

    Args:
        world: The world with the random streams.
        firm: The firm with the risk level R.
        project: The project with the gate.
        kind: "extension" or "follow_on".
        probability: The probability of this kind and project, 0 to 1.
    """
    occurrence = project.occurrences[kind] = project.occurrences.get(kind, 0) + 1
    if not probability > 1.0 - firm.risk:
        return False
    if firm.params.gating == "threshold":
        return True
    draw: float = world.stream("gate", project.key, kind, occurrence).random()
    return draw < probability
