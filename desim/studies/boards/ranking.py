"""The lines of a board: policies with equal results joined, ranked, compared with a reference."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any, ClassVar

from attrs import evolve, frozen

from desim.core.roles import Knowledge, knowledge_order
from desim.jobs.rows.failures import counted, course, different_seeds
from desim.jobs.rows.rows import Rows
from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import Difference, difference, simultaneous

#: The level of all intervals of differences of one board together.
_LEVEL = 0.95


@frozen
class BoardLine:
    """The policies of one line, whose scores, ends and ledgers are the same on every seed.

    Attributes:
        policies: Their specs.
        knows: What they know.
        episodes: How many episodes each has played.
        failed: How many of these failed.
        estimate: The mean score; a failed episode counts with the worst score that its model
            declares. None if the model declares none and episodes have failed.
        difference: The difference to the reference, paired by seed; None for the reference itself,
            where a mean is None, and where no seed has both scores. The intervals of a board hold
            together (Bonferroni).
        ended: How many episodes ended in which way, the most frequent first.
        rank: 1 for the policies that no other is known to beat: one more than the number of
            policies that know as much and whose mean is higher by more than the simultaneous
            interval of the difference. None without a mean.
        seeds: How many seeds were played, and how many of them have different episodes; None if
            that is not known.
    """

    policies: tuple[str, ...]
    knows: Knowledge
    episodes: int
    failed: int
    estimate: Interval | None
    difference: Difference | None
    ended: Mapping[str, int]
    rank: int | None = None
    seeds: tuple[int, int] | None = None
    figure: ClassVar[str] = "score"

    @property
    def name(self) -> str:
        """The first of the policies, by which notes call the line."""
        return self.policies[0]


def ranked(
    rows: Rows,
    reference: str,
    knows: Mapping[str, Knowledge] = MappingProxyType({}),
    fixed: Iterable[str] = (),
) -> list[BoardLine]:
    """Return the lines of a board.

    Policies that know more come after those that know less; each level is ranked alone. In each,
    policies without a mean come last, because episodes failed: the mean of the rest cannot be
    compared with a mean of all. The others are ordered by the mean, the highest first.

    Args:
        rows: One for each episode.
        reference: The policy with which the others are compared.
        knows: What policies know, by label; those that are missing know what they observe.
        fixed: The policies that were played once because every seed has the same episode.
    """
    by_policy = {str(policy): own for (policy,), own in rows.groups("policy").items()}
    found = _Scores({p: _scores(own) for p, own in by_policy.items()}, frozenset(fixed))
    joined = _joined(by_policy, knows)
    level = simultaneous(_LEVEL, sum(reference not in policies for policies in joined))
    lines = []
    for policies in joined:
        first, own = policies[0], by_policy[policies[0]]
        values = list(found.by_seed[first].values())
        lines.append(
            BoardLine(
                policies,
                knows.get(first, "observation"),
                len(own),
                len(own.failed),
                interval(values) if values else None,
                None if reference in policies else found.difference(first, reference, level),
                _ends(own),
                seeds=different_seeds(own, range(len(own))),
            )
        )
    return [evolve(line, rank=_rank(line, lines, found)) for line in sorted(lines, key=_place)]


@frozen
class _Scores:
    """Scores by policy and seed; a policy without a mean has none.

    Attributes:
        by_seed: Scores by seed of each policy.
        fixed: The policies whose one score holds for every seed.
    """

    by_seed: Mapping[str, Mapping[int, float]]
    fixed: AbstractSet[str]

    def difference(self, mine: str, theirs: str, level: float) -> Difference | None:
        """Return the difference of two policies over the seeds that both have."""
        one, other = self._everywhere(mine, theirs), self._everywhere(theirs, mine)
        seeds = [seed for seed in one if seed in other]
        if not seeds:
            return None
        return difference([one[seed] for seed in seeds], [other[seed] for seed in seeds], level)

    def is_better(self, mine: str, theirs: str, level: float) -> bool:
        """Return whether one policy is known to have the higher mean."""
        found = self.difference(mine, theirs, level)
        if found is None:
            return False
        if {mine, theirs} <= self.fixed:
            return found.paired.mean > 0
        return found.paired.low is not None and found.paired.low > 0

    def _everywhere(self, policy: str, other: str) -> Mapping[int, float]:
        """Return scores by seed; the one of a fixed policy holds for every seed of another's."""
        own = self.by_seed[policy]
        if policy in self.fixed and other not in self.fixed:
            return {seed: score for score in own.values() for seed in self.by_seed[other]}
        return own


def _rank(line: BoardLine, lines: Sequence[BoardLine], scores: _Scores) -> int | None:
    """Return one more than the number of policies that are known to be better."""
    rivals = [one for one in lines if one.knows == line.knows and one.estimate]
    if line not in rivals:
        return None
    # Every pair of lines is compared.
    level = simultaneous(_LEVEL, len(rivals) * (len(rivals) - 1) // 2)
    better = [
        one
        for one in rivals
        if one is not line and scores.is_better(one.policies[0], line.policies[0], level)
    ]
    return 1 + sum(len(one.policies) for one in better)


def _place(line: BoardLine) -> tuple[int, bool, float]:
    mean = line.estimate.mean if line.estimate else float("-inf")
    return knowledge_order(line.knows), line.estimate is None, -mean


def _joined(
    by_policy: Mapping[str, Rows], knows: Mapping[str, Knowledge]
) -> Sequence[tuple[str, ...]]:
    """Return the policies with equal results together; a failed one is equal to no other."""
    found: dict[Any, list[str]] = {}
    for policy, rows in by_policy.items():
        each = [(row["seed"], *course(row)) for row in rows]
        key = policy if rows.failed else (*each, knows.get(policy))
        found.setdefault(key, []).append(policy)
    return [tuple(policies) for policies in found.values()]


def _scores(rows: Rows) -> dict[int, float]:
    """Return scores by seed; none at all if an episode has none."""
    scores = counted(rows, "score")
    known = [score for score in scores if score is not None]
    return dict(zip(rows.column("seed"), known, strict=True)) if len(known) == len(scores) else {}


def _ends(rows: Rows) -> dict[str, int]:
    ends = Counter("failed" if row["error"] else str(row["ended"]) for row in rows)
    return dict(ends.most_common())
