"""The seeds, or repeats of one seed, needed to distinguish entries from the best one."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from attrs import frozen

from desim.statistics.intervals import moments
from desim.statistics.variance import runs_needed

#: The fewest seeds, or repeats, from which a variance is estimated.
_FEWEST = 2


@frozen
class SampleSize:
    """The sample size that distinguishes an entry from the best one by a figure.

    The number needed is that of `desim.statistics.variance.runs_needed`: with it an interval at
    95 % excludes 0 with a probability of 0.8, if difference and variance are as estimated.

    Attributes:
        best: The entry with the highest mean.
        column: The name of the figure.
        difference: The best one's mean less the entry's, over the seeds that both have played.
        unit: "seeds", each with as many repeats as were played; or "repeats" of the one seed.
        played: The number that both have played.
        needed: The number needed; None if the difference is 0 or the number too large.
    """

    best: str
    column: str
    difference: float
    unit: str
    played: int
    needed: int | None


#: The values of an entry by seed.
BySeed = Mapping[int, Sequence[float]]


def sizes_from_best(column: str, entries: Mapping[str, BySeed]) -> dict[str, SampleSize]:
    """Return the sample size needed for each entry except the best.

    Entries whose variance is not known are left out: an estimate needs two common seeds, or two
    episodes with one common seed.

    Args:
        column: The name of the figure.
        entries: The values of each entry by seed; the best entry has the highest mean.
    """
    means = {
        entry: moments([moments(values)[0] for values in by_seed.values()])[0]
        for entry, by_seed in entries.items()
        if by_seed
    }
    best = max(means, key=lambda entry: means[entry], default="")
    sizes = {e: _size(best, column, entries[best], entries[e]) for e in means if e != best}
    return {entry: size for entry, size in sizes.items() if size}


def _size(best: str, column: str, its: BySeed, other: BySeed) -> SampleSize | None:
    common = [seed for seed in its if seed in other]
    if len(common) >= _FEWEST:
        # In pairs, which removes the common effects of seeds.
        mean, sd = moments([fmean(its[seed]) - fmean(other[seed]) for seed in common])
        assert sd is not None
        return SampleSize(best, column, mean, "seeds", len(common), runs_needed(mean, sd**2))
    for seed in common:  # independent episodes with one seed
        (mean, sd), (its_other, sd_other) = moments(its[seed]), moments(other[seed])
        if sd is not None and sd_other is not None:
            less, played = mean - its_other, min(len(its[seed]), len(other[seed]))
            needed = runs_needed(less, sd**2 + sd_other**2, samples=2)
            return SampleSize(best, column, less, "repeats", played, needed)
    return None
