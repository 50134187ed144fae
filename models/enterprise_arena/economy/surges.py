"""Surges of borrower growth in drawn histories, with the sizes and lengths observed in a table.

A surge is a run of months in which growth exceeds `THRESHOLD`; growth in quiet months is far below
it.  In a quiet month of a drawn history a surge begins with the probability

    (surges observed + 1/2) / (quiet months observed + 1).

Its shape is that of one surge observed, drawn uniformly.  Its length is 3/4 to 5/4 of that surge's,
uniform.  Its peak is lognormal with the mean and the standard deviation of the logarithms of the
peaks observed, clipped to 4/5 of the lowest and 5/4 of the highest of them.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator


#: Percent a month above which borrower growth is a surge.
THRESHOLD = 1.0
#: Lowest and highest length, relative to the surge observed.
_LENGTH = (0.75, 1.25)
#: Lowest and highest peak, relative to the lowest and the highest observed.
_PEAK = (0.8, 1.25)


@frozen
class Surge:
    """A drawn surge.

    Attributes:
        start: Its first month.
        growth: Percent a month, month by month.
    """

    start: int
    growth: list[float]

    @property
    def next_start(self) -> int:
        """The first month in which another surge may begin: one quiet month lies between."""
        return self.start + len(self.growth) + 1


@frozen
class Surges:
    """The surges observed in a table.

    Attributes:
        shapes: For every surge, growth relative to its peak, month by month.
        peaks: Percent a month, in the same order.
        chance: Probability that a surge begins in a quiet month.
    """

    shapes: tuple[tuple[float, ...], ...]
    peaks: tuple[float, ...]
    chance: float

    def draw(
        self, generator: "Generator", months: int, begun: Sequence[Surge] = (), first: int = 1
    ) -> list[Surge]:
        """Draw the surges of a path of some months; month 0 is quiet.

        Args:
            generator: The random numbers.
            months: Number of months of the path.
            begun: Given surges; the others begin after the last of them.
            first: The first month in which another one may begin.
        """
        surges = list(begun)
        month = max([first, *(surge.next_start for surge in begun)])
        while self.shapes and month < months:
            if generator.random() < self.chance:
                surges.append(Surge(month, self._one(generator)))
                month = surges[-1].next_start
            else:
                month += 1
        return surges

    def _one(self, generator: "Generator") -> list[float]:
        shape = self.shapes[int(generator.integers(len(self.shapes)))]
        length = max(1, round(len(shape) * generator.uniform(*_LENGTH)))
        logs = [math.log(peak) for peak in self.peaks]
        peak = math.exp(fmean(logs) + pstdev(logs) * generator.standard_normal())
        peak = min(max(peak, _PEAK[0] * min(self.peaks)), _PEAK[1] * max(self.peaks))
        return [peak * share for share in _stretched(shape, length)]


def with_surges(quiet: Sequence[float], surges: Sequence[Surge]) -> list[float]:
    """Return a path of quiet growth with surges added."""
    growth = list(quiet)
    for surge in surges:
        for month, value in enumerate(surge.growth[: len(growth) - surge.start], surge.start):
            growth[month] = max(value, growth[month])
    return growth


def observe(growth: Sequence[float]) -> Surges:
    """Return the surges in a table's growth, percent a month."""
    surges = list(runs(growth))
    peaks = tuple(max(growth[start:end]) for start, end in surges)
    shapes = tuple(
        tuple(value / peak for value in growth[start:end])
        for (start, end), peak in zip(surges, peaks, strict=True)
    )
    quiet = len(growth) - sum(end - start for start, end in surges)
    return Surges(shapes, peaks, (len(surges) + 0.5) / (quiet + 1))


def runs(growth: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Yield every surge as its first month and the one after its last."""
    start = None
    for month, value in enumerate((*growth, 0.0)):
        if value > THRESHOLD and start is None:
            start = month
        elif value <= THRESHOLD and start is not None:
            yield start, month
            start = None


def _stretched(shape: Sequence[float], length: int) -> list[float]:
    """Return a shape resampled to *length* points by linear interpolation."""
    stretched = []
    for at in range(length):
        place = (at + 0.5) / length * len(shape) - 0.5
        left = min(max(math.floor(place), 0), len(shape) - 1)
        right = min(left + 1, len(shape) - 1)
        part = min(max(place - left, 0.0), 1.0)
        stretched.append(shape[left] * (1 - part) + shape[right] * part)
    return stretched
