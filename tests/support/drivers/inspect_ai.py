"""Inspect: its mock model plays the answers by tool calls."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

#: What must be installed.
REQUIRES: tuple[str, ...] = ("inspect_ai",)

#: Calls in one reply of the mock model, as Inspect takes 15 ms for each reply.
_IN_ONE = 10


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case: a model has one seat."""
    return len(case.seats) == 1


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    from support.inspect_mock import evaluated, ordered, sample_of

    from desim.adapters.inspect_ai import world_task

    task = world_task(case.model, case.preset, [seed], arguments=case.arguments())
    sample = sample_of(evaluated(task, ordered(answers[case.seats[0]], _IN_ONE)))
    assert sample.scores["world_score"].value["ended"] == 1
    return sample.scores["world_score"].value["score"], sample.metadata["ledger_digest"]
