"""The results of a suite: the columns of each world and entry, with published numbers.

Also the figures of an outcome by name, and the value of a column.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from statistics import pstdev
from typing import Any

from attrs import evolve, field, frozen

from desim.core.policy import most_known
from desim.core.roles import Knowledge
from desim.episodes.usage import default_share, usage_in_all
from desim.rows.samples import Sample
from desim.statistics.clusters import clustered_share
from desim.statistics.intervals import Interval, interval, moments
from desim.statistics.variance import VarianceComponents, variance_components
from desim.studies.sample_size import SampleSize, sizes_from_best
from desim.suites.published import published_text
from desim.suites.suite_file import PooledTable, SuiteColumn
from desim.suites.suite_folder import Outcomes, Played
from desim.suites.suite_plan import Plan, SuiteJob
from desim.suites.suite_seeds import tuned_on_report

_USAGE = "usage."


def _tokens(outcome: Played, phase: str = "") -> float | None:
    read, written = (
        outcome.usage.get(f"{phase}{kind}_tokens") for kind in ("prompt", "completion")
    )
    return None if read is None or written is None else read + written


#: Figures of every episode, in addition to those of its world.
_EPISODE_FIGURES: dict[str, Callable[[Played], float | None]] = {
    "cost": lambda outcome: outcome.usage.get("cost"),
    "tokens": _tokens,
    "minutes": lambda outcome: outcome.seconds_played / 60,
    "reasoning": lambda outcome: outcome.usage.get("reasoning_tokens"),
}

#: Ends of the names of a phase's figures.
_PHASE_CALLS, _PHASE_TOKENS = "_calls", " tokens"


def figure(outcome: Played, name: str) -> Any:
    """Return a figure by its name; see `SuiteColumn.figure`.

    Returns:
        The figure, or None if the outcome has none of that name.
    """
    if name in ("score", "ended", "decisions"):
        return getattr(outcome, name)
    if name in _EPISODE_FIGURES:
        return _EPISODE_FIGURES[name](outcome)
    if name.startswith(_USAGE):
        return outcome.usage.get(name.removeprefix(_USAGE))
    if name.endswith(_PHASE_TOKENS):
        return _tokens(outcome, f"{name.removesuffix(_PHASE_TOKENS)}_")
    return outcome.metrics.get(name)


def column_value(outcome: Played, column: SuiteColumn) -> float | None:
    """Return the number of a column; None if a figure of it is missing or not a number."""
    value = figure(outcome, column.figure)
    if column.equals is not None:
        return column.scale if value == column.equals else 0.0
    number = _number(value)
    if number is not None and column.per:
        divisor = _number(figure(outcome, column.per))
        number = number / divisor if divisor else None
    return None if number is None else number * column.scale


def _number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable else None


_LEVEL = 0.95

#: The columns that every world has after its own, unless its own include them.
_USED_COLUMNS = tuple(SuiteColumn(figure=name) for name in ("cost", "tokens", "minutes"))


def _used_columns(outcomes: Iterable[Played]) -> tuple[SuiteColumn, ...]:
    """Return the columns of what episodes used, with those parts of it that any of them reports."""
    names = dict.fromkeys(name for one in outcomes for name in one.usage)
    phases = sorted(n.removesuffix(_PHASE_CALLS) for n in names if n.endswith(_PHASE_CALLS))
    parts = ["reasoning"] if "reasoning_tokens" in names else []
    parts += [f"{phase}{_PHASE_TOKENS}" for phase in phases]
    return (*_USED_COLUMNS, *(SuiteColumn(figure=name) for name in parts))


@frozen
class ResultCell:
    """One column of one entry.

    Attributes:
        head: The column's head.
        estimate: The figure of the column; None without an episode. The mean over episodes has an
            interval, which is over the means of seeds if there are several. Episodes in a row
            depend on each other: the interval is over the means of series, and a single series has
            none.
        sd: The standard deviation over episodes; None for fewer than two.
        parts: The variances between seeds and within a seed; None if they are not known. The
            values are episodes, or the means of series.
        sample: The means of seeds on which the interval rests, where there are several.
        published: The number printed in the paper; empty for none.
        used: Whether the column is the usage of episodes, and not one of the world's own columns.
        show: The statistic that the column shows; see `SuiteColumn.show`.
        by_seed: The values that the estimate rests on, by seed.
        missing: How many episodes have no number and are not in the estimate.
    """

    head: str
    estimate: Interval | None
    sd: float | None
    parts: VarianceComponents | None = None
    published: str = ""
    used: bool = False
    show: str = "mean"
    sample: Sample = field(factory=lambda: Sample({}), repr=False)
    by_seed: Mapping[int, tuple[float, ...]] = field(factory=dict, repr=False)
    missing: int = 0


@frozen
class SuiteLine:
    """One entry in one world.

    Attributes:
        world: Its name.
        entry: Its name.
        n: Episodes in the means.
        cut: Episodes that a budget has cut; not in the means.
        training: Episodes that policies only learned from; not in the means.
        not_played: Episodes of language models that mostly took the default action; not in the
            means.
        failed: Episodes that failed; not in the means.
        open: Episodes that have not begun or not ended.
        defaults: The share of default actions in the decisions of language models, over the
            episodes in the means and those not played; None without such decisions.
        cells: The world's columns, then cost, tokens and minutes if these are not among them, and
            the tokens of reasoning and of phases where an entry of the world has any.
        knows: The most that its policies know, as its ended episodes record it.
        pooled: In a table over several worlds those whose episodes are in the means.
        usage: The mean over the episodes in the means of each sum of their usage.
        tuned_on: Seeds of these episodes on which its author says that he has tuned it.
    """

    world: str
    entry: str
    n: int
    cut: int
    training: int
    not_played: int
    failed: int
    open: int
    defaults: float | None
    cells: tuple[ResultCell, ...] = field(factory=tuple)
    knows: Knowledge = "observation"
    pooled: tuple[str, ...] = ()
    usage: Mapping[str, float] = field(factory=dict)
    tuned_on: tuple[int, ...] = ()

    @property
    def main(self) -> ResultCell:
        """The first cell that shows a mean, by which entries are compared; else the first."""
        return next((cell for cell in self.cells if cell.show == "mean"), self.cells[0])


def sizes_needed(lines: Sequence[SuiteLine]) -> dict[str, SampleSize]:
    """Return the sample size that distinguishes each entry of a world from the best one.

    Args:
        lines: The entries of one world, compared by the first column that shows a mean.
    """
    values = {line.entry: line.main.by_seed for line in lines}
    return sizes_from_best(lines[0].main.head, values) if lines else {}


def results(plan: Plan, outcomes: Outcomes) -> list[SuiteLine]:
    """Return a line for each world and entry, in the order of the suite."""
    jobs: dict[tuple[str, str], list[SuiteJob]] = {}
    for job in plan.jobs:
        jobs.setdefault((job.world, job.entry), []).append(job)
    found: list[SuiteLine] = []
    for shown, table in plan.shown.items():
        worlds = table.worlds if isinstance(table, PooledTable) else [shown]
        mine = {
            entry: own
            for entry in plan.suite.entries
            if (own := [job for world in worlds for job in jobs.get((world, entry), ())])
        }
        each = (job.name for own in mine.values() for job in own)
        used = _used_columns(one for name in each for one in outcomes.get(name, ()))
        lines = [
            _result_line(plan, shown, entry, own, outcomes, used) for entry, own in mine.items()
        ]
        found += _relative(plan, lines)
    return found


def _result_line(
    plan: Plan,
    shown: str,
    entry: str,
    jobs: Sequence[SuiteJob],
    outcomes: Outcomes,
    used: Sequence[SuiteColumn],
) -> SuiteLine:
    known = [(job, one) for job in jobs for one in outcomes.get(job.name, ())]
    states = [played.state for _, played in known]
    done = [(job, played) for job, played in known if played.state == "done"]
    table = plan.shown[shown]
    columns = table.columns or (SuiteColumn(figure="score"),)
    own, is_pooled = {column.figure for column in columns}, isinstance(table, PooledTable)
    # Several worlds may have the same seeds, and seeds in a row begin series.
    clustered = () if is_pooled else (job for job, _ in done if not job.is_series)
    clusters = {job.seed: c for job in clustered if (c := outcomes[job.name][0].cluster)}
    cells = [
        _cell(column, done, published_text(plan, shown, entry, column.published), clusters)
        for column in columns
    ]
    cells += [
        evolve(_cell(column, done, "", clusters), used=True)
        for column in (() if is_pooled else used)
        if column.figure not in own
    ]
    tuned = {} if plan.tuning else tuned_on_report(plan.suite.entries[entry], plan.suite)
    return SuiteLine(
        shown,
        entry,
        len(done),
        states.count("cut"),
        states.count("training"),
        states.count("not played"),
        states.count("failed"),
        sum(job.episodes for job in jobs) - len(known),
        _default_share(played for _, played in known if played.state in {"done", "not played"}),
        tuple(cells),
        most_known(played.knows for _, played in known),
        tuple(dict.fromkeys(job.world for job, _ in done)) if is_pooled else (),
        usage={
            name: value / len(done)
            for name, value in usage_in_all(played.usage for _, played in done).items()
        },
        tuned_on=tuple(sorted({seed for job in jobs for seed in tuned.get(job.world, ())})),
    )


def _default_share(episodes: Iterable[Played]) -> float | None:
    return default_share(usage_in_all(one.usage for one in episodes))


def _cell(
    column: SuiteColumn,
    done: Sequence[tuple[SuiteJob, Played]],
    published: str,
    clusters: Mapping[int, str],
) -> ResultCell:
    if column.show == "share":
        return _share(column, done, published)
    by_job: dict[tuple[int, int], list[float]] = {}
    for job, played in done:
        if (value := column_value(played, column)) is not None:
            by_job.setdefault((job.seed, job.repeat), []).append(value)
    values = [value for of_job in by_job.values() for value in of_job]
    lacking = len(done) - len(values)
    empty = ResultCell(
        column.head, None, None, published=published, show=column.show, missing=lacking
    )
    if not values:
        return empty
    if column.show == "spread":
        return evolve(empty, estimate=_alone(pstdev(values), len(values)))
    by_seed: dict[int, list[float]] = {}
    for (seed, _), of_job in by_job.items():
        by_seed.setdefault(seed, []).append(moments(of_job)[0])
    units = [unit for of_seed in by_seed.values() for unit in of_seed]
    means: dict[Hashable, float] = {seed: moments(each)[0] for seed, each in by_seed.items()}
    sample = Sample(means, {seed: one for seed, one in clusters.items() if seed in means})
    return evolve(
        empty,
        estimate=sample.estimate(_LEVEL) if len(means) > 1 else interval(units),
        sample=sample,
        sd=moments(values)[1],
        parts=variance_components(list(by_seed.values())),
        by_seed={seed: tuple(of_seed) for seed, of_seed in by_seed.items()},
    )


def _share(
    column: SuiteColumn, done: Sequence[tuple[SuiteJob, Played]], published: str
) -> ResultCell:
    """Return the share of 1 in lists of outcomes by item; an item is a place in a world's list."""
    lists = [
        (number, (job.world, name), outcomes)
        for number, (job, played) in enumerate(done)
        for name in column.figure.split(" + ")
        if isinstance(outcomes := figure(played, name), list)
    ]
    found = [((*where, at), one) for _, where, each in lists for at, one in enumerate(each)]
    lacking = len(done) - len({number for number, *_ in lists})
    empty = ResultCell(
        column.head, None, None, published=published, show=column.show, missing=lacking
    )
    if not found:
        return empty
    items, values = zip(*found, strict=True)
    of = clustered_share(values, items)
    return evolve(empty, estimate=Interval(of.mean, None, of.low, of.high, of.clusters))


def _alone(value: float, n: int) -> Interval:
    """Return a figure without an interval."""
    return Interval(value, None, None, None, n)


def _relative(plan: Plan, lines: Sequence[SuiteLine]) -> list[SuiteLine]:
    """Return the lines of a world, with means relative to the language models' in some columns."""
    models = [bool(plan.suite.entries[line.entry].model or "calls" in line.usage) for line in lines]
    columns = [
        _scaled(column, models) if column[0].show in ("over_best", "normalised") else column
        for column in zip(*(line.cells for line in lines), strict=True)
    ]
    cells = zip(*columns, strict=True)
    return [evolve(line, cells=of_line) for line, of_line in zip(lines, cells, strict=True)]


def _scaled(column: Sequence[ResultCell], models: Sequence[bool]) -> list[ResultCell]:
    """Return means relative to those of the language models, or of all entries without any.

    The scale begins at 0, or at the worst mean where it is normalised, and ends with 1 at the best
    mean. The estimates are None if the best mean is not above its beginning.
    """
    counts = models if any(models) else [True] * len(models)
    means = [c.estimate.mean for c, one in zip(column, counts, strict=True) if one and c.estimate]
    best = max(means, default=0.0)
    zero = min(means, default=0.0) if column[0].show == "normalised" else 0.0
    return [
        evolve(
            cell,
            estimate=_alone((cell.estimate.mean - zero) / (best - zero), cell.estimate.n)
            if cell.estimate and best > zero
            else None,
            sd=None,
            parts=None,
        )
        for cell in column
    ]
