"""The lines of a board: policies with equal results joined, ranked, compared with the best."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

from attrs import evolve, field, frozen

from desim.core.roles import Knowledge, knowledge_order
from desim.engine.plan import DEFAULTS
from desim.rows.columns import mean
from desim.rows.failures import course
from desim.rows.rows import Rows
from desim.rows.samples import Sample, score_sample
from desim.statistics import ranks
from desim.statistics.intervals import Interval
from desim.statistics.pairing import Difference

#: The level of each interval of a mean, and of all ranks of a board together.
_LEVEL = 0.95


@frozen
class BoardLine:
    """The policies of one line, whose scores, ends and ledgers are the same on every seed.

    Where rows have no digest of ledgers, all metrics are the same instead.

    Attributes:
        policies: Their specs.
        knows: What they know.
        episodes: How many episodes each has played.
        failed: How many of these failed.
        estimate: The mean score; a failed episode counts with the worst score that its model
            declares. None if the model declares none and episodes have failed.
        ended: How many episodes ended in which way, the most frequent first.
        sample: The scores on which the estimate rests.
        ranks: The lowest and the highest rank among the lines of its family that the data leave
            possible, all of them together; None without a mean.
        to_best: The ends of the interval of its mean less the best mean of the others of its
            family; None for a lone line, or on a single seed.
        may_be_best: Whether its lowest rank is 1.
        difference: The difference to the highest mean of its family, paired by seed; None for that
            line, on different seeds, without a mean and without a common seed.
        to_tell: Seeds that would tell it from the highest mean; see `Sample.to_tell`.
        beside: The means of the metrics that the model prints beside the score; None for one that
            an episode lacks. With language models in a board also their share of `defaults`.
    """

    policies: tuple[str, ...]
    knows: Knowledge
    episodes: int
    failed: int
    estimate: Interval | None
    ended: Mapping[str, int]
    sample: Sample = field(repr=False)
    ranks: tuple[int, int] | None = None
    to_best: tuple[float, float] | None = None
    may_be_best: bool = False
    difference: Difference | None = None
    to_tell: int | None = None
    beside: Mapping[str, float | None] = field(factory=dict)

    @property
    def name(self) -> str:
        """The first of the policies, by which notes call the line."""
        return self.policies[0]


def ranked(
    rows: Rows,
    knows: Mapping[str, Knowledge] = MappingProxyType({}),
    fixed: Iterable[str] = (),
    *,
    paired: bool = True,
    beside: Sequence[str] = (),
    minimise: str = "",
) -> list[BoardLine]:
    """Return the lines of a board, family by family, in each the best mean first.

    The lines of a family are compared with each other only. Those without a mean, because episodes
    failed, come last in it and have no rank: the mean of the rest cannot be compared with others.

    Args:
        rows: One for each episode.
        knows: What policies know, by label; those that are missing know what they observe.
        fixed: The policies that were played once because every seed has the same episode.
        paired: Whether the policies have played the same seeds. The items of different seeds are
            the same, and so always paired.
        beside: Names of metrics whose means the lines hold.
        minimise: A figure of which lower is better, by which the lines are ranked; empty: the
            score.
    """
    by_policy = {str(policy): own for (policy,), own in rows.groups("policy").items()}
    once = frozenset(fixed)
    shares = _default_shares if any(DEFAULTS in row for row in rows) else lambda _: {}
    lines = [
        evolve(
            _board_line(policies, own, knows, once, minimise or "score"),
            beside=_means(own, beside) | shares(own),
        )
        for policies in _joined(by_policy, knows)
        for own in [by_policy[policies[0]]]
    ]
    sign = -1 if minimise else 1
    return [one for family in families(lines) for one in _compared(family, sign, paired=paired)]


def families(lines: Sequence[BoardLine]) -> list[list[BoardLine]]:
    """Return the lines of policies that know as much together, those that know less first."""
    found: dict[Knowledge, list[BoardLine]] = {}
    for line in sorted(lines, key=lambda line: knowledge_order(line.knows)):
        found.setdefault(line.knows, []).append(line)
    return list(found.values())


def _board_line(
    policies: tuple[str, ...],
    rows: Rows,
    knows: Mapping[str, Knowledge],
    fixed: AbstractSet[str],
    figure: str,
) -> BoardLine:
    sample = evolve(score_sample(rows, figure), fixed=policies[0] in fixed)
    return BoardLine(
        policies,
        knows.get(policies[0], "observation"),
        len(rows),
        len(rows.failed),
        sample.estimate(_LEVEL),
        _ends(rows),
        sample,
    )


def _compared(lines: Sequence[BoardLine], sign: int, *, paired: bool) -> list[BoardLine]:
    """Return the lines of a family with their ranks, the best mean first.

    Args:
        lines: The lines.
        sign: 1, or -1 where lower is better.
        paired: See `ranked`.
    """
    means = {line.name: line.estimate.mean for line in lines if line.estimate}
    rivals = sorted((one for one in lines if one.estimate), key=lambda one: -sign * means[one.name])
    if not rivals:
        return list(lines)
    samples = _everywhere([line.sample for line in rivals])
    paired = paired or samples[0].unit != "seeds"
    clusters = {seed: one for sample in samples for seed, one in sample.clusters.items()}
    values = [{k: sign * v for k, v in sample.values.items()} for sample in samples]
    found = ranks.ranked(values, 1 - _LEVEL, paired=paired, clusters=clusters)
    placed = [
        evolve(
            line,
            ranks=place.ranks,
            to_best=_finite(place.to_best, sign),
            may_be_best=place.ranks[0] == 1,
            difference=sample.less(samples[0], _LEVEL) if at and paired else None,
            to_tell=sample.to_tell(samples[0]) if at and paired else None,
        )
        for at, (line, sample, place) in enumerate(zip(rivals, samples, found, strict=True))
    ]
    return [*placed, *(line for line in lines if not line.estimate)]


def _everywhere(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples, the one score of a fixed policy repeated for every seed of the others."""
    seeds = {seed for one in samples if not one.is_exact for seed in one.values}
    # Two equal values say that nothing varies between two fixed policies, which one cannot.
    every = (*seeds, -1, -2)
    return [
        evolve(one, values=dict.fromkeys(every, next(iter(one.values.values()))))
        if one.is_exact
        else one
        for one in samples
    ]


def _finite(ends: tuple[float, float] | None, sign: int) -> tuple[float, float] | None:
    if ends is None or not all(map(math.isfinite, ends)):
        return None
    return ends if sign > 0 else (-ends[1], -ends[0])


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


def _means(rows: Rows, names: Iterable[str]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in names:
        values = [row["metrics"].get(name) for row in rows]
        texts = [isinstance(value, str) for value in values]
        found[name] = mean(texts) if any(texts) else None if None in values else mean(values)
    return found


def _default_shares(rows: Rows) -> dict[str, float | None]:
    shares = [row[DEFAULTS] for row in rows if DEFAULTS in row]
    return {DEFAULTS: mean(shares) if shares else None}


def _ends(rows: Rows) -> dict[str, int]:
    ends = Counter("failed" if row["error"] else str(row["ended"]) for row in rows)
    return dict(ends.most_common())
