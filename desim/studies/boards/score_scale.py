"""The scale of a world: what its known scores make 0 and 1, seed by seed."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from desim.catalog import model_finder
from desim.catalog.known_scores import BEST_KNOWN, KnownScores
from desim.errors import UsageError
from desim.jobs.rows.known_means import KnownMeans, known_scores
from desim.jobs.rows.rows import Rows
from desim.studies.boards.aggregate_scores import Scale

__all__ = ["WorldScale", "world_scale"]

#: By how much of its size a score may be above a bound, as both are sums of rounded numbers.
_ROUNDING = 1e-9

#: Seeds that an error text lists.
_LISTED = 5


@frozen
class WorldScale:
    """The floor, the best known score and the bound of each seed of a preset.

    Attributes:
        name: Model and preset, as `model/preset`.
        known: What is known of the preset.
        seeds: All seeds that are played.
        scales: By seed; a seed on which nothing can be gained has none.
    """

    name: str
    known: KnownScores
    seeds: tuple[int, ...]
    scales: Mapping[int, Scale]

    @property
    def means(self) -> KnownMeans:
        """What is known of the seeds that have a scale."""
        return KnownMeans(self.known, tuple(self.known.all_of(self.scales) or ()))

    def scaled(self, rows: Rows) -> Rows:
        """Return the rows of the seeds that have a scale."""
        return Rows(row for row in rows if row["seed"] in self.scales)

    def above(self, rows: Rows) -> "Above":
        """Return the policies whose scores are above what is known."""
        faults: dict[str, None] = {}
        news: dict[str, None] = {}
        for row in rows:
            score, known = row["score"], self.known.of(row["seed"])
            if score is None or known is None:
                continue
            if _exceeds(score, known.ceiling.value) and known.ceiling.kind != BEST_KNOWN:
                faults[row["policy"]] = None
            elif _exceeds(score, known.best):
                news[row["policy"]] = None
        return Above(tuple(faults), tuple(news))


@frozen
class Above:
    """Policies whose scores are above what is known.

    Attributes:
        bound: Above a bound that no policy can exceed: the bound, or the model, is wrong.
        best: Above the best known score only, which can be updated.
    """

    bound: tuple[str, ...]
    best: tuple[str, ...]


def world_scale(name: str, seeds: Sequence[int]) -> WorldScale:
    """Return the scale of a world on some seeds.

    Args:
        name: As `model/preset`; nothing is known of a model that a function returns.
        seeds: Those that are played.

    Raises:
        UsageError: There is no such world, nothing is known of its scores or of those of a seed, or
            its data are damaged or of other parameters; or no policy can gain anything.
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


def _exceeds(score: float, limit: float) -> bool:
    return score > limit + _ROUNDING * abs(limit)


def _span(known: KnownScores) -> str:
    """Return the seeds of which something is known, as text."""
    seeds = sorted(known.by_seed)
    return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
