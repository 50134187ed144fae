"""What callers give to lanes is checked, and nothing changes after bad input."""

from typing import Any

import numpy as np
import pytest

from desim.errors import UsageError
from desim.lanes.lane_protocols import Lanes, NoLanes
from models.beer_game import BeerGame
from models.enterprise_arena import EnterpriseArena

WORLDS = [BeerGame.preset("poisson"), EnterpriseArena()]


def lanes(model: Any, seeds: Any) -> Lanes:
    """Lanes of the first role."""
    found: Lanes = model.lanes(seeds, [next(iter(model.roles))])
    return found


@pytest.mark.parametrize("model", WORLDS)
@pytest.mark.parametrize("seeds", [[-1], [1.5], ["a"], [None], [True], 5])
def test_a_wrong_seed_is_refused(model: Any, seeds: Any) -> None:
    """A seed is a whole number of at least 0, as for `play`."""
    with pytest.raises(UsageError, match="was given"):
        lanes(model, seeds)


@pytest.mark.parametrize("model", WORLDS)
def test_lanes_need_a_seed_and_a_known_role(model: Any) -> None:
    """No seeds, and unknown roles, are refused with a sentence; an array of seeds is taken."""
    with pytest.raises(NoLanes, match="no seed was given"):
        lanes(model, [])
    with pytest.raises(UsageError, match="there is no role 'king'"):
        model.lanes([1], ["king"])
    assert len(lanes(model, np.arange(3))) == 3


@pytest.mark.parametrize("model", WORLDS)
@pytest.mark.parametrize("rows", [[5], [-1], [1.7], ["a"], [[0, 1]], [True, False], None, 3])
def test_a_row_that_is_no_lane_is_refused(model: Any, rows: Any) -> None:
    """Negative numbers, fractions and masks do not continue another lane silently."""
    begun = lanes(model, [1, 2])
    begun.reset()
    with pytest.raises(UsageError, match="was given"):
        begun.fork(rows)


@pytest.mark.parametrize("model", WORLDS)
@pytest.mark.parametrize("futures", [[-1, 0], [1.5, 0], [None, 0], [1], [1, 2, 3], [], 7])
def test_wrong_futures_are_refused(model: Any, futures: Any) -> None:
    """Futures are seeds, one a lane."""
    begun = lanes(model, [1, 2])
    begun.reset()
    with pytest.raises(UsageError, match=r"(was|were) given"):
        begun.redraw(futures)


@pytest.mark.parametrize("model", WORLDS)
def test_a_fork_of_no_lanes_has_none(model: Any) -> None:
    """Empty rows give empty lanes, which can be drawn again."""
    begun = lanes(model, [1, 2])
    begun.reset()
    fork = begun.fork([])
    fork.redraw([])
    assert len(fork) == len(fork.end_reasons()) == 0
