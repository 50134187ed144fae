"""Main effects and two-way interactions of parameters with two levels, with their intervals.

Source: Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapters 5 and 6; for
replications of a simulation Law, Simulation Modeling and Analysis, 5th edition, section 12.2.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from desim.errors import UsageError
from desim.jobs.plan.job import Row
from desim.jobs.plan.parameter_points import Design
from desim.jobs.rows.columns import column, column_names, find
from desim.show.estimates import estimate_cells, interval_head
from desim.statistics.intervals import Interval, interval
from desim.studies.designs.findings import Analysis, tabulated
from desim.studies.designs.responses import Responses, at_values

if TYPE_CHECKING:
    from numpy import int8
    from numpy.typing import NDArray


#: Joins the two parameters of an interaction.
_TIMES = " x "

#: Most parameters, whose two-way interactions are pairs.
_MAX_FACTORS = 63


@frozen
class Effect:
    """The main effect of a parameter, or the interaction of two.

    Attributes:
        group: The policy, and what else differs between groups.
        figure: The figure that changes; the effect has its unit.
        name: The parameter, or two joined by "x".
        change: The two levels of a parameter, the first one the lower; empty for an interaction.
        estimate: The mean where the sign is +1 less the mean where it is -1, one value a seed; the
            sign of an interaction is the product of its parameters' signs.
        aliases: Effects that a fraction does not separate from this one, with a minus sign if they
            would be negative: the estimate is the sum of all.
    """

    group: str
    figure: str
    name: str
    change: tuple[Any, ...]
    estimate: Interval
    aliases: tuple[str, ...] = ()


def effects(
    rows: Sequence[Row],
    design: Design | Sequence[str] | None = None,
    *,
    show: str | Sequence[str] = "score",
    level: float = 0.95,
) -> Analysis:
    """Return main effects and two-way interactions, the largest of each first.

    All points have the same seeds, so that a seed gives one value of each effect, and the interval
    is Student's over seeds. Each holds alone at its level.

    Args:
        rows: Those of a sweep over two values of each parameter: all combinations, or a fraction.
        design: The design, or the columns of the parameters; None means all columns that vary.
        show: Columns of numbers.
        level: The level of the intervals, above 0 and below 1.

    Raises:
        UsageError: A parameter has not two values, points or seeds are missing, or episodes failed.
    """
    names = _names(rows, design)
    if len(names) > _MAX_FACTORS:
        raise UsageError(f"{len(names)} parameters vary; effects are of at most {_MAX_FACTORS}")
    figures = (show,) if isinstance(show, str) else tuple(show)
    found = [
        effect
        for figure in figures
        for one in at_values(rows, names, figure)
        for effect in _effects(one, names, figure, level)
    ]
    cells = [
        [
            one.name,
            " to ".join(map(str, one.change)),
            *estimate_cells(one.estimate, sd=False),
            ", ".join(one.aliases),
        ]
        for one in found
    ]
    heads = ["effect of", "change", "effect", interval_head(level)]
    confused = any(one.aliases for one in found)
    notes = ["effect: the mean at the second level less that at the first, in the figure's unit"]
    if any(not one.change for one in found):
        notes.append(
            "a x b: half of how much the effect of a is larger at the second level of b than at the"
            " first"
        )
    notes.append("each interval holds alone, over seeds that all points share")
    if confused:
        heads, notes = [*heads, "confused with"], [*notes, "confused: the estimate is their sum"]
    return tabulated(found, heads, [each[: len(heads)] for each in cells], notes)


def _effects(one: Responses, names: Sequence[str], figure: str, level: float) -> list[Effect]:
    levels = {name: _levels(name, one, place) for place, name in enumerate(names)}
    signs = {
        name: np.array([1 if point[place] == levels[name][1] else -1 for point in one.levels])
        for place, name in enumerate(names)
    }
    products = {f"{a}{_TIMES}{b}": signs[a] * signs[b] for a, b in itertools.combinations(names, 2)}
    found = []
    for name, sign, aliases in _distinct({**signs, **products}):
        by_seed = 2 * (sign @ one.values) / len(sign)
        estimate = interval(by_seed.tolist(), level)
        found.append(Effect(one.group, figure, name, levels.get(name, ()), estimate, aliases))
    return sorted(found, key=lambda effect: (not effect.change, -abs(effect.estimate.mean)))


def _distinct(
    signs: "dict[str, NDArray[int8]]",
) -> "list[tuple[str, NDArray[int8], tuple[str, ...]]]":
    """Return the signs that differ, each with what else has them.

    Raises:
        UsageError: Signs are neither equal, opposite nor independent, so the effects are mixed.
    """
    found: list[tuple[str, NDArray[int8], list[str]]] = []
    for name, sign in signs.items():
        if abs(int(sign.sum())) == len(sign):
            continue  # the same at all points: indistinguishable from the mean
        if sign.sum():
            _refuse(name, "the mean")
        for other, first, aliases in found:
            product = int(first @ sign)
            if abs(product) == len(sign):
                aliases.append(name if product > 0 else f"-({name})")
                break
            if product:
                _refuse(name, other)
        else:
            found.append((name, sign, []))
    return [(name, sign, tuple(aliases)) for name, sign, aliases in found]


def _refuse(one: str, other: str) -> None:
    raise UsageError(
        f"the points mix {one} with {other}: they are neither all combinations of two levels nor "
        "a regular fraction; play --design factorial"
    )


def _levels(name: str, one: Responses, place: int) -> tuple[Any, Any]:
    """Return both values of a parameter: numbers in their order, others as they come."""
    values = list(dict.fromkeys(point[place] for point in one.levels))
    if len(values) != len("-+"):
        raise UsageError(
            f"{name} has {len(values)} {'value' if len(values) == 1 else 'values'}; effects need "
            "two of each parameter"
        )
    if all(isinstance(value, int | float) for value in values):
        values.sort()
    return values[0], values[1]


def _names(rows: Sequence[Row], design: Design | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns of the parameters.

    Raises:
        UsageError: No parameter varies, or a column does not exist.
    """
    if isinstance(design, Design):
        return design.names
    if design is not None:
        for name in design:
            find(rows, name)
        return tuple(design)
    found: dict[str, list[Any]] = {}
    for full in column_names(rows):
        values = column(rows, full) if full.startswith(("params.", "policy.")) else []
        if len(set(map(repr, values))) > 1:
            found[full.removeprefix("params.")] = values
    # An argument with the same value at all seats is a column without the seat, too.
    for name, values in list(found.items()):
        common = f"policy.{name.rpartition('.')[2]}"
        if name.startswith("policy.") and name != common and found.get(common) == values:
            del found[name]
    if not found:
        raise UsageError("nothing varies in these rows; effects need parameters with two values")
    return tuple(found)
