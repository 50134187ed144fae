"""The scale of a world: the known scores that count as 0 and 1, seed by seed."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from desim.catalog import model_finder
from desim.catalog.known_scores import BEST_KNOWN, KnownScores
from desim.errors import UsageError
from desim.jobs.rows.known_means import KnownMeans, known_scores
from desim.jobs.rows.rows import Rows
from desim.studies.boards.aggregate_scores import Scale

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
        scales: By seed, without the seeds on which nothing can be gained.
    """

    name: str
    known: KnownScores
    seeds: tuple[int, ...]
    scales: Mapping[int, Scale]

    @property
    def means(self) -> KnownMeans:
        """The means of the known scores over the seeds that have a scale."""
        return KnownMeans(self.known, tuple(self.known.all_of(self.scales) or ()))

    def scaled(self, rows: Rows) -> Rows:
        """Return the rows of the seeds that have a scale."""
        return Rows(row for row in rows if row["seed"] in self.scales)

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
    scales = {
        seed: Scale(one.floor, one.ceiling.value)
        for seed in seeds
        if (one := known.of(seed)) and one.ceiling.value > one.floor
    }
    if not scales:
        raise UsageError(f"no policy can gain anything in {name}: the floor is the best score")
    return WorldScale(name, known, tuple(seeds), scales)


def exceeds(score: float, limit: float) -> bool:
    """Return whether a score is above a limit by more than rounding."""
    return score > limit + _ROUNDING * abs(limit)


def _span(known: KnownScores) -> str:
    """Return the seeds with known scores, as text."""
    seeds = sorted(known.by_seed)
    return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
