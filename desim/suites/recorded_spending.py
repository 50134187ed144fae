"""Counts the money in records where `spent.jsonl` has lost lines, so that limits hold."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from desim.episodes.usage import UsageSums
from desim.errors import BadRecord
from desim.records.episode import Episode
from desim.suites.folder import Folder
from desim.suites.ledger import Ledger
from desim.suites.outcome import Outcome, begun
from desim.suites.plan import Job, Plan
from desim.suites.series import series_folder

__all__ = ["count_outcome", "count_outcomes", "count_records"]


def count_outcome(job: Job, outcome: Outcome, ledger: Ledger) -> bool:
    """Count at least what an outcome says was spent, if its job contacts a host.

    Returns:
        Whether the ledger said less.
    """
    usages = [played.usage for played in outcome.each]
    calls, cost = (sum(usage.get(name, 0) for usage in usages) for name in ("calls", "cost"))
    return bool(job.entry.host) and ledger.require(job.name, int(calls), cost)


def count_outcomes(plan: Plan, outcomes: Mapping[str, Outcome], ledger: Ledger) -> list[str]:
    """Count the outcomes of all jobs as `count_outcome` does.

    Returns:
        The jobs of which the ledger said less.
    """
    known = ((job, outcomes[job.name]) for job in plan.jobs if job.name in outcomes)
    return [job.name for job, outcome in known if count_outcome(job, outcome, ledger)]


def count_records(
    plan: Plan, outcomes: Mapping[str, Outcome], ledger: Ledger, folder: Folder
) -> None:
    """Count at least what outcomes, and the records of jobs that go on, say was spent."""
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
