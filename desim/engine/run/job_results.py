"""The results of a job as plain JSON values: what its episode returned, or why it failed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict

from desim.core.model import ItemsModel
from desim.core.policy import most_known
from desim.core.result import Series
from desim.engine.plan import (
    CLUSTER,
    DEFAULTS,
    EPISODES,
    ITEMS,
    RECORD,
    SERIES,
    SERIES_COLUMNS,
    USAGE,
    Job,
)
from desim.episodes.series import episode_file
from desim.episodes.usage import default_share, recorded_usage, unplayed_roles, usage_in_all
from desim.records.episode import Episode
from desim.show.labels import flat

#: Most characters of an error text.
_MAX_ERROR = 500


def results_of(job: Job, episode: Episode, seconds: float) -> dict[str, Any]:
    """Return the results of an episode that has ended.

    One in which more than `MOST_DEFAULTS` of the decisions of a policy were default actions was not
    played, and has an error. A metric that is not finite is None.

    Args:
        job: Its job.
        episode: The episode; with its state if its model has items.
        seconds: How long it took.
    """
    result = episode.result
    assert result is not None
    used, unplayed = usage_in_all(result.usage.values()), unplayed_roles(result.usage)
    if unplayed and not job.cell.usage:
        failed = _failed(_not_played(result.usage, unplayed[0]))
        return {**failed, DEFAULTS: default_share(used), **_beside(job, None)}
    found: dict[str, Any] = {
        "score": result.score,
        "ended": result.ended,
        "decisions": result.decisions,
        "metrics": dict(flat(result.metrics)),
        "ledger_digest": result.ledger_digest,
        "error": None,
    }
    if job.cell.usage:
        noted = (step.notes or {} for step in episode.steps)
        limits = (str(notes["limit"]) for notes in noted if "limit" in notes)
        found |= {
            USAGE: used,
            "seconds": round(seconds, 3),
            "knows": most_known(episode.header.knows.values()),
            "limit": next(limits, ""),
            "unplayed": unplayed,
        }
    elif isinstance(model := job.cell.model, ItemsModel):
        found[ITEMS] = model.item_results(episode.state)
    if (share := default_share(used)) is not None:
        found[DEFAULTS] = share
    series = episode.inside.series[0] if episode.inside else None
    return {**found, **_beside(job, series)}


def without_score(
    job: Job, error: str | None, ended: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the results of a job that failed, or of its episodes in a row that have *ended*.

    The error is None if all have ended; the usage is that of the one which did not.
    """
    found = {**_failed(error), **_beside(job, None)}
    if job.cell.episodes > 1:
        found[EPISODES] = ended
    if job.cell.usage and (cut := job.record) is not None:
        in_a_row = job.cell.episodes > 1
        found[USAGE] = recorded_usage(episode_file(cut, len(ended) + 1) if in_a_row else cut)
    return found


def _failed(error: str | None) -> dict[str, Any]:
    none: dict[str, Any] = dict.fromkeys(("score", "ended", "decisions"))
    return {**none, "metrics": {}, "ledger_digest": None, "error": error}


def _not_played(usages: Mapping[str, Mapping[str, float]], role: str) -> str:
    """Return a sentence on the default actions of a role, named where other roles count theirs."""
    used = usages[role]
    counting = sum(default_share(one) is not None for one in usages.values())
    of_role = f" of {role}" if counting > 1 else ""
    counts = f"{used['default_actions']:,} of {used['decisions']:,} decisions{of_role}"
    return f"not played: {counts} were default actions"


def _beside(job: Job, series: Series | None) -> dict[str, Any]:
    """Return the cluster of the seed, and the record and the series, where they are wanted."""
    model, found = job.cell.model, dict[str, Any]()
    if (cluster := model.cluster(job.seed)) is not None:
        found[CLUSTER] = cluster
    if job.record is not None:
        found[RECORD] = job.cell.record_name(job.seed) if job.has_record else None
    if job.cell.series:
        found[SERIES], declared = series or {}, model.figures.series
        columns = {name: asdict(declared[name]) for name in found[SERIES] if name in declared}
        for column in columns.values():
            del column["better"]  # metrics have it, series do not
        found[SERIES_COLUMNS] = columns
    return found


def error_label(fault: BaseException) -> str:
    """Return an exception as one line that is the same in every process."""
    text = " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", str(fault)).split())
    return f"{type(fault).__name__}: {text}".removesuffix(": ")[:_MAX_ERROR]
