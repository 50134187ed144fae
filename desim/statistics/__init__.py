"""Confidence intervals and paired comparison: pure functions of arrays.

Sums are exactly rounded (`math.fsum`), so no result depends on the order of the values.
"""

from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import paired

__all__ = ["Interval", "interval", "paired"]
