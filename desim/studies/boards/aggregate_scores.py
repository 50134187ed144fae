"""One table over several worlds: scores normalised by world, with bootstrap intervals."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.errors import UsageError, possible
from desim.jobs.plan.job import Row
from desim.jobs.rows.estimate_notes import repeated_note
from desim.jobs.rows.failures import different_seeds
from desim.jobs.rows.rows import Rows
from desim.show.estimates import ends_cell, interval_head, number_cell
from desim.show.table import Table, Tabular
from desim.statistics.aggregates import improvement, interquartile_mean, optimality_gap
from desim.statistics.bootstrap import FEWEST_REPLICATIONS, Estimate
from desim.statistics.intervals import checked_level

#: The scale of a world, or where seeds differ the scale of each.
Scales = Mapping[str, "Scale | Mapping[int, Scale]"]

_LEGEND = (
    "IQM: the mean of the middle half of all episodes",
    "intervals: each for itself, by the bootstrap, and too narrow with few seeds a world",
)

#: Normalised scores by policy, world and seed.
Normalised = Mapping[str, Mapping[str, Mapping[int, float]]]


@frozen
class Scale:
    """The scores of a world, or of a seed of it, that become 0 and 1.

    Attributes:
        floor: For instance the score of doing nothing; a lower one becomes less than 0.
        best: The best known score, or a bound; a higher one becomes more than 1.
    """

    floor: float
    best: float

    def __attrs_post_init__(self) -> None:
        if not -math.inf < self.floor < self.best < math.inf:
            text = f"floor {self.floor:g} and best {self.best:g} were given"
            raise UsageError(f"{text}; both are finite, and the best is above the floor")

    def normalised(self, score: float) -> float:
        """Return a score on the scale.

        >>> [Scale(100, 300).normalised(score) for score in (0, 250, 320)]
        [-0.5, 0.75, 1.1]
        """
        return (score - self.floor) / (self.best - self.floor)


@frozen
class AggregateLine:
    """One policy over all worlds.

    Attributes:
        policy: Its spec.
        episodes: How many it has played.
        failed: How many of these failed; each counts with the lowest normalised score of its
            world, or with 0 if none is lower.
        middle: The interquartile mean of its normalised scores.
        gap: By how much they are below 1 on average, those above counting 1.
        improvement: The probability that its score is higher than the reference's in the same
            world; None for the reference itself, or without one.
    """

    policy: str
    episodes: int
    failed: int
    middle: Estimate
    gap: Estimate
    improvement: Estimate | None


@frozen(repr=False)
class AggregateTable(Tabular):
    """Policies over several worlds.

    Attributes:
        worlds: Their names.
        lines: The highest interquartile mean first.
        left_out: Policies that were not played in every world.
        against: The reference, or empty.
        level: The level of each interval.
        repeated: By policy and world, the seeds and how many of them have different episodes, where
            these are fewer.
    """

    worlds: tuple[str, ...]
    lines: tuple[AggregateLine, ...]
    left_out: tuple[str, ...]
    against: str
    level: float
    repeated: Mapping[str, tuple[int, int]] = field(factory=dict)

    def tables(self) -> tuple[Table]:
        """Return the table of the policies."""
        between = interval_head(self.level)
        heads = ["policy", "n", "failed", "IQM", between, "gap to best", between]
        if self.against:
            heads += [f"P(above {self.against})", between]
        cells = map(self._cells, self.lines)
        return (Table(heads, cells, notes=self.notes(), legend=_LEGEND),)

    def notes(self) -> list[str]:
        """Return the sentences without which a line could be misread."""
        found = [
            f"{len(self.worlds)} worlds, which count alike: 0 is a world's floor, 1 its best score",
            *repeated_note(self.repeated),
        ]
        if any(line.failed for line in self.lines):
            found.append("failed: counts with the lowest normalised score of its world, or 0")
        if self.left_out:
            found.append(f"not in every world, so left out: {', '.join(self.left_out)}")
        return found

    def _cells(self, line: AggregateLine) -> list[Any]:
        cells = [line.policy, line.episodes, line.failed]
        cells += [*_estimate_cells(line.middle), *_estimate_cells(line.gap)]
        return cells + (_estimate_cells(line.improvement) if self.against else [])


def normalised(rows_by_world: Mapping[str, Rows], scales: Scales) -> Normalised:
    """Return normalised scores by policy, world and seed.

    An episode that failed counts with the lowest score of its world, or with 0 if none is lower, so
    that no policy gains by failing. Several episodes of a policy on one seed count with their mean.

    Args:
        rows_by_world: The rows of each world.
        scales: The floor and the best score of each world, or of each of its seeds.

    Raises:
        UsageError: No world is given, a world has no rows, or a world or a seed has no scale.
    """
    if not rows_by_world:
        raise UsageError("no worlds were given; an aggregate needs at least one")
    found: dict[str, dict[str, dict[int, float]]] = {}
    for world, rows in rows_by_world.items():
        if world not in scales:
            raise UsageError(f"{world!r} has no scale; {possible(world, list(scales))}")
        if not rows:
            raise UsageError(f"{world!r} has no rows; play it, or leave it out")
        for policy, by_seed in _by_policy(rows, scales[world], world).items():
            means = {seed: math.fsum(each) / len(each) for seed, each in by_seed.items()}
            found.setdefault(policy, {})[world] = means
    return found


def aggregate(
    rows_by_world: Mapping[str, Rows],
    scales: Scales,
    against: str = "",
    level: float = 0.95,
    *,
    replications: int = FEWEST_REPLICATIONS,
    seed: int = 0,
) -> AggregateTable:
    """Compare policies over several worlds by their normalised scores.

    Args:
        rows_by_world: The rows of each world; policies that are not in all of them are left out.
        scales: The floor and the best score of each world, or of each of its seeds.
        against: The policy with which the others are compared; empty for none.
        level: The level of the intervals, above 0 and below 1.
        replications: Bootstrap samples, 2,000 to a million.
        seed: The seed of the bootstrap; equal seeds give equal intervals.

    Raises:
        UsageError: See `normalised`; or no policy, or not the reference, is in all worlds, or
            an argument is out of range.
    """
    checked_level(level)
    scores = normalised(rows_by_world, scales)
    worlds = tuple(rows_by_world)
    common = [policy for policy, each in scores.items() if len(each) == len(worlds)]
    if not common:
        raise UsageError("no policy was played in every world; play one in all of them")
    if against and against not in common:
        raise UsageError(f"{against!r} is not in every world; {possible(against, common)}")
    options = {"replications": replications, "seed": seed}
    lines: list[AggregateLine] = []
    repeated: dict[str, tuple[int, int]] = {}
    for policy in common:
        values = _values(scores[policy], worlds)
        played = {world: rows.where(policy=policy) for world, rows in rows_by_world.items()}
        own = [row for rows in played.values() for row in rows]
        repeated |= {f"{policy} in {world}": n for world, n in _repeated(played)}
        better = None
        if against and policy != against:
            mine, theirs, paired = _pairs(scores[policy], scores[against], worlds)
            better = improvement(mine, theirs, level, paired=paired, **options)
        lines.append(
            AggregateLine(
                policy,
                len(own),
                sum(row["error"] is not None for row in own),
                interquartile_mean(values, level, **options),
                optimality_gap(values, level=level, **options),
                better,
            )
        )
    lines.sort(key=lambda line: -line.middle.value)
    rest = tuple(policy for policy in scores if policy not in common)
    return AggregateTable(worlds, tuple(lines), rest, against, level, repeated)


def _repeated(played: Mapping[str, Rows]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the worlds in which some seeds have the same episode, and the two counts."""
    for world, rows in played.items():
        counts = different_seeds(rows, range(len(rows)))
        if counts and counts[0] > counts[1]:
            yield world, counts


def _by_policy(
    rows: Rows, scale: Scale | Mapping[int, Scale], world: str
) -> dict[str, dict[int, list[float]]]:
    """Return the normalised scores of a world by policy and seed."""
    scores = [_on_scale(row, scale, world) for row in rows]
    worst = min([0.0, *(score for score in scores if score is not None)])
    found: dict[str, dict[int, list[float]]] = {}
    for row, score in zip(rows, scores, strict=True):
        by_seed = found.setdefault(str(row["policy"]), {})
        by_seed.setdefault(row["seed"], []).append(worst if score is None else score)
    return found


def _on_scale(row: Row, scale: Scale | Mapping[int, Scale], world: str) -> float | None:
    """Return the normalised score of an episode; None if it failed."""
    own = scale if isinstance(scale, Scale) else scale.get(row["seed"])
    if own is None:
        text = f"seed {row['seed']} of {world!r} has no scale"
        raise UsageError(f"{text}; give one, or leave it out")
    return None if row["score"] is None else own.normalised(row["score"])


def _values(scores: Mapping[str, Mapping[int, float]], worlds: Sequence[str]) -> list[list[float]]:
    return [list(scores[world].values()) for world in worlds]


def _pairs(
    mine: Mapping[str, Mapping[int, float]],
    theirs: Mapping[str, Mapping[int, float]],
    worlds: Sequence[str],
) -> tuple[list[list[float]], list[list[float]], bool]:
    """Return the scores of two policies, and whether both have the same seeds in every world."""
    if any(mine[world].keys() != theirs[world].keys() for world in worlds):
        return _values(mine, worlds), _values(theirs, worlds), False
    aligned = [[theirs[world][seed] for seed in mine[world]] for world in worlds]
    return _values(mine, worlds), aligned, True


def _estimate_cells(estimate: Estimate | None) -> list[Any]:
    """Return the figure and its interval as cells; both are empty if it is None."""
    if estimate is None:
        return ["", ""]
    low, high = estimate.low, estimate.high
    assert low is not None
    assert high is not None
    return [number_cell(estimate.value, (high - low) / 2), ends_cell(low, high)]
