"""The results of a suite: for each world and entry its columns, published numbers beside them."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim.statistics.intervals import Interval, interval, moments
from desim.suites.figures import column_value
from desim.suites.outcome import Outcome
from desim.suites.plan import Job, Plan, PlannedEntry, PlannedWorld
from desim.suites.published import published_text
from desim.suites.schema import Column

__all__ = ["Cell", "ResultLine", "as_csv", "as_json", "results"]

#: The fewest seeds with several episodes from which variances are estimated.
_FEWEST_GROUPS = 2

#: The columns of every world, behind its own that are not the same.
_USED = tuple(Column(figure=name) for name in ("cost", "tokens", "minutes"))


@frozen
class Cell:
    """One column of one entry.

    Attributes:
        head: The column's head.
        estimate: The mean over episodes with its interval, which is over the means of seeds where
            there are several; None without an episode.
        sd: The standard deviation over episodes; None for fewer than two.
        parts: The variance between seeds and that within a seed; None where either is not known.
        published: What the paper prints; empty for nothing.
        used: Whether the column is none of the world's own, but what its episodes used.
    """

    head: str
    estimate: Interval | None
    sd: float | None
    parts: tuple[float, float] | None = None
    published: str = ""
    used: bool = False


@frozen
class ResultLine:
    """One entry in one world.

    Attributes:
        world: Its name.
        entry: Its name.
        n: Episodes in the means.
        cut: Episodes that a budget has cut; they are in no mean.
        failed: Episodes that failed; neither are these.
        open: Episodes that are not played yet.
        cells: The world's columns, then cost, tokens and minutes where these are not among them.
    """

    world: str
    entry: str
    n: int
    cut: int
    failed: int
    open: int
    cells: tuple[Cell, ...] = field(factory=tuple)


def results(plan: Plan, outcomes: Mapping[str, Outcome]) -> list[ResultLine]:
    """Return a line for each world and entry, in the order of the suite."""
    jobs: dict[tuple[str, str], list[Job]] = {}
    for job in plan.jobs:
        jobs.setdefault((job.world.name, job.entry.name), []).append(job)
    return [
        _line(plan, world, entry, jobs[pair], outcomes)
        for world in plan.worlds.values()
        for entry in plan.entries.values()
        if (pair := (world.name, entry.name)) in jobs
    ]


def _line(
    plan: Plan,
    world: PlannedWorld,
    entry: PlannedEntry,
    jobs: Sequence[Job],
    outcomes: Mapping[str, Outcome],
) -> ResultLine:
    known = [(job, outcomes[job.name]) for job in jobs if job.name in outcomes]
    states = [outcome.state for _, outcome in known]
    done = [(job, outcome) for job, outcome in known if outcome.state == "done"]
    columns = world.table.columns or (Column(figure="score"),)
    own = {column.figure for column in columns}
    cells = [
        *(
            _cell(column, done, published_text(plan, world, entry.name, column.published))
            for column in columns
        ),
        *(
            evolve(_cell(column, done, ""), used=True)
            for column in _USED
            if column.figure not in own
        ),
    ]
    return ResultLine(
        world.name,
        entry.name,
        len(done),
        states.count("cut"),
        states.count("failed"),
        len(jobs) - len(known),
        tuple(cells),
    )


def _cell(column: Column, done: Iterable[tuple[Job, Outcome]], published: str) -> Cell:
    by_seed: dict[int, list[float]] = {}
    for job, outcome in done:
        if (value := column_value(outcome, column)) is not None:
            by_seed.setdefault(job.seed, []).append(value)
    values = [value for of_seed in by_seed.values() for value in of_seed]
    if not values:
        return Cell(column.head, None, None, published=published)
    independent = [moments(of_seed)[0] for of_seed in by_seed.values()]
    estimate = interval(independent if len(independent) > 1 else values)
    parts = _variances([of_seed for of_seed in by_seed.values() if len(of_seed) > 1])
    return Cell(column.head, estimate, moments(values)[1], parts, published)


def _variances(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the variance between groups and that within, by the analysis of variance.

    The estimate between groups that chance makes negative is 0.

    >>> _variances([[1.0, 3.0], [5.0, 7.0]])
    (7.0, 2.0)
    """
    if len(groups) < _FEWEST_GROUPS:
        return None
    count = sum(map(len, groups))
    means = [fmean(group) for group in groups]
    inside = sum(
        (value - m) ** 2 for m, group in zip(means, groups, strict=True) for value in group
    )
    within = inside / (count - len(groups))
    whole = fmean(value for group in groups for value in group)
    spread = sum(len(group) * (m - whole) ** 2 for m, group in zip(means, groups, strict=True))
    size = (count - sum(len(group) ** 2 for group in groups) / count) / (len(groups) - 1)
    return max(0.0, (spread / (len(groups) - 1) - within) / size), within


def as_csv(plan: Plan, outcomes: Mapping[str, Outcome]) -> str:
    """Return one row for each episode that was played."""
    names = {name for outcome in outcomes.values() for name in outcome.metrics}
    used = {name for outcome in outcomes.values() for name in outcome.usage}
    heads = [
        *("world", "entry", "seed", "repeat", "state", "score", "ended", "decisions"),
        *(f"usage.{name}" for name in sorted(used)),
        *sorted(names),
        "reason",
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(plan, outcomes))
    return text.getvalue()


def _rows(plan: Plan, outcomes: Mapping[str, Outcome]) -> Iterator[dict[str, Any]]:
    for job in plan.jobs:
        if (outcome := outcomes.get(job.name)) is None:
            continue
        yield {
            "world": job.world.name,
            "entry": job.entry.name,
            "seed": job.seed,
            "repeat": job.repeat + 1,
            "state": outcome.state,
            "score": outcome.score,
            "ended": outcome.ended,
            "decisions": outcome.decisions,
            **{f"usage.{name}": value for name, value in outcome.usage.items()},
            **{name: _plain(value) for name, value in outcome.metrics.items()},
            "reason": outcome.error or outcome.limit,
        }


def _plain(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value


def as_json(lines: Sequence[ResultLine]) -> bytes:
    """Return the lines as JSON: each estimate with mean, sd, low, high, n and two variances."""
    plain = [
        {
            "world": line.world,
            "entry": line.entry,
            "n": line.n,
            "cut": line.cut,
            "failed": line.failed,
            "open": line.open,
            "columns": {cell.head: _cell_as_plain(cell) for cell in line.cells},
        }
        for line in lines
    ]
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def _cell_as_plain(cell: Cell) -> dict[str, Any]:
    estimate = cell.estimate
    return {
        "mean": estimate.mean if estimate else None,
        "sd": cell.sd,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "n": estimate.n if estimate else 0,
        "variance_between_seeds": cell.parts[0] if cell.parts else None,
        "variance_within_a_seed": cell.parts[1] if cell.parts else None,
        "published": cell.published or None,
    }
