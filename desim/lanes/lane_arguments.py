"""Checks of what callers of lanes give: seeds and numbers of lanes."""

from collections.abc import Iterable
from typing import Any

from desim.core.streams import check_seed
from desim.errors import UsageError
from desim.lanes.lane_protocols import NoLanes
from desim.short_repr import short_repr


def lane_seeds(seeds: Iterable[int]) -> list[int]:
    """Return the seeds of lanes as a list.

    Raises:
        NoLanes: The sequence is empty.
        UsageError: A seed is not a whole number of at least 0.
    """
    listed = _listed("seeds", seeds)
    for seed in listed:
        check_seed(seed)
    if not listed:
        raise NoLanes("no seed was given; a lane is one episode")
    return listed


def lane_numbers(rows: Any, lanes: int) -> list[int]:
    """Return the numbers of lanes as a list.

    Raises:
        UsageError: One is not the number of a lane; a mask of truth values is refused as well.
    """
    listed = _listed("rows", rows)
    for row in listed:
        if type(row) is not int or not 0 <= row < lanes:
            raise UsageError(
                f"row {short_repr(row)} was given; a row is the number of a lane, from 0 to "
                f"{lanes - 1:,}"
            )
    return listed


def _listed(what: str, given: Any) -> list[Any]:
    """Return the entries of an array or any other iterable as Python values."""
    try:
        return [*(given.tolist() if getattr(given, "ndim", 0) else given)]
    except TypeError:
        raise UsageError(f"{what}={short_repr(given)} was given; expected a list") from None
