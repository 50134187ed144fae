"""The results of a suite as files: a row an episode, a row a column, and JSON."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from attrs import asdict

from desim.suites.apart import Apart, apart_from_best
from desim.suites.outcome import Outcome
from desim.suites.results import Cell, ResultLine, results
from desim.suites.suite_plan import Plan


def result_files(plan: Plan, outcomes: Mapping[str, Outcome]) -> dict[str, bytes]:
    """Return the content of the files of results by name."""
    lines = results(plan, outcomes)
    return {
        "results.csv": as_csv(plan, outcomes).encode(),
        "table.csv": table_as_csv(lines).encode(),
        "results.json": as_json(lines),
    }


def as_csv(plan: Plan, outcomes: Mapping[str, Outcome]) -> str:
    """Return one row for each episode that was played, those of a series one by one.

    `defaults` is the share of default actions in the decisions of language models.
    """
    played = [one for outcome in outcomes.values() for one in outcome.each]
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


def table_as_csv(lines: Sequence[ResultLine]) -> str:
    """Return one row for each column of each line: the estimates of `as_json`."""
    rows = [
        {
            "world": line.world,
            "entry": line.entry,
            "column": cell.head,
            **_cell_as_plain(cell),
            "not_played": line.not_played,
            "defaults": line.defaults,
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


def _rows(plan: Plan, outcomes: Mapping[str, Outcome]) -> Iterator[dict[str, Any]]:
    for job in plan.jobs:
        if (outcome := outcomes.get(job.name)) is None:
            continue
        for played in outcome.each:
            yield {
                "world": job.world.name,
                "entry": job.entry.name,
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


def as_json(lines: Sequence[ResultLine]) -> bytes:
    """Return the lines as JSON: each estimate with mean, sd, low, high, n and two variances.

    `tell_from_best` is what `desim.suites.apart.Apart` says of the entry.
    """
    worlds = dict.fromkeys(line.world for line in lines)
    apart = {
        (world, entry): one
        for world in worlds
        for entry, one in apart_from_best([ln for ln in lines if ln.world == world]).items()
    }
    plain = [
        {
            "world": line.world,
            "entry": line.entry,
            "n": line.n,
            "cut": line.cut,
            "training": line.training,
            "not_played": line.not_played,
            "failed": line.failed,
            "open": line.open,
            "defaults": line.defaults,
            "columns": {cell.head: _cell_as_plain(cell) for cell in line.cells},
            "tell_from_best": _apart_as_plain(apart.get((line.world, line.entry))),
        }
        for line in lines
    ]
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def _cell_as_plain(cell: Cell) -> dict[str, Any]:
    estimate, parts = cell.estimate, cell.parts
    return {
        "show": cell.show,
        "mean": estimate.mean if estimate else None,
        "sd": cell.sd,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "n": estimate.n if estimate else 0,
        "variance_between_seeds": parts.between if parts else None,
        "variance_between_was_negative": parts.negative if parts else None,
        "variance_within_a_seed": parts.within if parts else None,
        "published": cell.published or None,
    }


def _apart_as_plain(apart: Apart | None) -> dict[str, Any] | None:
    return asdict(apart) if apart else None
