"""Compares the outcomes in a suite's folder with its records, which are replayed.

Also counts the money in records if `spent.jsonl` has lost lines, so that limits hold.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.episodes.replay import replay
from desim.episodes.series import episode_file
from desim.episodes.usage import UsageSums
from desim.errors import BadRecord
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.suites.episode import series_folder
from desim.suites.folder import Folder
from desim.suites.outcome import RESULTS, Outcome, Played, begun, read_played
from desim.suites.result_files import result_files
from desim.suites.spending import Ledger
from desim.suites.suite_plan import Job, Plan


def count_outcome(job: Job, outcome: Outcome, ledger: Ledger) -> bool:
    """Count at least the calls and money of an outcome, if its job contacts a host.

    Returns:
        Whether the ledger had less.
    """
    usages = [played.usage for played in outcome.each]
    calls, cost = (sum(usage.get(name, 0) for usage in usages) for name in ("calls", "cost"))
    return bool(job.entry.host) and ledger.require(job.name, int(calls), cost)


def count_outcomes(plan: Plan, outcomes: Mapping[str, Outcome], ledger: Ledger) -> list[str]:
    """Count the outcomes of all jobs as `count_outcome` does.

    Returns:
        The jobs of which the ledger had less.
    """
    known = ((job, outcomes[job.name]) for job in plan.jobs if job.name in outcomes)
    return [job.name for job, outcome in known if count_outcome(job, outcome, ledger)]


def count_records(
    plan: Plan, outcomes: Mapping[str, Outcome], ledger: Ledger, folder: Folder
) -> None:
    """Count at least the calls and money of outcomes, and of the records of unfinished jobs."""
    count_outcomes(plan, outcomes, ledger)
    for job in plan.jobs:
        outcome = outcomes.get(job.name)
        if job.entry.host and not (outcome and outcome.final):
            used = [_noted(record) for record in _records(job, folder)]
            ledger.require(job.name, sum(n for n, _ in used), sum(cost for _, cost in used))


def _records(job: Job, folder: Folder) -> Iterator[Path]:
    record = folder.record(job.name)
    if job.is_series:
        yield from sorted(series_folder(record).glob("*.jsonl"))
    elif record.exists():
        yield record


def _noted(record: Path) -> tuple[int, float]:
    """Return the calls and the money that the decisions of a record have noted."""
    sums = UsageSums()
    try:
        if begun(record):
            for step in Episode.read(record, whole=False, keep_steps=False).steps:
                sums.add("", step.notes)
    except BadRecord:
        return 0, 0.0  # its job fails with a sentence
    used = sums.totals().get("", {})
    return int(used.get("calls", 0)), used.get("cost", 0.0)


#: Fields of an outcome that no record holds.
_NOT_RECORDED = ("seconds",)


def differences(folder: Folder, *, trust: bool = False) -> Iterator[str]:
    """Replay the records of a suite and yield a sentence for each difference from its outcomes.

    The files of results are compared with the outcomes, and the money with both.

    Args:
        folder: The folder of the suite.
        trust: Whether modules and files that its records name may be imported and opened.

    Raises:
        UsageError: The folder holds no suite, or a record would import a module or open a file.
        BadRecord: An outcome is damaged.
    """
    plan, outcomes, identity = folder.plan(), folder.outcomes(), folder.identity()
    for job in plan.jobs:
        if outcome := outcomes.get(job.name):
            for played in outcome.each:
                yield from _of_episode(job, played, folder, identity, trust=trust)
    yield from _of_results(plan, outcomes, folder)
    for name in count_outcomes(plan, outcomes, folder.ledger()):
        yield f"{name}: spent.jsonl says that less was spent than its record"


def _of_episode(
    job: Job, played: Played, folder: Folder, identity: Mapping[str, str], *, trust: bool
) -> Iterator[str]:
    """Yield the differences of an ended episode; an unfinished one has no result to compare."""
    if played.score is None:
        return
    record = folder.record(job.name)
    if job.is_series:
        record = episode_file(series_folder(record), played.episode)
    try:
        yield from _of_record(job, played, record, identity)
        replay(record, trust=trust)
    except BadRecord as fault:
        yield f"{job.name}: {fault}"


def _of_record(
    job: Job, played: Played, record: Path, identity: Mapping[str, str]
) -> Iterator[str]:
    again = read_played(job.name, record, 0.0, played.episode, training=played.training)
    if again is None:
        raise BadRecord(f"{record} is missing or cut, and its outcome is not")
    kept, found = _plain(played), _plain(again)
    for name in {**kept, **found}:
        if name not in _NOT_RECORDED and kept.get(name) != found.get(name):
            yield (
                f"{job.name}: {name} is {kept.get(name)!r} in the outcomes and "
                f"{found.get(name)!r} on record"
            )
    header = Episode.read(record, whole=False, keep_steps=False).header
    if _named(header) != (*_model(job, identity), job.seed + played.episode - 1):
        yield f"{job.name}: {record} is of another model or seed than the suite's"


def _plain(played: Played) -> dict[str, Any]:
    """Return the outcome of an episode as plain JSON values."""
    fields = {name: getattr(played, name) for name in Played.__struct_fields__}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(fields))
    return plain


def _named(header: Header) -> tuple[Any, Any, int]:
    return header.model, header.params, header.seed


def _model(job: Job, identity: Mapping[str, str]) -> tuple[Any, Any]:
    model, params, *_ = json.loads(identity.get(f"worlds.{job.world.name}", "[null, null]"))
    return model, params


def _of_results(plan: Plan, outcomes: Mapping[str, Outcome], folder: Folder) -> Iterator[str]:
    """Yield the files of results that differ from the outcomes."""
    written = result_files(plan, outcomes)
    for name in RESULTS:
        path = folder.path / name
        if path.is_file() and path.read_bytes() != written[name]:
            yield f"{path} is not what the outcomes give; the command that plays writes it anew"
