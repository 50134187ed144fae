"""Screening by Morris's elementary effects: which of many parameters matter at all.

A trajectory starts at a random point of a grid and moves every parameter once, in random order; the
change of the figure, divided by the share of the range that was moved, is an elementary effect.

Source: Morris 1991, Factorial sampling plans for preliminary computational experiments,
Technometrics 33; the mean of absolute values is from Campolongo et al. 2007, Environmental
Modelling and Software 22. It is our own code: SALib would bring pandas and matplotlib for it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from desim.errors import UsageError
from desim.jobs.plan.job import Row
from desim.jobs.plan.parameter_points import (
    Design,
    Factor,
    at_places,
    checked_count,
    ranges,
    read_factors,
)
from desim.short_repr import short_repr
from desim.show.estimates import estimate_cells, interval_head, short_cell
from desim.statistics.intervals import Interval, interval
from desim.studies.designs.findings import Analysis, tabulated
from desim.studies.designs.responses import of_figures
from desim.studies.designs.sampling import generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import float64
    from numpy.random import Generator
    from numpy.typing import NDArray


#: Levels of each range if none are given, and at most.
LEVELS, _MAX_LEVELS = 4, 100


@frozen
class Screened:
    """The elementary effects of one parameter over its whole range, at different points.

    Attributes:
        group: The policy, and what else differs between groups.
        figure: The figure that changes; all three have its unit.
        name: The parameter.
        size: The mean of the absolute elementary effects (mu*), one value a trajectory.
        direction: Their mean (mu); smaller than *size* where the sign depends on the point.
        spread: Their standard deviation (sigma): 0 if the effect is the same everywhere, large
            where the figure is curved or parameters interact; None for one trajectory.
    """

    group: str
    figure: str
    name: str
    size: Interval
    direction: Interval
    spread: float | None


def screening(
    factors: Mapping[str, Any] | Sequence[Factor],
    trajectories: int,
    *,
    levels: int = LEVELS,
    seed: int = 0,
) -> Design:
    """Return the points of random trajectories: *trajectories* (parameters + 1).

    Args:
        factors: Ranges by parameter; see `read_factors`.
        trajectories: At least 2; 10 to 50 are usual.
        levels: Points of the grid on each range, an even number from 2 to 100; a step is
            `levels / (2 (levels - 1))` of the range.
        seed: The seed of the trajectories.

    Raises:
        UsageError: An argument is wrong, or a parameter has values without an order.
    """
    read, draws = read_factors(factors), generator(seed)
    ranges(read, "screening")
    checked_count(trajectories, "trajectories", each=len(read) + 1)
    if type(levels) is not int or levels % 2 or not 1 < levels <= _MAX_LEVELS:
        raise UsageError(
            f"levels={short_repr(levels)} was given; it is an even number from 2 to {_MAX_LEVELS}"
        )
    places = [place for _ in range(trajectories) for place in _trajectory(len(read), levels, draws)]
    return at_places("morris", read, places)


def morris(
    rows: Sequence[Row],
    design: Design,
    *,
    show: str | Sequence[str] = "score",
    level: float = 0.95,
) -> Analysis:
    """Return the elementary effects of each parameter, the largest first.

    Args:
        rows: The rows of a sweep with the design; the mean over seeds counts.
        design: Made by `screening`.
        show: Columns of numbers.
        level: The level of the intervals over trajectories, above 0 and below 1.

    Raises:
        UsageError: The rows are not those of the design, or episodes have failed.
    """
    if design.kind != "morris":
        raise UsageError(f"a design {design.kind!r} was given; make it with screening")
    found = [
        line
        for figure, one in of_figures(rows, design, show)
        for line in _screened(design, one.means, level, one.group, figure)
    ]
    cells = tuple(
        (
            one.name,
            *estimate_cells(one.size, sd=False),
            *estimate_cells(one.direction, sd=False),
            "" if one.spread is None else short_cell(one.spread),
        )
        for one in found
    )
    between = interval_head(level)
    heads = ("parameter", "mu*", between, "mu", between, "sigma")
    notes = (
        "elementary effect: what a whole range changes in the figure's mean over seeds",
        "mu*, mu, sigma: their mean absolute value, mean and standard deviation over trajectories",
    )
    return tabulated(found, heads, cells, notes)


def elementary_effects(
    design: Design, values: "Sequence[float] | NDArray[float64]"
) -> dict[str, list[float]]:
    """Return the elementary effects of each parameter, one for each trajectory.

    Args:
        design: Made by `screening`.
        values: The figure at each point.
    """
    over = ranges(design.factors, "screening")
    found: dict[str, list[float]] = {name: [] for name in design.names}
    length = len(design.names) + 1
    for step in range(1, len(design)):
        if step % length == 0:
            continue  # the first point of a trajectory
        before, after = design.points[step - 1], design.points[step]
        (at,) = (n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
        moved = over[at].place(after[at]) - over[at].place(before[at])
        found[design.names[at]].append((float(values[step]) - float(values[step - 1])) / moved)
    return found


def _screened(
    design: Design, values: "NDArray[float64]", level: float, group: str, figure: str
) -> list[Screened]:
    lines = []
    for name, each in elementary_effects(design, values).items():
        size, direction = interval([abs(one) for one in each], level), interval(each, level)
        lines.append(Screened(group, figure, name, size, direction, direction.sd))
    return sorted(lines, key=lambda line: -line.size.mean)


def _trajectory(count: int, levels: int, draws: "Generator") -> "Iterator[list[float]]":
    """Yield the places of a trajectory; every parameter moves up or down once."""
    half, most = levels // 2, levels - 1
    lower = draws.integers(half, size=count)
    up = draws.integers(2, size=count).astype(bool)
    start = np.where(up, lower, lower + half)
    yield (start / most).tolist()
    for at in draws.permutation(count):
        start[at] += half if up[at] else -half
        yield (start / most).tolist()
