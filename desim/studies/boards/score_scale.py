"""The scale of a world: the known scores that count as 0 and 1, seed by seed."""

from collections.abc import Sequence

from attrs import frozen

from desim.catalog import model_finder
from desim.catalog.known_scores import BEST_KNOWN, KnownScores
from desim.errors import UsageError
from desim.rows.known_means import KnownMeans, known_scores
from desim.rows.rows import Rows
from desim.rows.samples import Sample
from desim.statistics.normalised import Normalised, normalised

#: Relative amount by which a score may exceed a bound: both are sums of rounded numbers.
_ROUNDING = 1e-9

#: Seeds that an error text lists.
_LISTED = 5


@frozen
class WorldScale:
    """The floor, the best known score and the bound of each seed of a preset.

    Attributes:
        name: Model and preset, as `model/preset`.
        known: The known scores of the preset.
        seeds: All seeds that are played.
    """

    name: str
    known: KnownScores
    seeds: tuple[int, ...]

    @property
    def means(self) -> KnownMeans:
        """The means of the known scores."""
        return KnownMeans(self.known, tuple(self.known.all_of(self.seeds) or ()))

    def normalised(self, sample: Sample) -> Normalised | None:
        """Return a sample of scores on the scale of its seeds; None if nothing can be gained."""
        if sample.unit == "seeds":
            known = [one for seed in sample.values if (one := self.known.of(int(str(seed))))]
            floor, ceiling = [one.floor for one in known], [one.ceiling.value for one in known]
        else:
            n, means = len(sample.values), self.means
            floor, ceiling = [means.floor] * n, [means.bound or means.best] * n
        clusters = [*sample.clusters.values()] if sample.is_clustered else None
        return normalised([*sample.values.values()], floor, ceiling, clusters=clusters)

    def above(self, rows: Rows) -> "Above":
        """Return the policies whose scores are above the known ones."""
        faults: dict[str, None] = {}
        news: dict[str, None] = {}
        for row in rows:
            score, known = row["score"], self.known.of(row["seed"])
            if score is None or known is None:
                continue
            if exceeds(score, known.ceiling.value) and known.ceiling.kind != BEST_KNOWN:
                faults[row["policy"]] = None
            elif exceeds(score, known.best):
                news[row["policy"]] = None
        return Above(tuple(faults), tuple(news))


@frozen
class Above:
    """Policies whose scores are above the known ones.

    Attributes:
        bound: Those above a bound that no policy can exceed: the bound, or the model, is wrong.
        best: Those above the best known score only, which can be updated.
    """

    bound: tuple[str, ...]
    best: tuple[str, ...]


def world_scale(name: str, seeds: Sequence[int]) -> WorldScale:
    """Return the scale of a world on some seeds.

    Args:
        name: `model/preset`; a model that a function returns has no known scores.
        seeds: The seeds to be played.

    Raises:
        UsageError: The world does not exist, its scores or those of a seed are unknown, its data
            are damaged or of other parameters, or no policy can gain anything.
    """
    preset = name.partition("/")[2]
    known = known_scores(model_finder.model(name), preset) if preset else None
    if known is None:
        raise UsageError(f"nothing is known of the scores of {name}")
    unknown = [seed for seed in seeds if known.of(seed) is None]
    if unknown:
        more = " and more" * (len(unknown) > _LISTED)
        raise UsageError(
            f"nothing is known of {name} with seed "
            f"{', '.join(map(str, unknown[:_LISTED]))}{more}; known are {_span(known)}"
        )
    scale = WorldScale(name, known, tuple(seeds))
    if all(one.ceiling.value == one.floor for one in scale.means.scores):
        raise UsageError(f"no policy can gain anything in {name}: the floor is the best score")
    return scale


def exceeds(score: float, limit: float) -> bool:
    """Return whether a score is above a limit by more than rounding."""
    return score > limit + _ROUNDING * abs(limit)


def _span(known: KnownScores) -> str:
    """Return the seeds with known scores, as text."""
    seeds = sorted(known.by_seed)
    return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
