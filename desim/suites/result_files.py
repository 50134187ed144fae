"""The results of a suite as files, a row an episode, a row a column, and JSON; and their check."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from attrs import asdict

from desim.studies.sample_size import SampleSize
from desim.suites.results import ResultCell, SuiteLine, results, sizes_needed
from desim.suites.suite_folder import Outcomes
from desim.suites.suite_plan import Plan


def result_files(plan: Plan, outcomes: Outcomes) -> dict[str, bytes]:
    """Return the content of the files of results by name."""
    lines = results(plan, outcomes)
    return {
        "rows.csv": as_csv(plan, outcomes).encode(),
        "table.csv": table_as_csv(lines).encode(),
        "results.json": as_json(lines),
    }


def as_csv(plan: Plan, outcomes: Outcomes) -> str:
    """Return one row for each episode that was played, those of a series one by one.

    `defaults` is the share of default actions in the decisions of language models.
    """
    played = [one for each in outcomes.values() for one in each]
    names = {name for one in played for name in one.metrics}
    used = {name for one in played for name in one.usage}
    heads = [
        *("world", "entry", "seed", "repeat", "episode"),
        *("state", "score", "ended", "decisions", "defaults"),
        *(f"usage.{name}" for name in sorted(used)),
        *sorted(names),
        "reason",
    ]
    return _written(heads, _rows(plan, outcomes))


def table_as_csv(lines: Sequence[SuiteLine]) -> str:
    """Return one row for each column of each line: the estimates of `as_json`."""
    rows = [
        {
            "world": line.world,
            "entry": line.entry,
            "knows": line.knows,
            "column": cell.head,
            **_cell_as_plain(cell),
            "not_played": line.not_played,
            "defaults": line.defaults,
            "tuned_on": line.tuned_on,
        }
        for line in lines
        for cell in line.cells
    ]
    return _written(list(rows[0]) if rows else [], rows)


def _written(heads: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(plan: Plan, outcomes: Outcomes) -> Iterator[dict[str, Any]]:
    for job in plan.jobs:
        for played in outcomes.get(job.name, ()):
            yield {
                "world": job.world,
                "entry": job.entry,
                "seed": job.seed + played.episode - 1,
                "repeat": job.repeat + 1,
                "episode": played.episode,
                "state": played.state,
                "score": played.score,
                "ended": played.ended,
                "decisions": played.decisions,
                "defaults": played.default_share,
                **{f"usage.{name}": value for name, value in played.usage.items()},
                **{name: _plain(value) for name, value in played.metrics.items()},
                "reason": played.error or played.limit,
            }


def _plain(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value


def as_json(lines: Sequence[SuiteLine]) -> bytes:
    """Return the lines as JSON: each estimate with mean, sd, low, high, n and two variances.

    `cases` is the number of cases that the seeds share, which the interval then counts.

    `tell_from_best` holds the fields of the entry's `desim.studies.sample_size.SampleSize`, `usage`
    means of all sums of usage, by phase where there are phases.
    """
    by_world = {w: [one for one in lines if one.world == w] for w in {ln.world for ln in lines}}
    sizes = {world: sizes_needed(mine) for world, mine in by_world.items()}
    plain = [
        {
            "world": line.world,
            "entry": line.entry,
            "knows": line.knows,
            "n": line.n,
            "cut": line.cut,
            "training": line.training,
            "not_played": line.not_played,
            "failed": line.failed,
            "open": line.open,
            "defaults": line.defaults,
            "usage": dict(line.usage),
            "columns": {cell.head: _cell_as_plain(cell) for cell in line.cells},
            "tell_from_best": _size_as_plain(sizes[line.world].get(line.entry)),
        }
        for line in lines
    ]
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def _cell_as_plain(cell: ResultCell) -> dict[str, Any]:
    estimate, parts = cell.estimate, cell.parts
    return {
        "show": cell.show,
        "mean": estimate.mean if estimate else None,
        "sd": cell.sd,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "n": estimate.n if estimate else 0,
        "cases": len(cell.sample.independent) if cell.sample.is_clustered else None,
        "variance_between_seeds": parts.between if parts else None,
        "variance_between_was_negative": parts.negative if parts else None,
        "variance_within_a_seed": parts.within if parts else None,
        "published": cell.published or None,
    }


def _size_as_plain(size: SampleSize | None) -> dict[str, Any] | None:
    return asdict(size) if size else None
