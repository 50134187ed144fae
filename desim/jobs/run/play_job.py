"""Plays the jobs of a sweep, in this process or in a worker, and returns their rows."""

import copy
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from attrs import asdict

from desim.core.limits import alarm
from desim.core.model_protocols import HasWorstScore, Model, offers
from desim.core.reported import HasSeriesColumns
from desim.core.result import Series, flat
from desim.episodes.collector import rare_collections
from desim.episodes.driver import play_session
from desim.episodes.episode_options import EpisodeOptions
from desim.episodes.lineup import is_made_anew, resolve
from desim.episodes.session import Session
from desim.jobs.plan.job import GIVEN, POINT, SERIES_COLUMNS, Job, Row
from desim.jobs.rows.failures import WORST_SCORE
from desim.jobs.run.files_read import RowFiles
from desim.jobs.run.signals import hard_limit
from desim.opened_files import noting
from desim.records.episode import Episode
from desim.schema.scalars import plain_scalar

#: Seconds after which a worker returns the rows that it has, so that progress stays visible and
#: little is lost when it is killed.
SECONDS_PER_CHUNK = 0.25

#: Most characters of an error text in a row.
_MAX_ERROR = 500

_encode = msgspec.json.Encoder(enc_hook=plain_scalar).encode


def play_chunk(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Play jobs in order for `SECONDS_PER_CHUNK`, but at least one.

    Yields:
        The row of each job as JSON, the form in which rows are sent and stored, with the files
        that were opened (see `row_files.split`).
    """
    end = time.monotonic() + SECONDS_PER_CHUNK
    files = RowFiles()
    # Around all episodes, as the end of each would collect the young objects of its own.
    with rare_collections():
        for job in jobs:
            with noting():
                row = play_to_json(job)
            yield files.added(row, job.cell)
            if time.monotonic() > end:
                return


def play_job(job: Job) -> Row:
    """Play one episode.

    An exception of a policy or the model becomes the row's `error`, and the other results of that
    row are None. A metric that is not finite is None as well.

    Returns:
        model, preset, params, policy, arguments, seed, score, ended, decisions, metrics,
        ledger_digest, error, worst_score if the model declares one, point and given if the job
        belongs to a design, and series if it requests them.
    """
    row: Row = msgspec.json.decode(play_to_json(job))
    return row


def play_to_json(job: Job) -> bytes:
    """Play one episode and return its row as JSON."""
    try:
        return _encode(_row(job, **_results(_play(job))))
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # noqa: BLE001 (sys.exit in a policy ends its episode only)
        return _encode(_row(job, error=_error_text(fault)))


def failed_to_json(job: Job, error: str) -> bytes:
    """Return as JSON the row of an episode that could not return one."""
    return _encode(_row(job, error=error))


def _row(
    job: Job,
    *,
    score: float | None = None,
    ended: str | None = None,
    decisions: int | None = None,
    metrics: Mapping[str, Any] | None = None,
    ledger_digest: str | None = None,
    error: str | None = None,
    series: Series | None = None,
) -> Row:
    row: Row = {
        "model": job.variant.name,
        "preset": job.variant.preset,
        "params": job.variant.params,
        "policy": job.entry.label,
        "arguments": job.entry.arguments,
        "seed": job.seed,
        "score": score,
        "ended": ended,
        "decisions": decisions,
        "metrics": metrics or {},
        "ledger_digest": ledger_digest,
        "error": error,
    }
    model = job.variant.model
    if offers(model, HasWorstScore) and (worst := model.worst_score) is not None:
        row[WORST_SCORE] = float(worst)
    if job.cell.point is not None:
        row |= {POINT: job.cell.point, GIVEN: job.cell.given}
    if not job.series:
        return row
    return {**row, "series": series or {}, SERIES_COLUMNS: _columns(model, series or {})}


def _columns(model: Model[Any], series: Series) -> dict[str, dict[str, str]]:
    """Return the columns of the series, if the model declares them."""
    declared = model.series_columns if offers(model, HasSeriesColumns) else {}
    return {name: asdict(declared[name]) for name in series if name in declared}


def _play(job: Job) -> Episode:
    """Play with new policies, in an event loop if one of them is a coroutine."""
    model, policies = job.variant.model, _copied(job.entry.policies)
    # Around the session's own alarm, as the constructor of a policy or a model may not end either.
    seconds = job.limits.seconds if job.limits else None
    with hard_limit(seconds), alarm(seconds):
        lineup = resolve(model, policies, job.seed)
        how = EpisodeOptions(limits=job.limits, series=job.series, keep_state=False)
        with Session(model, lineup, job.seed, how=how) as session:
            return play_session(session)


def _copied(policies: Any) -> Any:
    """Copy instances, so that no episode depends on the state an earlier one left in them."""
    if isinstance(policies, Mapping):
        return {role: _copied(one) for role, one in policies.items()}
    return policies if is_made_anew(policies) else copy.deepcopy(policies)


def _results(episode: Episode) -> dict[str, Any]:
    result = episode.result
    assert result is not None
    return {
        "score": result.score,
        "ended": result.ended,
        "decisions": result.decisions,
        "metrics": dict(flat(result.metrics)),
        "ledger_digest": result.ledger_digest,
        "series": episode.inside.series if episode.inside else None,
    }


def _error_text(fault: BaseException) -> str:
    """Return an exception as one line that is the same in every process."""
    text = " ".join(re.sub(r" at 0x[0-9a-fA-F]+", "", str(fault)).split())
    return f"{type(fault).__name__}: {text}".removesuffix(": ")[:_MAX_ERROR]
