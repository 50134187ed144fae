"""Main effects and two-way interactions of parameters with two levels, with their intervals.

Source: Box, Hunter and Hunter, Statistics for Experimenters, 2nd edition, chapter 5; for
replications of a simulation Law, Simulation Modeling and Analysis, 5th edition, section 12.2.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from attrs import frozen

from desim.engine.plan import GIVEN
from desim.errors import UsageError
from desim.rows.columns import plain_value
from desim.rows.notes import missing_text
from desim.rows.rows import Rows
from desim.show.estimates import estimate_cells, interval_head
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval, interval

_EFFECT = "effect: the mean at the second level less that at the first, in the figure's unit"
_INTERACTION = (
    "a x b: half of how much the effect of a is larger at the second level of b than at the first"
)
_ALONE = "each interval holds alone, over seeds that all points share"


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
    """

    group: str
    figure: str
    name: str
    change: tuple[Any, ...]
    estimate: Interval


@frozen(repr=False)
class Effects(Tabular):
    """The effects of parameters for each policy and figure, the largest first."""

    lines: tuple[Effect, ...]
    level: float

    def tables(self) -> tuple[Table]:
        """Return the table."""
        heads = ["policy", "figure", "effect of", "change", "effect", interval_head(self.level)]
        cells = (
            [
                *(one.group, one.figure, one.name, " to ".join(map(str, one.change))),
                *estimate_cells(one.estimate, sd=False),
            ]
            for one in self.lines
        )
        crossed = not all(one.change for one in self.lines)
        legend = [_EFFECT, *[_INTERACTION] * crossed, _ALONE]
        return (Table(heads, cells, range(4), legend=legend),)

    def plain(self) -> list[dict[str, Any]]:
        """Return the lines as plain mappings, for JSON."""
        return [attrs.asdict(line) for line in self.lines]


def effects(
    rows: Rows,
    names: Sequence[str] = (),
    *,
    show: str | Sequence[str] = "score",
    level: float = 0.95,
) -> Effects:
    """Return main effects and two-way interactions, the largest of each first.

    All points have the same seeds, so that a seed gives one value of each effect, and the interval
    is Student's over seeds. Each holds alone at its level.

    Args:
        rows: Those of a sweep over all combinations of two values of each parameter.
        names: The columns of the parameters; none means all that vary.
        show: Columns of numbers.
        level: The level of the intervals, above 0 and below 1.

    Raises:
        UsageError: A parameter has not two values, points or seeds are missing, or episodes failed.
    """
    names = tuple(names) or _varying(rows)
    points = [*zip(*(map(plain_value, rows.column(name)) for name in names), strict=True)]
    seeds = rows.column("seed")
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(_group_texts(rows, names)):
        groups.setdefault(text, []).append(place)
    found = []
    for figure in (show,) if isinstance(show, str) else show:
        values = [value for value in rows.counted(figure) if value is not None]
        if lacking := len(rows) - len(values):
            text = missing_text(lacking, len(rows))
            raise UsageError(f"{text} for {figure!r}; a design is analysed as a whole")
        for group, places in groups.items():
            of_group: _Points = {}
            for at in places:
                of_group.setdefault(points[at], {}).setdefault(seeds[at], []).append(values[at])
            found += _effects(group, of_group, names, figure, level)
    return Effects(tuple(found), level)


#: By values of the parameters and by seed, the values of a figure.
_Points = dict[tuple[Any, ...], dict[int, list[float]]]


def _effects(
    group: str, points: _Points, names: Sequence[str], figure: str, level: float
) -> list[Effect]:
    levels = [_levels(name, [point[at] for point in points]) for at, name in enumerate(names)]
    if len(points) != 2 ** len(names):
        raise UsageError(
            f"the points of {group} are {len(points)} of the {2 ** len(names)} combinations of two "
            f"levels of {', '.join(names)}; play --design factorial"
        )
    seeds = sorted(next(iter(points.values())))
    if any(sorted(by_seed) != seeds for by_seed in points.values()):
        raise UsageError(
            f"the points of {group} were played on different seeds; play each on all seeds"
        )
    values = np.array([[np.mean(each[seed]) for seed in seeds] for each in points.values()])
    signs = {
        name: np.array([1 if point[at] == levels[at][1] else -1 for point in points])
        for at, name in enumerate(names)
    }
    changes: dict[str, tuple[Any, ...]] = dict(zip(names, levels, strict=True))
    signs |= {f"{a} x {b}": signs[a] * signs[b] for a, b in itertools.combinations(names, 2)}
    found = []
    for name, sign in signs.items():
        estimate = interval((2 * (sign @ values) / len(sign)).tolist(), level)
        found.append(Effect(group, figure, name, changes.get(name, ()), estimate))
    return sorted(found, key=lambda effect: (not effect.change, -abs(effect.estimate.mean)))


def _levels(name: str, values: Sequence[Any]) -> tuple[Any, Any]:
    """Return both values of a parameter: numbers in their order, others as they come."""
    found = list(dict.fromkeys(values))
    if len(found) != len("-+"):
        raise UsageError(f"{name} has {len(found)} value(s); effects need two of each parameter")
    if all(isinstance(value, int | float) for value in found):
        found.sort()
    return found[0], found[1]


def _varying(rows: Rows) -> tuple[str, ...]:
    """Return the columns of all parameters and arguments that vary."""
    found = {
        full.removeprefix("params."): values
        for full in rows.gathered.paths
        if full.startswith(("params.", "policy."))
        and len({*map(repr, values := rows.column(full))}) > 1
    }
    # An argument with the same value at all seats is a column without the seat, too.
    for name, values in list(found.items()):
        common = f"policy.{name.rpartition('.')[2]}"
        if name.startswith("policy.") and name != common and found.get(common) == values:
            del found[name]
    if not found:
        raise UsageError("nothing varies in these rows; effects need parameters with two values")
    return tuple(found)


def _group_texts(rows: Rows, names: Sequence[str]) -> list[str]:
    """Return for each row its policy, and the other values by which groups differ."""
    varied = [f"{name.removeprefix('params.')}." for name in names]
    # A parameter that contains a varied one is varied, too.
    others = [
        name
        for name in rows.varying
        if not any(one.startswith(f"{name.removeprefix('params.')}.") for one in varied)
    ]
    labels = rows.column(GIVEN if GIVEN in rows.gathered.paths else "policy")
    if GIVEN not in rows.gathered.paths and any(name.startswith("policy.") for name in names):
        labels = [label.partition(",")[0] for label in labels]  # without the arguments that vary
    columns = zip(*map(rows.column, others), labels, strict=True)
    heads = [*(f"{name.removeprefix('params.')}=" for name in others), ""]
    return [" ".join(map("{}{}".format, heads, values)) for values in columns]
