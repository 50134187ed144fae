"""Sequences of looks at values that are all known."""

from collections.abc import Sequence

from desim.statistics.elimination import Elimination
from desim.statistics.stopping import FIRST_LOOK, Goal, Look, checked_first, look, looks


def until_narrow(values: Sequence[float], goal: Goal, first: int = FIRST_LOOK) -> Look:
    """Return the first look at which a goal is reached, or the last one.

    Args:
        values: All that may be looked at.
        goal: The width.
        first: Values of the first look; fewer than `FIRST_LOOK` need a declared range.

    Raises:
        UsageError: See `look`; or *first* is too small.
    """
    checked_first(first, goal.bounds)
    found = None
    for n in looks(first, len(values)):
        found = look(values[:n], goal)
        if found.reached or (found.reason == "constant"):
            break
    assert found is not None
    return found


def until_chosen(
    values: Sequence[Sequence[float]], elimination: Elimination, first: int = FIRST_LOOK
) -> Elimination:
    """Look at more and more values until one alternative is chosen.

    Raises:
        UsageError: See `Elimination.look`; or *first* is too small.
    """
    checked_first(first, elimination.bounds)
    for n in looks(first, min(map(len, values), default=0)):
        elimination.look([each[:n] for each in values])
        if elimination.chosen is not None:
            break
    return elimination
