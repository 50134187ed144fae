"""Kim and Nelson's procedure: selects the best of several with a guarantee, seed after seed."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from attrs import define, field

from desim.errors import UsageError
from desim.statistics.intervals import moments

K = TypeVar("K", bound=Hashable)

#: Seeds of the first stage, from which variances of differences are estimated, at least.
MIN_FIRST = 2


@define(eq=False)
class KimNelson(Generic[K]):
    """A fully sequential selection of the alternative with the highest mean.

    After the first stage each further seed may drop alternatives; the last one left is the best
    with a probability of at least `1 - alpha`, if its mean exceeds all others by at least *delta*
    (otherwise one within *delta* of the best is chosen). Values must be normal or means of many;
    seeds may be shared by the alternatives, which makes the differences less variable.

    Source: Kim and Nelson (2001), A fully sequential procedure for indifference-zone selection in
    simulation, ACM Transactions on Modeling and Computer Simulation 11(3), 251-273, with c = 1.

    Attributes:
        names: The alternatives.
        delta: The smallest difference that matters, in the unit of the values; above 0.
        alpha: The probability of a wrong selection, above 0 and below 1 - 1 / number of names.
        first: Seeds of the first stage, at least 2; 10 to 20 are usual.
        left: The alternatives that are not dropped.
        seeds: The number of screened seeds.
    """

    names: tuple[K, ...] = field(converter=tuple)
    delta: float
    alpha: float = 0.05
    first: int = 20
    left: list[K] = field(init=False)
    seeds: int = field(default=0, init=False)
    _sums: dict[K, float] = field(factory=dict, init=False)
    _stage: dict[K, list[float]] = field(factory=dict, init=False)
    #: By pair: seeds after which any difference drops one of the two.
    _seeds_to_drop: dict[tuple[K, K], float] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        count = len(self.names)
        if len(set(self.names)) < max(count, 2):
            raise UsageError("a selection is among at least two different alternatives")
        if not (self.delta > 0 and math.isfinite(self.delta)):
            raise UsageError(f"delta={self.delta:g} was given; it is finite and above 0")
        if not 0 < self.alpha < 1 - 1 / count:
            raise UsageError(
                f"alpha={self.alpha:g} was given; for {count} alternatives it is above 0 and below "
                f"{1 - 1 / count:g}, the chance of a wrong guess"
            )
        if self.first < MIN_FIRST:
            raise UsageError(f"first={self.first} was given; it is at least {MIN_FIRST}")
        self.left = list(self.names)
        self._stage = {name: [] for name in self.names}
        self._sums = dict.fromkeys(self.names, 0.0)

    @property
    def best(self) -> K | None:
        """The selected alternative; None while more than one is left."""
        return self.left[0] if len(self.left) == 1 else None

    def add(self, values: Mapping[K, float]) -> None:
        """Screen one more seed.

        Args:
            values: Of every alternative that is left, on one seed or on independent ones; values
                of others are not used.

        Raises:
            UsageError: A value is missing or not finite; nothing has changed.
        """
        for name in self.left:
            if not math.isfinite(values.get(name, math.nan)):
                raise UsageError(f"the value of {name} is {values.get(name)}, which is no number")
        if self.best is not None:
            return
        self.seeds += 1
        for name in self.left:
            self._sums[name] += values[name]
            if self.seeds <= self.first:
                self._stage[name].append(values[name])
        if self.seeds == self.first:
            self._end_first_stage()
        if self.seeds >= self.first:
            self._screen()

    def _end_first_stage(self) -> None:
        """Estimate the variances of all differences."""
        freedom = self.first - 1
        eta = ((2 * self.alpha / (len(self.names) - 1)) ** (-2 / freedom) - 1) / 2
        for one in self.names:
            for other in self.names:
                if one != other:
                    variance = _variance(self._stage[one], self._stage[other])
                    self._seeds_to_drop[one, other] = 2 * eta * freedom * variance / self.delta**2
        self._stage.clear()

    def _screen(self) -> None:
        """Drop the alternatives whose sum is too far below that of another one that is left."""
        left = list(self.left)
        self.left = [one for one in left if not any(self._drops(o, one) for o in left if o != one)]

    def _drops(self, better: K, worse: K) -> bool:
        """Return whether one alternative drops another; of two equal ones the first is kept."""
        room = self.delta / 2 * (self._seeds_to_drop[worse, better] - self.seeds)
        ahead = self._sums[better] - self._sums[worse]
        if ahead == 0.0 and room <= 0.0:
            return self.names.index(better) < self.names.index(worse)
        return ahead > max(0.0, room)


def _variance(one: Sequence[float], other: Sequence[float]) -> float:
    _, sd = moments([a - b for a, b in zip(one, other, strict=True)])
    assert sd is not None
    return sd**2
