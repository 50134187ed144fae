"""The values on which a figure of some rows rests: by seed or by item, and what they share."""

from collections.abc import Hashable, Mapping, Sequence

from attrs import evolve, field, frozen

from desim.engine.plan import CLUSTER, FIXED, ITEMS
from desim.rows.columns import RowColumns, mean, means_by_seed
from desim.show.estimates import is_equal
from desim.statistics.clusters import clustered_mean, clustered_share
from desim.statistics.intervals import Interval, interval, seeds_for_difference
from desim.statistics.pairing import Difference, difference, difference_apart
from desim.statistics.proportions import are_truth_values, share
from desim.statistics.shape import Shape, shape


@frozen
class Sample:
    """The values of one figure of one group.

    Attributes:
        values: By seed or by item (*unit*), each the mean of its rows.
        clusters: The cluster of each seed, where seeds share cases; otherwise empty.
        fixed: Whether every seed is known to have the same episode.
        truth: Whether the values come from truth values.
        missing: How many episodes have no number, though they have not failed; where the others are
            equal there is then no interval.
    """

    values: Mapping[Hashable, float]
    clusters: Mapping[Hashable, str] = field(factory=dict)
    unit: str = "seeds"
    fixed: bool = False
    truth: bool = False
    missing: int = 0

    @property
    def is_clustered(self) -> bool:
        """Whether several values share a cluster, so that intervals count clusters."""
        return len(set(self.clusters.values())) < len(self.clusters)

    @property
    def is_exact(self) -> bool:
        """Whether one seed stands for all."""
        return self.fixed and self.unit == "seeds"

    @property
    def independent_unit(self) -> str:
        """The unit of the independent values: "seeds", "cases" or "items"."""
        return "cases" if self.is_clustered else self.unit

    @property
    def independent(self) -> list[float]:
        """One value for each cluster, the mean of its seeds; without clusters all values."""
        if not self.is_clustered:
            return [*self.values.values()]
        named = (self.clusters[seed] for seed in self.values)
        return [*means_by_seed(named, self.values.values()).values()]

    @property
    def shape(self) -> Shape:
        """The shape of the independent values, of which there is one at least."""
        return shape(self.independent)

    def estimate(self, level: float) -> Interval | None:
        """Return the mean with its interval; None without values.

        The interval of truth values is that of a share. Where some are means over several rows of a
        seed, it is that of a mean.
        """
        values = [*self.values.values()]
        if not values:
            return None
        found: Interval
        is_share = self.truth and are_truth_values(values)
        if self.is_clustered:
            clustered = clustered_share if is_share else clustered_mean
            found = clustered(values, [self.clusters[seed] for seed in self.values], level)
        else:
            found = share(values, level) if is_share and values[1:] else interval(values, level)
        return _unequal(found) if self.missing else found

    def less(self, other: "Sample", level: float) -> Difference | None:
        """Return the mean difference over the seeds or items that both have.

        Without a common seed the interval is that of independent values. None if one of the two is
        empty, or seeds that differ share cases.
        """
        found = self._differences(other)
        sides = [*self.values.values()], [*other.values.values()]
        if not found.values:
            apart = all(sides) and not (self.is_clustered or other.is_clustered)
            return Difference(difference_apart(*sides, level), None, None) if apart else None
        mine, theirs = ([side.values[key] for key in found.values] for side in (self, other))
        groups = [found.clusters[key] for key in found.values] if found.is_clustered else ()
        less = difference(mine, theirs, level, truth=self.truth, clusters=groups)
        is_open = self.missing or other.missing
        return evolve(less, paired=_unequal(less.paired)) if is_open else less

    def to_tell(self, other: "Sample") -> int | None:
        """Return the seeds, cases or items that tell the means apart: `seeds_for_difference`."""
        found = self._differences(other).independent
        return seeds_for_difference(found) if found else None

    def _differences(self, other: "Sample") -> "Sample":
        values = {k: v - other.values[k] for k, v in self.values.items() if k in other.values}
        clusters = {
            key: f"{one}, {other.clusters[key]}"
            for key, one in self.clusters.items()
            if key in values and key in other.clusters
        }
        return Sample(values, clusters, self.unit)


def _unequal(found: Interval) -> Interval:
    """Return an interval without ends where all values but those that are missing are equal."""
    return evolve(found, low=None, high=None) if is_equal(found) else found


@frozen
class FigureValues:
    """The values of one figure of all rows; of a failed episode the worst score, if there is one.

    They may be truth values, or belong to items.
    """

    rows: RowColumns
    values: Sequence[float | None]
    truth: bool
    by_item: bool

    @classmethod
    def of(cls, rows: RowColumns, name: str) -> "FigureValues":
        """Return a figure by its name."""
        known = {type(value) for value in rows.column(name) if value is not None}
        by_item = name == "score" and rows.gathered.has_items
        return cls(rows, rows.counted(name), known == {bool}, by_item)

    def sample(self, group: Sequence[int], used: Sequence[int] | None = None) -> Sample:
        """Return the values of a group by seed or item; none if an episode failed and has none.

        Those *used* count; all by default.
        """
        seeds, errors, clusters, fixed = (
            self.rows.column(key) for key in ("seed", "error", CLUSTER, FIXED)
        )
        unknown = [errors[at] is not None for at in group if self.values[at] is None]
        missing = unknown.count(False)
        if any(unknown):
            return Sample({}, missing=missing)
        if self.by_item:
            return Sample(self._by_item(group), unit="items", missing=missing)
        places = group if used is None else used
        values = means_by_seed((seeds[at] for at in places), (self.values[at] for at in places))
        cases = {seeds[at]: clusters[at] for at in places if clusters[at] is not None}
        return Sample(
            values,
            {seed: case for seed, case in cases.items() if seed in values},
            fixed=all(fixed[at] is not None for at in group),
            truth=self.truth,
            missing=missing,
        )

    def _by_item(self, group: Sequence[int]) -> dict[Hashable, float]:
        """Return the mean part of each item in the score, an episode that failed with its score."""
        found: dict[Hashable, list[float]] = {}
        others = []
        for at in group:
            if items := self.rows[at].get(ITEMS):
                for item, (part, _) in items.items():
                    found.setdefault(item, []).append(part)
            elif (worst := self.values[at]) is not None:
                others.append(worst)
        return {item: mean([*parts, *others]) for item, parts in found.items()}

    def pair(
        self, one: Sequence[int], other: Sequence[int], matches: Sequence[Hashable]
    ) -> tuple[Sample, Sample]:
        """Return the samples of two groups over the rows that share what *matches* has for each.

        Groups without a common seed are compared by all their rows, as independent ones.
        """
        seeds = self.rows.column("seed")
        if self.by_item or {seeds[at] for at in one}.isdisjoint(seeds[at] for at in other):
            return self.sample(one), self.sample(other)
        mine, theirs = (
            {matches[at] for at in group if self.values[at] is not None} for group in (one, other)
        )
        both = mine & theirs
        used = ([at for at in group if matches[at] in both] for group in (one, other))
        return self.sample(one, next(used)), self.sample(other, next(used))


def score_sample(rows: RowColumns, figure: str = "score") -> Sample:
    """Return a figure of one policy by seed, or the scores by item; none if an episode has none."""
    found = FigureValues.of(rows, figure).sample(range(len(rows)))
    return Sample({}) if found.missing else found
