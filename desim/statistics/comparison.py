"""Paired comparison of alternatives that were played on the same seeds."""

from collections.abc import Hashable, Mapping, Sequence

from desim.errors import UsageError
from desim.statistics.intervals import Interval, interval

__all__ = ["Values", "aligned", "paired"]

#: Values in the order of their seeds, or by seed.
Values = Sequence[float] | Mapping[Hashable, float]


def paired(values: Values, against: Values, level: float = 0.95) -> Interval:
    """Estimate the mean of `values - against` from pairs that share a seed.

    With common random numbers the two values of a pair are correlated, which makes the interval
    narrower than that of two independent samples (Law, Simulation Modeling and Analysis, 11.2).

    Args:
        values: In the order of their seeds, or by seed.
        against: The same for the other alternative; by seed, only common seeds are compared.
        level: Of the interval, above 0 and below 1.

    Raises:
        UsageError: The numbers of values differ, or there is no common seed.

    >>> paired({1: 5.0, 2: 7.0, 3: 9.0}, {1: 4.0, 2: 5.0, 9: 0.0}).mean
    1.5
    """
    mine, theirs = aligned([values, against])
    return interval([a - b for a, b in zip(mine, theirs, strict=True)], level)


def aligned(alternatives: Sequence[Values]) -> list[list[float]]:
    """Return the values of each alternative in one order of seeds, for the common seeds.

    Raises:
        UsageError: There is no alternative or no common seed, the numbers of values differ, or
            only some values are given by seed.
    """
    if not alternatives:
        raise UsageError("there is nothing to choose from")
    by_seed = [each for each in alternatives if isinstance(each, Mapping)]
    if not by_seed:
        rows = [list(each) for each in alternatives if not isinstance(each, Mapping)]
        if len({len(row) for row in rows}) > 1:
            counts = " and ".join(str(len(row)) for row in rows)
            raise UsageError(f"{counts} values cannot be paired; give equally many, or by seed")
        return rows
    if len(by_seed) < len(alternatives):
        raise UsageError("values by seed cannot be paired with values in a list; give both alike")
    common = [seed for seed in by_seed[0] if all(seed in each for each in by_seed)]
    if not common:
        raise UsageError("there is no common seed, so nothing can be paired")
    return [[each[seed] for seed in common] for each in by_seed]
