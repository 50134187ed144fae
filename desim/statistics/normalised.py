"""Scores on a scale from a floor to a ceiling, as a ratio of means, and their mean over worlds."""

import math
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


@frozen
class OverWorlds:
    """The mean of normalised scores over fixed worlds.

    Attributes:
        mean: Each world counts the same.
        se: Its standard error.
        freedom: Degrees of freedom; None without any spread.
        low: Lower end of its interval.
        high: Upper end.
        worst: The lowest score of a world.
    """

    mean: float
    se: float
    freedom: float | None
    low: float
    high: float
    worst: float


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

    Args:
        scores: One for each seed, the higher the better.
        floor: Scores of the floor on the same seeds.
        ceiling: Scores of the ceiling on the same seeds.
        level: The confidence level, above 0 and below 1.
        clusters: The cluster of each seed, where seeds share cases.

    Returns:
        None where the mean of the ceiling is not above that of the floor.

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


def over_worlds(worlds: Sequence[Normalised], level: float = 0.95) -> OverWorlds | None:
    """Return the mean over fixed worlds, with Welch and Satterthwaite's degrees of freedom.

    Returns:
        None if a world has a single seed, and so no standard error.

    Raises:
        UsageError: No world is given.
    """
    checked_level(level)
    mean, _ = moments([world.z for world in worlds])
    errors = [world.se for world in worlds]
    if None in errors:
        return None
    shares = [((error or 0.0) / len(worlds)) ** 2 for error in errors]
    whole = math.fsum(shares)
    se = math.sqrt(whole)
    squares = math.fsum(s**2 / (w.n - 1) for s, w in zip(shares, worlds, strict=True) if s)
    freedom = whole**2 / squares if squares else None
    half = t_quantile((1 + level) / 2, freedom) * se if freedom else 0.0
    return OverWorlds(mean, se, freedom, mean - half, mean + half, min(w.z for w in worlds))


def _is_dust(rests: Sequence[float], scores: Sequence[float]) -> bool:
    scale = max(map(abs, scores), default=0.0) or 1.0
    return max(map(abs, rests)) <= 1e-12 * scale
