"""Selection of the best of several alternatives by dropping those that are worse for certain.

Source: Even-Dar, Mannor and Mansour (2006), Action elimination and stopping conditions for the
multi-armed bandit and reinforcement learning problems, Journal of Machine Learning Research 7,
1079-1105, with confidence sequences of paired differences.
"""

import math
from collections.abc import Sequence

from attrs import define, field

from desim.errors import UsageError
from desim.statistics.intervals import moments
from desim.statistics.sequences import ScoreRange, lower_end, mean_exceeds
from desim.statistics.shape import differences


@define
class Elimination:
    """A selection under way; one call of `look` for each batch of seeds.

    The error is shared by the k - 1 comparisons of the others over the best: only these can do
    harm, and who is dropped is worse for certain.

    Args:
        count: The number of alternatives, at least 2.
        delta: The smallest difference that matters, above 0.
        bounds: The declared range of the values; None without one.
        alpha: Probability of a wrong choice, above 0 and below 1.

    Attributes:
        left: The alternatives that are left, by index.
        dropped: The dropped ones with the number of seeds at which each was.
        chosen: The alternative that is chosen; None before.
        seeds: The number of seeds at the last look.
    """

    count: int
    delta: float
    bounds: ScoreRange | None = None
    alpha: float = 0.05
    left: list[int] = field(init=False)
    dropped: list[tuple[int, int]] = field(init=False, factory=list)
    chosen: int | None = field(init=False, default=None)
    seeds: int = field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        if self.count < 2:  # noqa: PLR2004 (a choice needs two alternatives)
            raise UsageError(f"{self.count} alternatives were given; a selection needs at least 2")
        check_delta(self.delta)
        self.left = list(range(self.count))

    def look(self, values: Sequence[Sequence[float]]) -> None:
        """Drop what is worse for certain, then choose if one is within delta of the best.

        Args:
            values: The values of each alternative in the order of the seeds; those of dropped ones
                are not read.

        Raises:
            UsageError: A value is not finite, or outside the declared range.
        """
        self.seeds = len(values[self.left[0]])
        worse = [
            j for j in self.left if any(self._beats(values, i, j, 0.0) for i in self.left if i != j)
        ]
        self.dropped += [(j, self.seeds) for j in worse]
        self.left = [i for i in self.left if i not in worse]
        fit = [
            i
            for i in self.left
            if all(self._beats(values, i, j, -self.delta) for j in self.left if j != i)
        ]
        if fit:
            means = {i: moments(values[i])[0] for i in fit}
            self.chosen = max(fit, key=means.__getitem__)

    @property
    def seeds_of_sentence(self) -> int:
        """The number of seeds on which the statement rests: at the first drop, or at the stop."""
        return self.dropped[0][1] if self.dropped else self.seeds

    def _beats(self, values: Sequence[Sequence[float]], i: int, j: int, least: float) -> bool:
        """Return whether the mean of i is above that of j by *least* or more, for certain."""
        alpha = self.alpha / (self.count - 1)
        found = differences(values[i], values[j])
        if self.bounds is not None:
            return mean_exceeds(found, self.bounds.of_differences(), least, alpha)
        low = lower_end(found, alpha)
        return low > least if least == 0 else low >= least


def check_delta(delta: float) -> None:
    """Raise a `UsageError` if a smallest difference that matters is not finite and above 0."""
    if not 0 < delta < math.inf:
        raise UsageError(f"delta={delta:g} was given; it is finite and above 0")
