"""Rounding of arrays that equals Python's `round` and `math.fsum` in every entry."""

from math import fsum

import numpy as np

from desim.lanes.lane_columns import Array

#: Relative error of a double.
_UNIT = 2.0**-53


def cents(amount: Array) -> Array:
    """Return dollars rounded to whole cents, halves to even."""
    return np.rint(amount * 100)


def rounded(values: Array, digits: int) -> Array:
    """Return `round(value, digits)` of every value.

    Python rounds the exact decimal value of a double. The product with a power of ten is inexact,
    so values that it places next to a half are rounded by Python itself.
    """
    scale = 10.0**digits
    scaled = values * scale
    whole = np.rint(scaled)
    result = whole / scale
    doubtful = np.abs(np.abs(scaled - whole) - 0.5) <= 4 * _UNIT * np.abs(scaled)
    for place in np.argwhere(doubtful):
        result[tuple(place)] = round(float(values[tuple(place)]), digits)
    return result


def rounded_sums(terms: Array) -> Array:
    """Return `round(fsum(column))` of every column of a table.

    The error of a plain sum is bounded by its terms; where a half lies within the bound, `fsum`
    decides.
    """
    total = terms.sum(axis=0)
    whole = np.rint(total)
    bound = (2 * len(terms) * _UNIT) * np.abs(terms).sum(axis=0)
    doubtful = np.abs(np.abs(total - whole) - 0.5) <= bound
    if doubtful.any():
        for lane in np.flatnonzero(doubtful).tolist():
            whole[lane] = round(fsum(terms[:, lane].tolist()))
    return whole
