"""A part in a world of its own: ticks, questions and ends, without a group around it."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from support.companies import Firm
from support.part_results import part_result

from desim import World
from desim.composition.parts import Part, part_seed
from desim.core.calendar import Calendar

START = datetime(2025, 1, 1)  # noqa: DTZ001 (calendars have no time zones)
CLOCK = Calendar(START)
DAYS = Calendar(START + timedelta(hours=9), timedelta(days=1))
DAY = 86_400_000_000


def part(model: Any, shared: World) -> Part:
    """Return a part that has begun."""
    return Part("firm", model, shared, CLOCK, DAYS, 0, part_seed(1, "firm"))


@pytest.mark.parametrize(("common", "local"), [(0, -1), (DAY * 9 // 24, 0), (DAY, 0), (2 * DAY, 1)])
def test_a_local_tick_lasts_until_the_next(common: int, local: int) -> None:
    """Before the first one it is below 0."""
    one = part(Firm(), World(1, frozenset()))
    assert one.to_local(common) == local
    assert one.to_local(one.to_common(local)) == local


def test_a_part_ends_with_the_reason_given_first() -> None:
    """Its process stops at that instant."""
    shared = World(1, frozenset())
    one = part(Firm(asks=False, periods=9), shared)
    playing = shared.process(one.play())
    shared.run(until=3 * DAY)
    assert (one.ended, len(one.state.cash), one.metrics()) == ("still running", 2, {})
    one.end("sold")
    one.end("sold again")
    shared.run(until=playing)
    assert (one.ended, len(one.state.cash), shared.now) == ("sold", 2, 3 * DAY)
    assert part_result(one).metrics == one.metrics() != {}
