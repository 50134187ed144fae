"""A grid that plays more and more of its seeds, and the values that its cells have so far."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import evolve, field, frozen

from desim.core.model import Model
from desim.engine.grid import checked_seeds
from desim.engine.plan import Grid
from desim.engine.run.playing import Playing
from desim.errors import UsageError
from desim.rows.failures import missing_text
from desim.rows.rows import Rows
from desim.short_repr import short_repr
from desim.statistics.sequences import ScoreRange
from desim.statistics.shape import differences
from desim.statistics.stopping import checked_first, first_look, looks
from desim.studies.options import GoalOptions

#: Seeds of a study at most.
MOST_SEEDS = 1_000_000


@frozen
class Batches:
    """The seeds of a study that looks at its figures on the way.

    Each seed behind the first batch has a new cluster, so that it adds an independent value.

    Attributes:
        plan: The grid with all seeds that may be played, those of the first batch first.
        first: The number of seeds of the first batch.
        clusters: For each seed of the first batch, the place of the first seed of its cluster.
        bounds: The range of the figure; None if none is declared.
    """

    plan: Grid
    first: int
    clusters: tuple[int, ...]
    bounds: ScoreRange | None

    def looks(self) -> Iterator[int]:
        """Yield the numbers of seeds at which one looks."""
        before = self.first - len(set(self.clusters))
        for count in looks(self.first - before, len(self.plan.seeds) - before):
            yield before + count

    def values(self, by_seed: Sequence[float]) -> list[float]:
        """Return the means of the clusters, from the values of the first seeds."""
        groups: dict[int, list[float]] = {}
        for place, value in enumerate(by_seed):
            key = self.clusters[place] if place < self.first else place
            groups.setdefault(key, []).append(value)
        return [fmean(group) for group in groups.values()]

    def name(self, cell: int) -> str:
        """Return the parameters that vary and the policy of a cell."""
        seen = [{"model": c.name, "preset": c.preset, **c.params} for c in self.plan.cells]
        keys = dict.fromkeys(key for one in seen for key in one)
        varying = (key for key in keys if len({repr(one.get(key)) for one in seen}) > 1)
        texts = (f"{key}={seen[cell].get(key)}" for key in varying)
        return " ".join([*texts, self.plan.cells[cell].entry.label])

    def is_fixed(self, *cells: int | None) -> bool:
        """Return whether some cells, or all, are known to have the same episode on every seed."""
        named = [self.plan.cells[cell] for cell in cells if cell is not None]
        return all(cell.is_fixed for cell in named or self.plan.cells)


def batches(options: GoalOptions, *, any_first: bool = False) -> Batches:
    """Return the seeds of a study, its grid and the range of its figure.

    Args:
        options: The arguments of the study.
        any_first: Whether a first batch may be of any size, as no statement rests on it.

    Raises:
        UsageError: See `sweep`; or the first batch is too small, a range, *rarest* or *max_seeds*
            is wrong, or the seeds of a model have too few clusters.
    """
    if not 1 <= options.max_seeds <= MOST_SEEDS:
        raise UsageError(f"max_seeds={options.max_seeds} was given; possible: 1 to {MOST_SEEDS:,}")
    plan = options.grid([0])
    least = first_look(options.rarest)
    models = plan.models
    bounds = declared_range(options, models)
    is_fixed = all(cell.is_fixed for cell in plan.cells)
    seeds, first = _seeds(options, models, 1 if any_first or bounds or is_fixed else least)
    plan = evolve(plan, seeds=tuple(seeds))
    clusters = _same_clusters(models, seeds[:first])
    if not is_fixed:
        count = len(set(clusters))
        is_clustered = any(model.cluster(seeds[0]) is not None for model in models)
        if is_clustered and count + len(seeds) - first < min(least, options.max_seeds):
            raise UsageError(
                f"{options.max_seeds:,} seeds have {count + len(seeds) - first} clusters, such as "
                "cases, and repeat them; play a number of seeds that is fixed beforehand"
            )
        if not any_first:
            checked_first(count, bounds, least)
    return Batches(plan, first, clusters, bounds)


def _seeds(
    options: GoalOptions, models: Sequence[Model[Any]], least: int
) -> tuple[Sequence[int], int]:
    """Return all seeds that may be played, and how many of them are in the first batch.

    Args:
        options: The arguments of the study.
        models: Its models.
        least: The clusters that a first batch of given seeds has at least, if there are as many.
    """
    clustered = [model for model in models if model.cluster(0) is not None]
    if options.seeds is None:
        seeds = [*_with_new_clusters(clustered, (), range(options.max_seeds))]
        return seeds, min(first_look(options.rarest), len(seeds))
    given = checked_seeds(options.seeds)
    start, more = max(given) + 1, options.max_seeds - len(given)
    if more < 0:
        raise UsageError(
            f"max_seeds={options.max_seeds} was given, but the first batch has {len(given)} seeds"
        )
    seeds = [*given, *_with_new_clusters(clustered, given, range(start, start + more))]
    # Each of the further seeds has a cluster of its own.
    missing = max(0, least - len(set(_same_clusters(models, given))))
    return seeds, min(len(seeds), len(given) + missing)


def declared_range(options: GoalOptions, models: Iterable[Model[Any]]) -> ScoreRange | None:
    """Return the range of the figure: the one that is given, or that of the models' scores.

    Raises:
        UsageError: The text or the pair is wrong.
    """
    given = options.score_range
    if given is not None:
        return None if given == "none" else _read_range(given)
    if options.figure != "score":
        return None
    ranges = [one.figures.both_bounds for one in models]
    known = [one for one in ranges if one is not None]
    if len(known) < len(ranges):
        return None
    return ScoreRange(min(low for low, _ in known), max(high for _, high in known))


def _read_range(given: str | tuple[float, float]) -> ScoreRange:
    parts = given.split(":") if isinstance(given, str) else given
    try:
        low, high = map(float, parts)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high or math.isinf(high - low):
        raise UsageError(
            f"range {short_repr(given)} was given; write LOW:HIGH, between which all values are, "
            "or none"
        )
    return ScoreRange(low, high)


def _with_new_clusters(
    models: Sequence[Model[Any]], given: Iterable[int], seeds: Iterable[int]
) -> Iterator[int]:
    """Yield the seeds whose cluster is a new one in every model."""
    seen = [{model.cluster(seed) for seed in given} for model in models]
    for seed in seeds:
        names = [model.cluster(seed) for model in models]
        if not any(name in known for name, known in zip(names, seen, strict=True)):
            for name, known in zip(names, seen, strict=True):
                known.add(name)
            yield seed


def _same_clusters(models: Iterable[Model[Any]], seeds: Sequence[int]) -> tuple[int, ...]:
    """Return for each seed the place of the first one of its cluster.

    Raises:
        UsageError: Models have different clusters.
    """
    found = set()
    for model in models:
        names = [model.cluster(seed) or seed for seed in seeds]
        first: dict[Any, int] = {}
        found.add(tuple(first.setdefault(name, place) for place, name in enumerate(names)))
    if len(found) > 1:
        raise UsageError(
            "the seeds have different clusters, such as cases, in these models; play one model, or "
            "seeds of which each has its own cluster"
        )
    return found.pop()


@frozen(eq=False)
class PlayedCells:
    """The cells of a grid, of which each has played its first seeds.

    Attributes:
        playing: The grid, and what was played.
        show: The figure.
        batches: The seeds.
        sign: 1, or -1 where lower is better: values are then negated, so that higher ones are.
        rows: By cell, the rows so far.
    """

    playing: Playing
    show: str
    batches: Batches
    sign: int = 1
    rows: dict[int, Rows] = field(factory=dict)

    def play(self, seeds: Mapping[int, int]) -> None:
        """Play the first seeds of some cells: as many as given."""
        size = len(self.batches.plan.seeds)
        self.playing.play(
            index
            for cell, count in seeds.items()
            for index in range(cell * size, cell * size + count)
        )
        rows = self.playing.rows()
        # Rows are in the order of their jobs.
        start = 0
        for cell in range(len(self.batches.plan.cells)):
            count = max(len(self.rows.get(cell, ())), seeds.get(cell, 0))
            self.rows[cell] = rows[start : start + count]
            start += count

    def values(self, cell: int, other: int | None = None) -> list[float]:
        """Return the figure of every cluster times the sign, less that of another cell if given.

        There are none if an episode has none.
        """
        by_seed = self.rows[cell].counted(self.show)
        known = [self.sign * value for value in by_seed if value is not None]
        mine = self.batches.values(known) if len(known) == len(by_seed) else []
        if other is None:
            return mine
        # A reference has played as many seeds as its last rival.
        theirs = self.values(other)[: len(mine)]
        return differences(mine, theirs) if theirs else []

    def problem(self, cell: int, other: int | None = None) -> str:
        """Return why a cell, or its difference to another one, has no values."""
        if other is not None and self.values(cell):
            return f"{self.batches.name(other)}: {self.problem(other)}"
        rows = self.rows[cell]
        if rows.failed:
            return "episodes have failed"
        return missing_text(rows.counted(self.show).count(None), len(rows))

    def mean(self, cell: int) -> float | None:
        """Return the mean of the clusters; None if an episode has no figure."""
        values = self.values(cell)
        return self.sign * fmean(values) if values else None
