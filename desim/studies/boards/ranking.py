"""Boards: policies ranked by their means, with those that know as much, and their tables."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from attrs import evolve, field, frozen

from desim.core.policy import sees_more_than_rules
from desim.core.roles import Knowledge, knowledge_legend, knowledge_order
from desim.rows.columns import mean
from desim.rows.notes import course, estimate_legend, estimate_notes, to_tell_term
from desim.rows.rows import Rows
from desim.rows.samples import Sample, score_sample
from desim.show.column import Column
from desim.show.estimates import HALF, TO_TELL, half_cells, number_cell
from desim.show.labels import estimate_text
from desim.show.table import Printed, Table
from desim.statistics import ranks
from desim.statistics.intervals import Interval
from desim.statistics.normalised import Normalised
from desim.statistics.pairing import Difference

#: The level of each interval of a mean, and of all ranks of a board together.
_LEVEL = 0.95

_HEADS = ("policy", "rank", "n", "mean score", HALF, "to the best", TO_TELL, "ended")

_RANK = (
    "rank: the lowest and the highest that the data leave possible (95 %, all together), among "
    "those that know as much; * may be the best"
)
_TO_BEST = "to the best: the mean less the {} mean of the others (95 %, all together); {}"
_SHARE = "share: 0 is the floor of the world, 1 its bound or, without one, the best known score"
_JOINED = "a = b: the same scores and ends on every seed"


# -- ranks -----------------------------------------------------------------------------------------


@frozen
class BoardLine:
    """The policies of one line, whose scores, ends and ledgers are the same on every seed.

    Where rows have no digest of ledgers, all metrics are the same instead.

    Attributes:
        episodes: How many episodes each has played; *failed* of these failed.
        estimate: The mean score; a failed episode counts with the worst score that its model
            declares. None if the model declares none and episodes have failed.
        ended: How many episodes ended in which way, the most frequent first.
        ranks: The lowest and the highest rank among the lines of its family that the data leave
            possible, all of them together; None without a mean.
        to_best: The ends of the interval of its mean less the best mean of the others of its
            family; None for a lone line, or on a single seed.
        difference: The difference to the highest mean of its family, paired by seed; None for that
            line, on different seeds, without a mean and without a common seed.
        to_tell: Seeds that would tell it from the highest mean; see `Sample.to_tell`.
        beside: Means of the metrics that are printed beside it; None for one that an episode lacks.
        share: The mean above the floor of the world as a share of the room up to its bound, or to
            the best known score; None where these are not known.
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
    share: Normalised | None = None

    @property
    def name(self) -> str:
        """The first of the policies, by which notes call the line."""
        return self.policies[0]


def ranked(
    rows: Rows,
    knows: Mapping[str, Knowledge] = MappingProxyType({}),
    *,
    beside: Sequence[str] = (),
    minimise: str = "",
) -> list[BoardLine]:
    """Return the lines of a board, family by family, in each the best mean first.

    Lines are compared within a family only. Those without a mean, because episodes failed, come
    last and have no rank: the mean of the rest cannot be compared with others.

    Args:
        rows: One for each episode; policies have played the same seeds, or the first of them.
        knows: What policies know, by label; those that are missing know what they observe.
        beside: Names of metrics whose means the lines hold.
        minimise: A figure of which lower is better, by which the lines are ranked; empty: the
            score.
    """
    joined: dict[Any, list[str]] = {}
    by_policy = {str(policy): own for (policy,), own in rows.groups("policy").items()}
    for policy, own in by_policy.items():
        # A failed policy is equal to no other.
        each = [(row["seed"], *course(row)) for row in own]
        joined.setdefault(policy if own.failed else (*each, knows.get(policy)), []).append(policy)
    lines = []
    for policies in joined.values():
        own = by_policy[policies[0]]
        sample = score_sample(own, minimise or "score")
        ends = Counter("failed" if row["error"] else str(row["ended"]) for row in own)
        means = {name: _mean([row["metrics"].get(name) for row in own]) for name in beside}
        lines.append(
            BoardLine(
                tuple(policies),
                knows.get(policies[0], "observation"),
                len(own),
                len(own.failed),
                sample.estimate(_LEVEL),
                dict(ends.most_common()),
                sample,
                beside=means,
            )
        )
    sign = -1 if minimise else 1
    return [one for family in families(lines) for one in _compared(family, sign)]


def _mean(values: Sequence[Any]) -> float | None:
    """Return a mean, or how often there is a text; None without values, or where one is missing."""
    texts = [isinstance(value, str) for value in values]
    if any(texts):
        return mean(texts)
    return None if None in values or not values else mean(values)


def families(lines: Sequence[BoardLine]) -> list[list[BoardLine]]:
    """Return the lines of policies that know as much together, those that know less first."""
    found: dict[Knowledge, list[BoardLine]] = {}
    for line in sorted(lines, key=lambda line: knowledge_order(line.knows)):
        found.setdefault(line.knows, []).append(line)
    return list(found.values())


def _compared(lines: Sequence[BoardLine], sign: int) -> list[BoardLine]:
    """Return the lines of a family with their ranks, the best mean first; sign -1: the lowest."""
    means = {line.name: line.estimate.mean for line in lines if line.estimate}
    rivals = sorted((one for one in lines if one.estimate), key=lambda one: -sign * means[one.name])
    if not rivals:
        return list(lines)
    samples = [line.sample for line in rivals]
    clusters = {seed: one for sample in samples for seed, one in sample.clusters.items()}
    values = [{k: sign * v for k, v in sample.values.items()} for sample in samples]
    found = ranks.ranked(values, 1 - _LEVEL, clusters=clusters)
    placed = [
        evolve(
            line,
            ranks=place.ranks,
            to_best=_finite(place.to_best, sign),
            may_be_best=place.ranks[0] == 1,
            difference=sample.less(samples[0], _LEVEL) if at else None,
            to_tell=sample.to_tell(samples[0]) if at else None,
        )
        for at, (line, sample, place) in enumerate(zip(rivals, samples, found, strict=True))
    ]
    return [*placed, *(line for line in lines if not line.estimate)]


def _finite(ends: tuple[float, float] | None, sign: int) -> tuple[float, float] | None:
    if ends is None or not all(map(math.isfinite, ends)):
        return None
    return ends if sign > 0 else (-ends[1], -ends[0])


# -- tables ----------------------------------------------------------------------------------------


def board_table(
    title: str,
    lines: Sequence[BoardLine],
    of_world: Sequence[str] = (),
    *,
    columns: Mapping[str, Column] = MappingProxyType({}),
) -> Table:
    """Return the table of lines from `ranked`.

    Notes end with the sentences *of_world*; *columns* are those of the metrics beside the score.
    """
    cells: list[list[Any]] = []
    beside = dict.fromkeys(name for line in lines for name in line.beside)
    labels = ((columns[one].label.lower() if one in columns else "") or one for one in beside)
    share = ["share"] * any(line.share for line in lines)
    heads = [*_HEADS[:-1], *share, *labels, _HEADS[-1]]
    headed = any(line.knows != "observation" for line in lines)
    for family in families(lines):
        if headed:
            cells.append([f"{family[0].knows}:", *[""] * (len(heads) - 1)])
        cells += [_cells(line, "  " * headed, columns, shared=bool(share)) for line in family]
    notes = [*rank_notes(lines), *estimate_notes(line.sample for line in lines)]
    means = ((line.estimate, line.failed, line.sample) for line in lines)
    return Table(
        heads,
        cells,
        left=(0, 1, len(heads) - 1),
        title="\n".join(filter(None, [title, headline(lines)])),
        notes=[*notes, *of_world],
        legend=[*_terms(lines), *estimate_legend(means)],
        spare=(_HEADS.index(TO_TELL),),
        breaks=(len(_HEADS) - 1,) if beside else (),
    )


#: By what policies know, the beginning of a sentence about them.
_SEEING = {"observation": "with observations alone, ", "rules": "with the world's rules, "}


def headline(lines: Sequence[BoardLine]) -> str:
    """Return which policies are best, or may be, among those that know as much, in one sentence.

    Policies that know hidden state or the future are left out, and so are lone ones.
    """
    every, texts = families(lines), []
    for family in every:
        rivals = [line.name for line in family if line.may_be_best]
        if sees_more_than_rules(family[0].knows) or not family[1:] or not rivals:
            continue
        rest = " of those that have not failed" * any(line.estimate is None for line in family)
        text = f"{', '.join(rivals[:-1])} or {rivals[-1]} may be best{rest}"
        if len(rivals) == 1:
            text = f"{rivals[0]} is best{rest}{_lead_text(family[1])}"
        texts.append(_SEEING[family[0].knows] * (len(every) > 1) + text)
    return "; ".join(texts)


def _lead_text(second: BoardLine) -> str:
    """Return how far the second mean is from the best, where an interval is known."""
    gap = second.difference.paired if second.difference else None
    if gap is None or gap.low is None or gap.high is None:
        return ""
    sizes = sorted((abs(gap.low), abs(gap.high)))
    ends = dict.fromkeys(estimate_text(size, gap.half) for size in sizes)
    return f", by {' to '.join(ends)} over {second.name}{' (95 %)' * (len(ends) > 1)}"


def rank_cell(line: BoardLine) -> Printed | None:
    """Return the ranks that a line may have as a cell, those of a possible best marked."""
    if line.ranks is None:
        return None
    low, high = line.ranks
    text = f"{low}" if low == high else f"{low}-{high}"
    is_compared = high > 1 or line.to_best is not None
    return Printed(line.ranks, text + " *" * (line.may_be_best and is_compared))


def to_best_cell(line: BoardLine) -> Printed | None:
    """Return the interval of a line to the best of the others as a cell."""
    if line.to_best is None:
        return None
    low, high = line.to_best
    texts = [estimate_text(end, (high - low) / 2) if end else "0" for end in line.to_best]
    if not line.may_be_best:  # Hsu's interval ends at 0 also where that is excluded
        texts = [
            text if text != "0" else one for text, one in zip(texts, (">0", "<0"), strict=True)
        ]
    return Printed(line.to_best, " to ".join(dict.fromkeys(texts)))


def rank_terms(lines: Sequence[BoardLine], *, lower: bool = False) -> Iterator[str]:
    """Yield the sentences on ranks, and on the column to the best; of lower or higher means."""
    if any(line.ranks for line in lines):
        yield _RANK
    if any(line.to_best for line in lines):
        ends = ("lowest", ">0: it is higher") if lower else ("highest", "<0: it is lower")
        yield _TO_BEST.format(*ends)


def _cells(
    line: BoardLine, indent: str, columns: Mapping[str, Column], *, shared: bool
) -> list[Any]:
    share = Printed(line.share.z, f"{line.share.z:z,.2f}") if line.share else None
    return [
        indent + " = ".join(line.policies),
        rank_cell(line),
        line.episodes,
        *half_cells(line.estimate, exact=line.sample.is_exact),
        to_best_cell(line),
        line.to_tell,
        *([share] if shared else []),
        *(_beside_cell(mean, columns.get(name)) for name, mean in line.beside.items()),
        ", ".join(f"{count:,} {end}" for end, count in line.ended.items()),
    ]


def _beside_cell(mean: float | None, column: Column | None) -> Printed | None:
    is_share = mean is not None and column is not None and column.kind == "share"
    return Printed(mean, column.text(mean)) if column and is_share else number_cell(mean)


def rank_notes(lines: Sequence[BoardLine]) -> Iterator[str]:
    """Yield what ranks do not tell: which policies have fewer seeds."""
    seeds = max((line.episodes for line in lines), default=0)
    if any(1 < line.episodes < seeds for line in lines):
        yield (
            f"n below {seeds:,}: played on the first seeds only, as an episode takes long; compare "
            "the rank, not the mean"
        )


def _terms(lines: Sequence[BoardLine]) -> Iterator[str]:
    """Yield the sentences on heads and marks that only boards have."""
    yield from rank_terms(lines)
    if any(line.to_tell for line in lines):
        yield to_tell_term("the highest mean")
    if any(len(line.policies) > 1 for line in lines):
        yield _JOINED
    if any(line.share for line in lines):
        yield _SHARE
    yield from knowledge_legend(line.knows for line in lines)
