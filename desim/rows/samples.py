"""The values on which a figure of some rows rests: by seed or by item, and what they share."""

from collections.abc import Hashable, Iterable, Mapping

from attrs import field, frozen

from desim.engine.plan import CLUSTER, ITEMS, WORST_SCORE, Row
from desim.rows.columns import RowColumns, mean, means_by_seed
from desim.statistics.clusters import clustered_mean, clustered_share
from desim.statistics.intervals import Interval, interval, seeds_for_difference
from desim.statistics.pairing import Difference, difference, difference_apart
from desim.statistics.proportions import are_truth_values, share
from desim.statistics.shape import Shape, shape


@frozen
class Sample:
    """The values of one figure of one group.

    Attributes:
        values: By seed or by item, each the mean of its rows.
        clusters: The cluster of each seed, where seeds share cases; otherwise empty.
        unit: What the values belong to, "seeds" or "items".
        fixed: Whether every seed is known to have the same episode.
        truth: Whether the values come from truth values.
    """

    values: Mapping[Hashable, float]
    clusters: Mapping[Hashable, str] = field(factory=dict)
    unit: str = "seeds"
    fixed: bool = False
    truth: bool = False

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
        return [*means_by_seed(named, self.values.values(), complete=False).values()]

    @property
    def shape(self) -> Shape:
        """The shape of the independent values, of which there is one at least."""
        return shape(self.independent)

    @property
    def has_shares(self) -> bool:
        """Whether its interval is that of a share, which holds for whatever shape."""
        return self.truth and are_truth_values([*self.values.values()])

    def estimate(self, level: float) -> Interval | None:
        """Return the mean with its interval; None without values.

        The interval of truth values is that of a share. Where some are means over several rows of a
        seed, it is that of a mean.
        """
        values = [*self.values.values()]
        if not values:
            return None
        if self.is_clustered:
            clustered = clustered_share if self.has_shares else clustered_mean
            return clustered(values, [self.clusters[seed] for seed in self.values], level)
        return share(values, level) if self.has_shares and values[1:] else interval(values, level)

    def less(self, other: "Sample", level: float) -> Difference | None:
        """Return the mean difference over the seeds or items that both have.

        Without a common seed the interval is that of independent values. None if one of the two is
        empty, or seeds that differ share cases.
        """
        found = self._differences(other)
        if not found.values:
            if not (self.values and other.values) or self.is_clustered or other.is_clustered:
                return None
            return Difference(
                difference_apart([*self.values.values()], [*other.values.values()], level),
                None,
                None,
            )
        mine, theirs = ([side.values[key] for key in found.values] for side in (self, other))
        groups = [found.clusters[key] for key in found.values] if found.is_clustered else ()
        return difference(mine, theirs, level, truth=self.truth, clusters=groups)

    def to_tell(self, other: "Sample") -> int | None:
        """Return the seeds, cases or items that would tell the two means apart.

        See `intervals.seeds_for_difference`.
        """
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


def score_sample(rows: RowColumns, figure: str = "score") -> Sample:
    """Return a figure of one policy by seed, or the scores by item; none if an episode has none."""
    if figure == "score" and any(rows.has_items):
        return Sample(item_scores(rows.rows), unit="items")
    scores, seeds = rows.counted(figure), rows.column("seed")
    if None in scores:
        return Sample({})
    clusters = zip(seeds, rows.column_of_key(CLUSTER), strict=True)
    named = {seed: cluster for seed, cluster in clusters if cluster is not None}
    return Sample(means_by_seed(seeds, scores, complete=False), named)


def item_scores(rows: Iterable[Row]) -> dict[Hashable, float]:
    """Return the mean part of each item in the score; empty if an episode has none.

    Every item of an episode that failed counts with the worst score, if the model declares one.
    """
    found: dict[Hashable, list[float]] = {}
    failed: list[float | None] = []
    for row in rows:
        if ITEMS not in row:
            failed.append(row.get(WORST_SCORE))
        for item, (part, _) in row.get(ITEMS, {}).items():
            found.setdefault(item, []).append(part)
    worst = [one for one in failed if one is not None]
    if len(worst) < len(failed):
        return {}
    return {item: mean([*parts, *worst]) for item, parts in found.items()}
