"""The lines of a board: policies with equal results joined, ranked, compared with a reference."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from attrs import frozen

from desim.statistics.intervals import Interval, interval
from desim.sweeps.jobs import Row
from desim.sweeps.rows import Rows

__all__ = ["BoardLine", "ranked"]


@frozen
class BoardLine:
    """The policies of one line, whose scores, ends and ledgers are the same on every seed.

    Attributes:
        policies: Their specs.
        informed: Whether they use facts that their role cannot observe.
        episodes: How many episodes each has played.
        failed: How many of these failed; they have no score.
        estimate: The mean score of the others; None if there is none.
        difference: The difference to the reference, paired by seed; None for the reference itself,
            and where no seed has both scores.
        ended: How many episodes ended in which way, the most frequent first.
    """

    policies: tuple[str, ...]
    informed: bool
    episodes: int
    failed: int
    estimate: Interval | None
    difference: Interval | None
    ended: Mapping[str, int]


def ranked(
    rows: Rows, reference: str, informed: Iterable[str] = (), fixed: Iterable[str] = ()
) -> list[BoardLine]:
    """Return the lines of a board.

    Informed policies come last, and among others as well as among these the policies with failed
    episodes: the mean of the episodes that did not fail cannot be compared with a mean of all. The
    rest is ordered by the mean, the highest first.

    Args:
        rows: One for each episode.
        reference: The policy with which the others are compared.
        informed: The policies that use facts which their role cannot observe.
        fixed: The policies that were played once because every seed has the same episode.
    """
    informed, fixed = frozenset(informed), frozenset(fixed)
    by_policy = {str(policy): own for (policy,), own in rows.groups("policy").items()}
    scores = {policy: _scores(own) for policy, own in by_policy.items()}
    lines = []
    for policies in _joined(by_policy, informed):
        first = policies[0]
        own, values = by_policy[first], list(scores[first].values())
        theirs = _differences(
            _everywhere(scores, first, reference, fixed),
            _everywhere(scores, reference, first, fixed),
        )
        lines.append(
            BoardLine(
                policies,
                first in informed,
                len(own),
                len(own) - len(values),
                interval(values) if values else None,
                interval(theirs) if theirs and reference not in policies else None,
                _ends(own),
            )
        )
    return sorted(lines, key=_place)


def _place(line: BoardLine) -> tuple[bool, bool, float]:
    mean = line.estimate.mean if line.estimate else float("-inf")
    return line.informed, line.failed > 0, -mean


def _joined(by_policy: Mapping[str, Rows], informed: frozenset[str]) -> Sequence[tuple[str, ...]]:
    """Return the policies with equal results together; a failed one is equal to no other."""
    found: dict[Any, list[str]] = {}
    for policy, rows in by_policy.items():
        key = policy if rows.failed else (*map(_course, rows), policy in informed)
        found.setdefault(key, []).append(policy)
    return [tuple(policies) for policies in found.values()]


def _course(row: Row) -> tuple[Any, ...]:
    """Return what equal rows share: the ledgers, or all metrics where there are none.

    Some metrics and the number of decisions say how a policy came to its actions.
    """
    course = row["ledger_digest"] or msgspec.json.encode(row["metrics"])
    return row["seed"], row["score"], row["ended"], course


def _scores(rows: Rows) -> dict[int, float]:
    return {row["seed"]: row["score"] for row in rows if row["error"] is None}


def _everywhere(
    scores: Mapping[str, Mapping[int, float]], policy: str, other: str, fixed: AbstractSet[str]
) -> Mapping[int, float]:
    """Return scores by seed; the one of a fixed policy holds for every seed of another's."""
    if policy in fixed and other not in fixed:
        return {seed: score for score in scores[policy].values() for seed in scores[other]}
    return scores[policy]


def _differences(mine: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    return [score - theirs[seed] for seed, score in mine.items() if seed in theirs]


def _ends(rows: Rows) -> dict[str, int]:
    ends = Counter("failed" if row["error"] else str(row["ended"]) for row in rows)
    return dict(ends.most_common())
