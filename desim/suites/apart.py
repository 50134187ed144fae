"""The seeds, or repeats of one seed, needed to distinguish a world's entries from the best one."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from attrs import frozen

from desim.statistics.intervals import moments
from desim.statistics.variance import runs_needed
from desim.suites.results import Cell, ResultLine

#: The fewest seeds, or repeats, from which a variance is estimated.
_FEWEST = 2


@frozen
class Apart:
    """The sample size that distinguishes an entry from its world's best, by the first means column.

    The number needed is that of `desim.statistics.variance.runs_needed`: with it an interval at
    95 % excludes 0 with a probability of 0.8, if difference and variance are as estimated.

    Attributes:
        best: The entry with the highest mean.
        column: The head of the column.
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


def apart_from_best(lines: Sequence[ResultLine]) -> dict[str, Apart]:
    """Return the sample size needed for each entry of a world except the best.

    Entries whose variance is not known are left out: an estimate needs two common seeds, or two
    episodes with one common seed.

    Args:
        lines: The entries of one world.
    """
    firsts = {line.entry: line.main for line in lines if line.main.by_seed}
    means = {entry: cell.estimate.mean for entry, cell in firsts.items() if cell.estimate}
    if not means:
        return {}
    best = max(means, key=lambda entry: means[entry])
    found = {
        entry: _apart(best, firsts[best], cell) for entry, cell in firsts.items() if entry != best
    }
    return {entry: apart for entry, apart in found.items() if apart}


def _apart(best: str, its: Cell, other: Cell) -> Apart | None:
    common = [seed for seed in its.by_seed if seed in other.by_seed]
    if len(common) >= _FEWEST:
        return _by_seeds(best, its, other, common)
    if len(common) == 1:
        return _by_repeats(best, its.head, its.by_seed[common[0]], other.by_seed[common[0]])
    return None


def _by_seeds(best: str, its: Cell, other: Cell, common: Sequence[int]) -> Apart:
    """Compare the means of common seeds in pairs, which removes the common effects of seeds."""
    pairs = [_mean(its.by_seed, seed) - _mean(other.by_seed, seed) for seed in common]
    mean, sd = moments(pairs)
    assert sd is not None
    needed = runs_needed(mean, sd**2)
    return Apart(best, its.head, mean, "seeds", len(common), needed)


def _by_repeats(
    best: str, column: str, its: Sequence[float], other: Sequence[float]
) -> Apart | None:
    """Compare independent episodes with one seed."""
    (mean, sd), (its_other, sd_other) = moments(its), moments(other)
    if sd is None or sd_other is None:
        return None
    difference, played = mean - its_other, min(len(its), len(other))
    needed = runs_needed(difference, sd**2 + sd_other**2, samples=2)
    return Apart(best, column, difference, "repeats", played, needed)


def _mean(by_seed: Mapping[int, Sequence[float]], seed: int) -> float:
    return fmean(by_seed[seed])
