"""Confidence intervals, paired comparison and selection of the best: pure functions of arrays.

Sums are exactly rounded (`math.fsum`), so no result depends on the order of the values.
"""

from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import paired
from desim.statistics.sequential.selection import best

__all__ = ["Interval", "best", "interval", "paired"]
