"""Plays jobs of one cell as lanes, and returns their results in the form of `play_job`."""

from collections.abc import Iterator, Sequence
from typing import Any

from desim.core.model_protocols import HasClusters, offers
from desim.episodes.lineup import resolve
from desim.jobs.plan.job import CLUSTER, LANES, Job
from desim.lanes.lane_protocols import NoLanes
from desim.lanes.play_lanes import answers_all, lanes_of, play_lanes


def play_on_lanes(jobs: Sequence[Job], policies: Any) -> Iterator[dict[str, Any]]:
    """Play jobs of one cell as lanes.

    Args:
        jobs: At least one; no more than `MOST_LANES`.
        policies: Those of the cell; instances are copies.

    Yields:
        The results of each job, those of `play` without a digest of its ledgers.

    Raises:
        NoLanes: The model or the policies cannot be played as lanes after all.
        Exception: The policies or the model failed.
    """
    model, seeds = jobs[0].variant.model, [job.seed for job in jobs]
    made = resolve(model, policies, seeds[0]).policies
    answering = {role: one for role, one in made.items() if answers_all(one)}
    if len(answering) < len(made):
        raise NoLanes("a policy decides for one episode at a time")
    found = play_lanes(lanes_of(model, tuple(made), seeds), answering)
    columns = zip(found.scores, found.end_reasons, found.decisions, strict=True)
    metrics = zip(*found.metrics.values(), strict=True) if found.metrics else ((),) * len(seeds)
    for seed, (score, ended, decisions), each in zip(seeds, columns, metrics, strict=True):
        yield {
            "score": score,
            "ended": ended,
            "decisions": decisions,
            "metrics": dict(zip(found.metrics, each, strict=True)),
            "ledger_digest": None,
            "error": None,
            **({CLUSTER: model.cluster(seed)} if offers(model, HasClusters) else {}),
            LANES: True,
        }
