"""The figures of an entry, from the last lines of its records alone."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import fields

from desim.episodes.usage import usage_in_all
from desim.jobs.keep.outcome import JobOutcome, read_outcome_of_rules, read_played
from desim.suites.results import ResultCell, SuiteLine, results
from desim.suites.suite_plan import Plan, SuiteJob
from desim.suites.suite_seeds import listed, seeds_text, tuned_on_report
from desim.verification.entries.entry_manifest import ResultText
from desim.verification.signed.canonical import as_decimal

#: Sums over the decisions of language models that a manifest states.
_USED = ("calls", "prompt_tokens", "completion_tokens", "cost")


def outcome_of(job: SuiteJob, records: Iterable[Path]) -> JobOutcome:
    """Return the outcome of a job from its whole records, in their order.

    The header and the last line of a record of rules are read alone.

    Raises:
        BadRecord: A record cannot be read.
    """
    records = list(records)
    if not job.is_series and (of_rules := read_outcome_of_rules(job.name, records[0])):
        return of_rules
    played = [
        one
        for number, record in enumerate(records, 1)
        if (one := read_played(job.name, record, 0.0, number, training=number <= job.training))
    ]
    if job.is_series:
        return JobOutcome(job=job.name, episodes=tuple(played))
    return JobOutcome(**{name: getattr(played[0], name) for name in played[0].__struct_fields__})


def figures_of(plan: Plan, outcomes: Mapping[str, JobOutcome]) -> dict[str, ResultText]:
    """Return the figures by world, and by pooled table, as a manifest states them."""
    return {line.world: _as_text(line) for line in results(plan, outcomes)}


def knowledge_of(plan: Plan, outcomes: Mapping[str, JobOutcome]) -> dict[str, Any]:
    """Return the most that the policies know, by world."""
    return {line.world: line.knows for line in results(plan, outcomes)}


def revisions_of(plan: Plan, outcomes: Mapping[str, JobOutcome]) -> dict[str, str]:
    """Return the revision of each world in words, as its records state it."""
    return {
        line.world: ", ".join(line.revisions)
        for line in results(plan, outcomes)
        if line.world in plan.worlds
    }


def tuned_on_of(plan: Plan) -> str:
    """Return the seeds on which the one entry of a plan was tuned, as its suite says."""
    (entry,) = plan.suite.entries.values()
    return seeds_text(entry.tuned_on) if entry.tuned_on else ""


def tuning_warnings(plan: Plan) -> list[str]:
    """Return a sentence for each world on whose report seeds the one entry was tuned."""
    (entry,) = plan.suite.entries.values()
    found = tuned_on_report(entry, plan.suite)
    return [f"tuned on seeds of the report: {listed(each)} of {w}" for w, each in found.items()]


def used_by(outcomes: Iterable[JobOutcome]) -> dict[str, str]:
    """Return calls, tokens and cost as texts; nothing where no policy noted any."""
    sums = usage_in_all(one.usage for outcome in outcomes for one in outcome.each)
    return {name: f"{sums[name]:.12g}" for name in _USED if name in sums}


def scores_of(plan: Plan, outcomes: Mapping[str, JobOutcome]) -> dict[str, dict[str, list[str]]]:
    """Return by world the scores of each seed as texts, of the episodes that are in means."""
    found: dict[str, dict[str, list[str]]] = {world: {} for world in plan.worlds}
    for job in plan.jobs:
        for one in outcomes[job.name].each if job.name in outcomes else ():
            if one.state == "done" and one.score is not None:
                seed = str(job.seed + one.episode - 1)
                found[job.world].setdefault(seed, []).append(repr(float(one.score)))
    return found


def _as_text(line: SuiteLine) -> ResultText:
    named = {each.name for each in fields(SuiteLine)}
    counts = {name: getattr(line, name) for name in _COUNTS if name in named}
    return ResultText(
        **counts,
        defaults=as_decimal(line.defaults),
        columns={cell.head: _estimate(cell) for cell in line.cells if cell.head != "minutes"},
    )


#: Counts of episodes, which a line of results and a manifest name alike.
_COUNTS = ("n", "cut", "training", "not_played", "failed", "open")


def _estimate(cell: ResultCell) -> dict[str, str | None]:
    found = cell.estimate
    ends = (found.mean, found.low, found.high) if found else (None, None, None)
    return dict(zip(("mean", "low", "high"), map(as_decimal, ends), strict=True))
