"""The results of a suite: the columns of each world and entry, with published numbers."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from statistics import pstdev

from attrs import evolve, field, frozen

from desim.core.policy import most_known
from desim.core.roles import Knowledge
from desim.episodes.usage import default_share, usage_in_all
from desim.rows.samples import Sample
from desim.statistics.clusters import clustered_share
from desim.statistics.intervals import Interval, interval, moments
from desim.suites.published import published_text
from desim.suites.suite_file import PooledTable, SuiteColumn
from desim.suites.suite_folder import Outcomes, Played
from desim.suites.suite_plan import JobKey, Plan

_LEVEL = 0.95

#: The outcomes that are counted: only those that are done are in means.
STATES = ("done", "cut", "training", "not played", "failed", "open")

#: The end of the names of a phase's calls.
_CALLS = "_calls"

#: Episodes with their jobs.
_Episodes = Sequence[tuple[JobKey, Played]]


@frozen
class ResultCell:
    """One column of one entry.

    Attributes:
        missing: How many episodes have no number and are not in the estimate.
        estimate: The figure of the column; None without an episode. The mean over episodes has an
            interval, which is over the means of seeds if there are several. Episodes in a row
            depend on each other: the interval is over the means of series, and a single series has
            none.
        sd: The standard deviation over episodes; None for fewer than two.
        sample: The means of seeds on which the interval rests.
        used: Whether the column is the usage of episodes, and not one of the world's own columns.
    """

    head: str
    show: str
    missing: int
    estimate: Interval | None = None
    sd: float | None = None
    sample: Sample = field(factory=lambda: Sample({}), repr=False)
    published: str = ""
    used: bool = False


@frozen
class SuiteLine:
    """One entry in one world, or in a table over several.

    Attributes:
        counts: Its episodes by their outcome, one of `STATES`; see `Played.state`. Open are those
            that have not begun or not ended.
        defaults: The share of default actions in the decisions of language models, over the
            episodes in the means and those not played; None without such decisions.
        cells: The world's columns, then cost, tokens and minutes if these are not among them, and
            the tokens of reasoning and of phases where any entry has some.
        knows: The most that its policies know, as its ended episodes record it.
        pooled: In a table over several worlds those whose episodes are in the means.
    """

    world: str
    entry: str
    counts: Mapping[str, int]
    defaults: float | None
    cells: tuple[ResultCell, ...]
    knows: Knowledge
    pooled: tuple[str, ...] = ()

    @property
    def main(self) -> ResultCell:
        """The first cell that shows a mean, by which entries are compared; else the first."""
        return next((cell for cell in self.cells if cell.show == "mean"), self.cells[0])


def results(plan: Plan, outcomes: Outcomes) -> list[SuiteLine]:
    """Return a line for each world and entry, in the order of the suite."""
    jobs: dict[tuple[str, str], list[JobKey]] = {}
    for job in plan.jobs:
        jobs.setdefault((job.world, job.entry), []).append(job)
    used = _used_columns({n for each in outcomes.values() for one in each for n in one.usage})
    found: list[SuiteLine] = []
    for shown, table in plan.shown.items():
        worlds = table.worlds if isinstance(table, PooledTable) else [shown]
        lines = [
            _result_line(plan, shown, mine, outcomes, used)
            for entry in plan.suite.entries
            if (mine := [job for world in worlds for job in jobs.get((world, entry), ())])
        ]
        models = [bool(plan.suite.entries[line.entry].model) for line in lines]
        columns = zip(*(line.cells for line in lines), strict=True)
        scaled = zip(*(_scaled(column, models) for column in columns), strict=True)
        found += [evolve(line, cells=cells) for line, cells in zip(lines, scaled, strict=True)]
    return found


def _used_columns(usage: Collection[str]) -> list[SuiteColumn]:
    """Return the columns of what episodes used, with those parts of it that any of them reports."""
    phases = sorted(name.removesuffix(_CALLS) for name in usage if name.endswith(_CALLS))
    parts = ["reasoning"] if "reasoning_tokens" in usage else []
    names = ["cost", "tokens", "minutes", *parts, *(f"{phase} tokens" for phase in phases)]
    return [SuiteColumn(figure=name) for name in names]


def _result_line(
    plan: Plan,
    shown: str,
    jobs: Sequence[JobKey],
    outcomes: Outcomes,
    used: Sequence[SuiteColumn],
) -> SuiteLine:
    entry, table, worlds = jobs[0].entry, plan.shown[shown], plan.suite.worlds
    known = [(job, one) for job in jobs for one in outcomes.get(job, ())]
    done = [(job, one) for job, one in known if one.state == "done"]
    counts = Counter(one.state for _, one in known)
    counts["open"] = sum(worlds[job.world].episodes for job in jobs) - len(known)
    decided = (one.usage for _, one in known if one.state in {"done", "not played"})
    columns = table.columns or (SuiteColumn(figure="score"),)
    own, is_pooled = {column.figure for column in columns}, isinstance(table, PooledTable)
    # Several worlds may have the same seeds, and seeds in a row begin series.
    alone = not is_pooled and worlds[shown].episodes == 1
    clusters = {job.seed: one.cluster for job, one in done if alone and one.cluster}
    cells = [
        evolve(_cell(c, done, clusters), published=published_text(plan, shown, entry, c.published))
        for c in columns
    ]
    others = () if is_pooled else (column for column in used if column.figure not in own)
    cells += [evolve(_cell(column, done, clusters), used=True) for column in others]
    return SuiteLine(
        shown,
        entry,
        counts,
        default_share(usage_in_all(decided)),
        tuple(cells),
        most_known(one.knows for _, one in known),
        tuple(dict.fromkeys(job.world for job, _ in done)) if is_pooled else (),
    )


def column_value(outcome: Played, column: SuiteColumn) -> float | None:
    """Return the number of a column; None if a figure of it is missing or not a number."""
    if column.equals is not None:
        return column.scale if outcome.figure(column.figure) == column.equals else 0.0
    value, divisor = (_number(outcome.figure(name)) for name in (column.figure, column.per))
    if value is not None and column.per:
        value = value / divisor if divisor else None
    return None if value is None else value * column.scale


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _cell(column: SuiteColumn, done: _Episodes, clusters: Mapping[int, str]) -> ResultCell:
    if column.show == "share":
        return _share(column, done)
    by_job: dict[tuple[int, int], list[float]] = {}
    for job, played in done:
        if (value := column_value(played, column)) is not None:
            by_job.setdefault((job.seed, job.repeat), []).append(value)
    values = [value for of_job in by_job.values() for value in of_job]
    cell = ResultCell(column.head, column.show, len(done) - len(values))
    if not values:
        return cell
    if column.show == "spread":
        return evolve(cell, estimate=_alone(pstdev(values), len(values)))
    by_seed: dict[int, list[float]] = {}
    for (seed, _), of_job in by_job.items():
        by_seed.setdefault(seed, []).append(moments(of_job)[0])
    means: dict[Hashable, float] = {seed: moments(each)[0] for seed, each in by_seed.items()}
    sample = Sample(means, {seed: one for seed, one in clusters.items() if seed in means})
    units = [unit for of_seed in by_seed.values() for unit in of_seed]
    estimate = sample.estimate(_LEVEL) if len(means) > 1 else interval(units)
    return evolve(cell, estimate=estimate, sample=sample, sd=moments(values)[1])


def _share(column: SuiteColumn, done: _Episodes) -> ResultCell:
    """Return the share of 1 in lists of outcomes by item; an item is a place in a world's list."""
    lists = [
        (number, (job.world, name), outcomes)
        for number, (job, played) in enumerate(done)
        for name in column.figure.split(" + ")
        if isinstance(outcomes := played.figure(name), list)
    ]
    cell = ResultCell(column.head, column.show, len(done) - len({at for at, *_ in lists}))
    found = [((*where, at), one) for _, where, each in lists for at, one in enumerate(each)]
    if not found:
        return cell
    items, values = zip(*found, strict=True)
    of = clustered_share(values, items)
    return evolve(cell, estimate=Interval(of.mean, None, of.low, of.high, of.clusters))


def _alone(value: float, n: int) -> Interval:
    """Return a figure without an interval."""
    return Interval(value, None, None, None, n)


def _scaled(column: Sequence[ResultCell], models: Sequence[bool]) -> Sequence[ResultCell]:
    """Return relative means, if the column shows them; None where the best is not above zero."""
    if column[0].show not in ("over_best", "normalised"):
        return column
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
        )
        for cell in column
    ]
