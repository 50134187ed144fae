"""A grid that plays more and more of its seeds, and the values that its cells have so far."""

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import evolve, field, frozen

from desim.core.model import Model
from desim.engine.grid import checked_seeds
from desim.engine.run.playing import Playing
from desim.errors import UsageError
from desim.rows.notes import missing_text
from desim.rows.rows import Rows
from desim.short_repr import short_repr
from desim.statistics.sequences import ScoreRange
from desim.statistics.shape import differences
from desim.statistics.stopping import FIRST_LOOK, checked_first, looks
from desim.studies.options import GoalOptions


@frozen(eq=False)
class Batches:
    """The cells of a grid, of which each has played its first seeds.

    Attributes:
        playing: The grid with all seeds that may be played, and what was played.
        first: The number of seeds of the first batch.
        sign: 1, or -1 where lower is better: values are then negated, so that higher ones are.
        rows: By cell, the rows so far.
    """

    playing: Playing
    figure: str
    first: int
    bounds: ScoreRange | None
    sign: int = 1
    rows: dict[int, Rows] = field(factory=dict)

    @property
    def cells(self) -> range:
        """The indices of all cells."""
        return range(len(self.playing.plan.cells))

    def looks(self) -> Iterator[int]:
        """Yield the numbers of seeds at which one looks."""
        return looks(self.first, len(self.playing.plan.seeds))

    def play(self, seeds: Mapping[int, int]) -> None:
        """Play the first seeds of some cells: as many as given."""
        size = len(self.playing.plan.seeds)
        self.playing.play(
            index
            for cell, count in seeds.items()
            for index in range(cell * size, cell * size + count)
        )
        rows, start = self.playing.rows(), 0  # in the order of their jobs
        for cell in self.cells:
            count = max(len(self.rows.get(cell, ())), seeds.get(cell, 0))
            self.rows[cell] = rows[start : start + count]
            start += count

    def values(self, cell: int, other: int | None = None) -> list[float]:
        """Return the figure of every seed times the sign, less that of another cell if given.

        There are none if an episode has none.
        """
        by_seed = self.rows[cell].counted(self.figure)
        mine = [self.sign * value for value in by_seed if value is not None]
        if len(mine) < len(by_seed):
            return []
        if other is None:
            return mine
        # A reference has played as many seeds as its last rival.
        theirs = self.values(other)[: len(mine)]
        return differences(mine, theirs) if theirs else []

    def known(self, cell: int) -> list[float]:
        """Return the values of a cell, of which there must be some."""
        if not (values := self.values(cell)):
            problem = self.problem(cell)
            raise UsageError(f"{self.name(cell)} cannot be compared with the others: {problem}")
        return values

    def mean(self, cell: int) -> float | None:
        """Return the mean of the figure; None if an episode has none."""
        values = self.values(cell)
        return self.sign * fmean(values) if values else None

    def problem(self, cell: int, other: int | None = None) -> str:
        """Return why a cell, or its difference to another one, has no values."""
        if other is not None and self.values(cell):
            return f"{self.name(other)}: {self.problem(other)}"
        rows = self.rows[cell]
        if rows.failed:
            return "episodes have failed"
        return missing_text(rows.counted(self.figure).count(None), len(rows))

    def name(self, cell: int) -> str:
        """Return the parameters that vary and the policy of a cell."""
        cells = self.playing.plan.cells
        seen = [{"model": c.name, "preset": c.preset, **c.params} for c in cells]
        keys = dict.fromkeys(key for one in seen for key in one)
        varying = (key for key in keys if len({repr(one.get(key)) for one in seen}) > 1)
        texts = (f"{key}={seen[cell].get(key)}" for key in varying)
        return " ".join([*texts, cells[cell].entry.label])

    def is_fixed(self, *cells: int | None) -> bool:
        """Return whether some cells are known to have the same episode on every seed."""
        each = self.playing.plan.cells
        return all(each[cell].is_fixed for cell in cells if cell is not None)


@contextlib.contextmanager
def batches(options: GoalOptions, sign: int = 1, *, any_first: bool = False) -> Iterator[Batches]:
    """Open the grid of a study that looks at its figure on the way.

    Of seeds that share a cluster, such as a case, the first is played, so that each adds an
    independent value.

    Args:
        options: The arguments of the study.
        sign: -1 if lower values are better.
        any_first: Whether a first batch may be of any size, as no statement rests on it.
    """
    most = options.max_seeds
    plan = options.grid(range(most))
    bounds = _declared_range(options, plan.models)
    given = () if options.seeds is None else checked_seeds(options.seeds)
    if len(given) > most:
        raise UsageError(
            f"max_seeds={most} was given, but the first batch has {len(given)} seeds already"
        )
    start = max(given, default=-1) + 1
    every = [*given, *range(start, start + most - len(given))]
    seeds = [*_with_new_clusters(plan.models, every)]
    is_fixed = all(cell.is_fixed for cell in plan.cells)
    if len(seeds) < min(FIRST_LOOK, most) and not is_fixed:
        raise UsageError(
            f"{most:,} seeds have {len(seeds)} clusters, such as cases, and repeat them; play a "
            "number of seeds that is fixed beforehand"
        )
    is_free = any_first or bounds is not None or is_fixed
    wanted = len({*seeds}.intersection(given)) if given and is_free else max(FIRST_LOOK, len(given))
    first = min(len(seeds), wanted)
    if not (any_first or is_fixed):
        checked_first(first, bounds)
    with options.playing(evolve(plan, seeds=tuple(seeds))) as started:
        of_values = bounds.negated if bounds and sign < 0 else bounds
        yield Batches(started, options.figure, first, of_values, sign)


def _with_new_clusters(models: Sequence[Model[Any]], seeds: Iterable[int]) -> Iterator[int]:
    """Yield the seeds whose cluster is a new one in every model."""
    seen: list[set[str | None]] = [{None} for _ in models]
    for seed in seeds:
        names = [model.cluster(seed) for model in models]
        if not any(name and name in known for name, known in zip(names, seen, strict=True)):
            for name, known in zip(names, seen, strict=True):
                known.add(name)
            yield seed


def _declared_range(options: GoalOptions, models: Iterable[Model[Any]]) -> ScoreRange | None:
    """Return the range of the figure: the one that is given, or that of the models' scores."""
    if options.score_range is not None:
        return None if options.score_range == "none" else _read_range(options.score_range)
    if options.figure != "score":
        return None
    ranges = [one.figures.both_bounds for one in models]
    known = [one for one in ranges if one is not None]
    if len(known) < len(ranges):
        return None
    return ScoreRange(min(low for low, _ in known), max(high for _, high in known))


def _read_range(given: str | tuple[float, float]) -> ScoreRange:
    try:
        low, high = map(float, given.split(":") if isinstance(given, str) else given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high or math.isinf(high - low):
        raise UsageError(
            f"range {short_repr(given)} was given; write LOW:HIGH, between which all values are, "
            "or none"
        )
    return ScoreRange(low, high)
