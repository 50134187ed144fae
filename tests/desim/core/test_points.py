"""Points of `world.point`: names, values, one list a series, bounded memory."""

import math
from typing import Any

import numpy as np
import pytest

from desim import World
from desim.core import points
from desim.core.points import Points, Recorded
from desim.errors import UsageError


def test_a_world_records_where_series_are_wanted() -> None:
    """At the present tick, in the order of the calls; without, a call does nothing at all."""
    world = World()
    world.point("cash", 3)
    world.point("no name at all", None)
    assert world.points is None
    world.points = kept = Points()
    world.point("cash", 3)
    world.run(until=world.timeout(5))
    world.point("cash", np.int64(4))
    world.point("desk.queue", math.nan)
    world.point("cash", np.float32(4.5))
    found = kept.read()
    assert list(found) == ["cash", "desk.queue"]
    assert found["cash"] == Recorded((0, 5, 5), (3.0, 4.0, 4.5))
    assert {type(value) for value in found["cash"].values} == {float}
    assert math.isnan(found["desk.queue"].values[0])


@pytest.mark.parametrize("value", ["7", b"7", None, math.inf, -math.inf, [1], 10**400, 1j], ids=str)
def test_what_is_no_number_is_refused(value: Any) -> None:
    """The error names the series and the value, and nothing is recorded."""
    kept = Points()
    kept.add(0, "cash", 1)
    with pytest.raises(
        UsageError, match=r"^series 'cash' was given .*; a point is a finite number"
    ):
        kept.add(1, "cash", value)
    assert kept.read() == {"cash": Recorded((0,), (1.0,))}


@pytest.mark.parametrize(
    "name", ["", "Cash", "cash flow", "1st", "cash.", "a..b", None, 3], ids=str
)
def test_what_is_no_name_is_refused(name: Any) -> None:
    """Names are snake_case, as columns of a table."""
    with pytest.raises(UsageError, match="as the name of a series; a name is words in snake_case"):
        Points().add(0, name, 1)


def test_a_point_replaces_that_of_the_same_tick() -> None:
    """What lasted no time leaves no point."""
    kept = Points()
    for tick, value in [(0, 1), (0, 2), (3, 4), (3, 5)]:
        kept.add(tick, "queue", value, replace=True)
    assert kept.read() == {"queue": Recorded((0, 3), (2.0, 5.0))}


def test_points_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all series; a point in place of another is not one more."""
    monkeypatch.setattr(points, "MOST_POINTS", 1_000)
    kept = Points()
    kept.add(0, "short", 7)
    for tick in range(999):
        kept.add(tick, "long", 2 * tick)
    kept.add(998, "long", 0, replace=True)
    with pytest.raises(UsageError, match="at t=999 is one too many: an episode has at most 1,000"):
        kept.add(999, "long", 1, replace=True)


def test_the_number_of_series_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name for each customer is a mistake, not a series."""
    monkeypatch.setattr(points, "MOST_SERIES", 2)
    kept = Points()
    kept.add(0, "a", 1)
    kept.add(0, "b", 1)
    with pytest.raises(UsageError, match="series 'c' is one too many: an episode has at most 2"):
        kept.add(0, "c", 1)
