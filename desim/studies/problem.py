"""The mean score of a policy as a function of its parameters, for optimisers.

All points play the same seeds (common random numbers), so the function is deterministic and the
difference of two points is that of paired episodes. The best of many means is biased upwards: play
the result on other seeds with `Problem.scores` before you rely on it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen

from desim.core.limits import Limits
from desim.engine.grid import checked_seeds, grid
from desim.engine.parameters import Choices, Range, read_ranges
from desim.engine.plan import Grid
from desim.engine.run.executors import Executor
from desim.engine.run.playing import playing
from desim.errors import DesimError, UsageError
from desim.short_repr import short_repr

#: A value by parameter.
Point = Mapping[str, Any]


@frozen(eq=False)
class Problem:
    """The mean score of a policy as a function of its parameters; `desim.problem` makes one.

    A point is a mapping of parameters to values, or a vector in the order of `ranges`: a whole or a
    real number, the decimal logarithm of one with a `log` range, and the place of a choice from 0.
    Entries of whole numbers and choices are rounded.

    Args:
        model: A name (perhaps with `/preset`), a model class or a model.
        policy: A spec, class, attrs instance, or mapping of roles to these.
        parameters: Ranges by parameter, as `tune` takes them: `int:0:60`, `float:0.1:2`,
            `log:1:1e6`, `choice:a|b`; any other value is fixed.
        seeds: The seeds of every evaluation.
        preset: For models given by name or class; empty means the first.
        jobs: Worker processes (see `sweep`), which stay between evaluations.
        executor: See `sweep`.
        limits: The limits of each episode.

    Raises:
        UsageError: A name does not exist, a range is wrong, or all of its points are refused.
    """

    model: Any
    policy: Any
    parameters: Mapping[str, Any]
    seeds: tuple[int, ...] = field(default=range(20), converter=checked_seeds, kw_only=True)
    preset: str = field(default="", kw_only=True)
    jobs: int = field(default=1, kw_only=True)
    executor: Executor | str | None = field(default=None, kw_only=True)
    limits: Limits | None = field(default=None, kw_only=True)
    _known: dict[Any, np.ndarray] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.probed()

    @cached_property
    def _ranges_and_fixed(self) -> tuple[dict[str, Range | Choices], dict[str, Any]]:
        return read_ranges(self.parameters)

    @property
    def ranges(self) -> Mapping[str, Range | Choices]:
        """The ranges by parameter."""
        return self._ranges_and_fixed[0]

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The least and the largest entry of each parameter, as `scipy.optimize` takes them."""
        return [_bounds(one) for one in self.ranges.values()]

    @property
    def integrality(self) -> list[bool]:
        """Which entries are whole numbers, as `scipy.optimize.differential_evolution` takes it."""
        return [isinstance(one, Choices) or one.scale == "int" for one in self.ranges.values()]

    def point(self, vector: Iterable[float]) -> dict[str, Any]:
        """Return the values of a vector.

        Raises:
            UsageError: It has too many or too few entries, or one is out of bounds or not a number.
        """
        try:
            entries = [float(each) for each in vector]
        except (TypeError, ValueError) as fault:
            raise UsageError(f"a vector of numbers was expected: {fault}") from None
        if len(entries) != len(self.ranges):
            raise UsageError(
                f"a vector of {len(entries)} entries was given; its entries are "
                f"{', '.join(self.ranges)}"
            )
        pairs = zip(self.ranges.items(), entries, strict=True)
        return {name: _value_of_entry(name, one, entry) for (name, one), entry in pairs}

    def scores(
        self, point: Point | Iterable[float], seeds: Iterable[int] | None = None
    ) -> np.ndarray:
        """Return the score of each seed at a point.

        Args:
            point: A mapping of parameters to values, or a vector.
            seeds: Other seeds than those of the problem, such as held-out ones.

        Raises:
            UsageError: A value is refused.
            DesimError: An episode failed, and its model declares no worst score.
        """
        values = dict(point) if isinstance(point, Mapping) else self.point(point)
        played = self.seeds if seeds is None else checked_seeds(seeds)
        # Optimisers return to points. As text: 1, 1.0 and True differ, and lists are unhashable.
        key = (repr(sorted(values.items())), played)
        if key not in self._known:
            self._known[key] = self._played(values, played)
        return self._known[key].copy()

    def mean(self, point: Point | Iterable[float]) -> float:
        """Return the mean score at a point; higher is better. Errors are those of `scores`."""
        return float(np.mean(self.scores(point)))

    def __call__(self, vector: Iterable[float]) -> float:
        """Return minus the mean score, which `scipy.optimize` minimises."""
        return -self.mean(vector)

    def plan(self, point: Point, seeds: Sequence[int]) -> Grid:
        """Return the plan of a point on some seeds: one model, one policy."""
        given = {**self._ranges_and_fixed[1], **point}
        found = grid(self.model, self.policy, seeds, self.preset, given, self.limits)
        if len(found) != len(seeds):
            raise UsageError(
                f"{len(found.models)} models and {len(found.entries)} policies were given; tuning "
                "takes one of each, and one value of a parameter that has no range"
            )
        return found

    def probed(self) -> list[Grid]:
        """Return the plans of the lowest, middle and highest point, without refused ones."""
        found, refusals = [], []
        for place in (0.0, 0.5, 1.0):
            point = {name: one.value(place) for name, one in self.ranges.items()}
            try:
                found.append(self.plan(point, self.seeds))
            except UsageError as fault:
                refusals.append(fault)
        if not found:
            raise refusals[0]
        return found

    def _played(self, point: Point, seeds: Sequence[int]) -> np.ndarray:
        with playing(self.plan(point, seeds), self.jobs, executor=self.executor) as started:
            started.play(range(len(seeds)))
            rows = started.rows()
        found = rows.counted("score")
        if None in found:
            failed = rows[found.index(None)]
            raise DesimError(f"seed {failed['seed']} failed at {dict(point)}: {failed['error']}")
        return np.array(found, dtype=float)


#: The public name: `desim.problem(model, policy, parameters)` is called like `desim.tune`.
problem = Problem


def _bounds(one: Range | Choices) -> tuple[float, float]:
    if isinstance(one, Choices):
        return 0.0, float(len(one.values) - 1)
    if one.scale == "log":
        return math.log10(one.low), math.log10(one.high)
    return float(one.low), float(one.high)


def _value_of_entry(name: str, one: Range | Choices, entry: float) -> Any:
    low, high = _bounds(one)
    # Optimisers sometimes leave the bounds by a rounding error.
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    if not low - slack <= entry <= high + slack:
        raise UsageError(
            f"{name}={short_repr(entry)} was given; it is between {low:g} and {high:g}"
        )
    inside = min(high, max(low, entry))
    if isinstance(one, Choices):
        return one.values[round(inside)]
    if one.scale == "log":
        return one.rounded(10.0**inside)
    return one.rounded(round(inside) if one.scale == "int" else inside)
