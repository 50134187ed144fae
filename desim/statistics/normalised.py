"""Scores on a scale from a floor to a ceiling, as a ratio of means."""

from collections.abc import Hashable, Sequence

from attrs import frozen

from desim.errors import UsageError
from desim.statistics.clusters import clustered_mean
from desim.statistics.intervals import checked_level, moments, t_quantile


@frozen
class Normalised:
    """A score on the scale from floor (0) to ceiling (1), never clipped.

    Attributes:
        z: The ratio; below 0 it is worse than the floor.
        se: Its standard error; None for a single seed.
        low: Lower end of its interval; None for a single seed.
        high: Upper end; None for a single seed.
        n: The number of independent values: seeds, or clusters.
    """

    z: float
    se: float | None
    low: float | None
    high: float | None
    n: int


def normalised(
    scores: Sequence[float],
    floor: Sequence[float],
    ceiling: Sequence[float],
    level: float = 0.95,
    *,
    clusters: Sequence[Hashable] | None = None,
) -> Normalised | None:
    """Return the mean score above the floor as a share of the mean room above it.

    The order of policies is that of their mean scores.

    Source: Cochran (1977), Sampling Techniques, 3rd edition, chapter 6 (ratio of means, by the
    delta method).

    Scores, floors and ceilings are those of the same seeds; *clusters* that of each seed, where
    seeds share cases. None where the mean of the ceiling is not above that of the floor.

    Raises:
        UsageError: *scores* is empty, the numbers of values differ, or a value is not finite.
    """
    checked_level(level)
    if not len(scores) == len(floor) == len(ceiling):
        counts = f"{len(scores)}, {len(floor)} and {len(ceiling)}"
        raise UsageError(f"{counts} scores, floors and ceilings were given; give equally many")
    for each in (scores, floor, ceiling):
        moments(each)
    gains = [x - f for x, f in zip(scores, floor, strict=True)]
    rooms = [b - f for b, f in zip(ceiling, floor, strict=True)]
    room, _ = moments(rooms)
    if room <= 0:
        return None
    z = moments(gains)[0] / room
    rests = [gain - z * wide for gain, wide in zip(gains, rooms, strict=True)]
    found = clustered_mean(rests, clusters or range(len(rests)), level)
    if found.se is None or found.freedom is None:
        return Normalised(z, None, None, None, 1)
    # The floor and the ceiling themselves have rests of rounding errors only.
    se = 0.0 if _is_dust(rests, scores) else found.se / room
    half = t_quantile((1 + level) / 2, found.freedom) * se
    return Normalised(z, se, z - half, z + half, found.clusters)


def _is_dust(rests: Sequence[float], scores: Sequence[float]) -> bool:
    scale = max(map(abs, scores), default=0.0) or 1.0
    return max(map(abs, rests)) <= 1e-12 * scale
