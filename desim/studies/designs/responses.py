"""The figure of a sweep at every point of its design and on every seed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from desim.errors import UsageError
from desim.jobs.plan.job import GIVEN, POINT, Row
from desim.jobs.plan.parameter_points import Design
from desim.jobs.rows.columns import find, value_at
from desim.jobs.rows.failures import counted

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


@frozen(eq=False)
class Responses:
    """The figure of one policy of one model, by point and seed.

    Attributes:
        group: The policy, and the other values by which groups differ.
        levels: For each point the values of the parameters.
        values: The figure, with a line for each point and a column for each seed.
    """

    group: str
    levels: tuple[tuple[Any, ...], ...]
    values: "NDArray[float64]" = field(repr=False)

    @property
    def means(self) -> "NDArray[float64]":
        """The mean over seeds at each point."""
        found: NDArray[float64] = self.values.mean(axis=1)
        return found


def of_design(rows: Sequence[Row], design: Design, show: str) -> list[Responses]:
    """Return the figure at each point of a design, for each policy and model.

    Raises:
        UsageError: The rows are not those of the design, are incomplete, or episodes have failed.
    """
    if any(POINT not in row for row in rows) or not len(rows):
        raise UsageError("these rows have no points; they are not those of a sweep with a design")
    found = grouped(rows, design.names, show, [row[POINT] for row in rows])
    for one in found:
        if len(one.levels) != len(design):
            raise UsageError(
                f"the rows of {one.group} are from {len(one.levels):,} points, and the design has "
                f"{len(design):,}; give all rows of the sweep"
            )
    return found


def of_figures(
    rows: Sequence[Row], design: Design, show: str | Sequence[str]
) -> Iterator[tuple[str, Responses]]:
    """Yield the responses of each policy and model for each of some figures; see `of_design`."""
    for figure in (show,) if isinstance(show, str) else show:
        for one in of_design(rows, design, figure):
            yield figure, one


def at_values(rows: Sequence[Row], names: Sequence[str], show: str) -> list[Responses]:
    """Return the figure at each combination of values of some columns."""
    paths = [find(rows, name) for name in names]
    points = [json.dumps([value_at(row, path) for path in paths]) for row in rows]
    return grouped(rows, names, show, points)


def grouped(
    rows: Sequence[Row], names: Sequence[str], show: str, points: Sequence[Any]
) -> list[Responses]:
    """Return the figure at each point, in the order in which points first occur.

    Args:
        rows: The rows of all groups.
        names: The columns that points vary.
        show: The column of the figure.
        points: The key of each row's point.

    Raises:
        UsageError: A figure is missing, such as after a failure, or a seed lacks some points.
    """
    paths = [find(rows, name) for name in names]
    groups: dict[str, dict[Any, dict[int, list[float]]]] = {}
    levels: dict[Any, tuple[Any, ...]] = {}
    keys = _group_texts(rows, names)
    for row, point, key, value in zip(rows, points, keys, counted(rows, show), strict=True):
        if value is None:
            why = f", as it failed: {row['error']}" if row["error"] else ""
            raise UsageError(
                f"the episode of {row['policy']} on seed {row['seed']} has no {show}{why}; a "
                "design is analysed as a whole"
            )
        levels.setdefault(point, tuple(value_at(row, path) for path in paths))
        group = groups.setdefault(key, {})
        group.setdefault(point, {}).setdefault(row["seed"], []).append(value)
    return [_responses(key, group, levels) for key, group in groups.items()]


def _responses(
    group: str, points: Mapping[Any, Mapping[int, list[float]]], levels: Mapping[Any, Any]
) -> Responses:
    seeds = sorted(next(iter(points.values())))
    for seeds_of in points.values():
        if sorted(seeds_of) != seeds:
            raise UsageError(
                f"the points of {group} were played on different seeds; play each on all seeds"
            )
    values = [[np.mean(by_seed[seed]) for seed in seeds] for by_seed in points.values()]
    return Responses(group, tuple(levels[point] for point in points), np.array(values))


def _group_texts(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Return for each row its policy, and the other values by which groups differ."""
    varied = {name.removeprefix("params.") for name in names}
    fixed = [
        {
            "model": row["model"],
            "preset": row["preset"],
            **{k: v for k, v in row["params"].items() if not _is_varied(k, varied)},
        }
        for row in rows
    ]
    keys = dict.fromkeys(key for one in fixed for key in one)
    differing = [key for key in keys if len({repr(one.get(key)) for one in fixed}) > 1]
    own = any(name.startswith("policy.") for name in names)
    return [
        " ".join([*(f"{key}={one.get(key)}" for key in differing), _policy(row, own=own)])
        for one, row in zip(fixed, rows, strict=True)
    ]


def _is_varied(name: str, varied: set[str]) -> bool:
    """Return whether a parameter is varied, or contains a varied one."""
    return name in varied or any(one.startswith(f"{name}.") for one in varied)


def _policy(row: Row, *, own: bool) -> str:
    """Return a policy without the arguments that points vary."""
    if GIVEN in row:
        return str(row[GIVEN])
    return str(row["policy"]).partition(",")[0] if own else str(row["policy"])
