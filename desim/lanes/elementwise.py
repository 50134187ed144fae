"""Functions of numbers that also take arrays, so that one rule serves an episode and all lanes."""

import math
from typing import Any

import numpy as np


def is_array(number: Any) -> bool:
    """Return whether *number* is an array with entries rather than one number."""
    return bool(getattr(number, "ndim", 0))


def at_least(least: float, number: Any) -> Any:
    """Return the larger of two numbers."""
    if not is_array(number):
        return max(least, number)
    return np.maximum(number, least)


def at_most(most: float, number: Any) -> Any:
    """Return the smaller of two numbers."""
    if not is_array(number):
        return min(most, number)
    return np.minimum(number, most)


def whole(number: Any) -> Any:
    """Return the largest whole number that is not larger, as an integer."""
    if not is_array(number):
        return math.floor(number)
    return np.floor(number).astype(np.int64)


def where(condition: Any, number: Any, otherwise: Any) -> Any:
    """Return one number where the condition holds, and the other where it does not."""
    if not is_array(condition):
        return number if condition else otherwise
    return np.where(condition, number, otherwise)
