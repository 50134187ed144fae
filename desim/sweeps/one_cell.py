"""One model and one policy at a point of ranges, on some seeds: what a search plays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desim.core.limits import Limits
from desim.errors import UsageError
from desim.sweeps.grid import Grid, grid
from desim.sweeps.ranges import Choices, Range
from desim.sweeps.tuning_study import Point

__all__ = ["plan_of_point", "probed"]


def plan_of_point(
    model: Any,
    policy: Any,
    preset: str,
    fixed: Mapping[str, Any],
    limits: Limits | None,
    point: Point,
    seeds: Sequence[int],
) -> Grid:
    """Return the grid of one point: one model, one policy.

    Raises:
        UsageError: A name does not exist, a value is refused, or there are several.
    """
    found = grid(model, policy, seeds, preset, {**fixed, **point}, limits)
    if len(found) != len(seeds):
        raise UsageError(
            f"{len(found.variants)} models and {len(found.entries)} policies were given; tuning "
            "takes one of each, and one value of a parameter that has no range"
        )
    return found


def probed(
    plan_of: Callable[[Point, Sequence[int]], Grid],
    ranges: Mapping[str, Range | Choices],
    seeds: Sequence[int],
) -> list[Grid]:
    """Return the grids of the lowest, the middle and the highest point that are not refused.

    Raises:
        UsageError: All are refused, as where a name is wrong.
    """
    found, refusals = [], []
    for place in (0.0, 0.5, 1.0):
        point = {name: one.value(place) for name, one in ranges.items()}
        try:
            found.append(plan_of(point, seeds))
        except UsageError as fault:
            refusals.append(fault)
    if not found:
        raise refusals[0]
    return found
