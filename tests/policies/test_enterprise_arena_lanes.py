"""The rules of EnterpriseArena decide for all lanes as they do for one observation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lanes import lanes_differ

from desim.lanes.lane_columns import Columns
from models.enterprise_arena import Command, EnterpriseArena, Month
from models.enterprise_arena.actions import INSTRUMENTS
from policies.heuristics.enterprise_arena import (
    EquityThenDebt,
    NeverRaise,
    RaiseBelow,
    RaiseOnce,
    RaiseWhenFree,
)

RULES: tuple[Callable[[], Any], ...] = (
    NeverRaise,
    lambda: NeverRaise(tools=1.5),
    lambda: RaiseOnce(month=3, amount=5e6),
    lambda: RaiseBelow(floor=16e6),
    lambda: RaiseBelow(instrument="debt", amount=3e6),
    RaiseWhenFree,
    lambda: RaiseWhenFree("debt", 7e6),
    lambda: EquityThenDebt("debt+equity+debt", 4e6),
)

#: Cash and requests under way of three lanes in a month, for some months.
_PLAYED = st.lists(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 1)), min_size=3, max_size=3), max_size=8
)


def month_of(number: int, cash: int, pending: int) -> Month:
    """Return an observation with some millions in cash."""
    return Month(number, f"month {number}", cash * 1e6, 5_000, 5e7, 0.0, 0.02, pending, 20)


@pytest.mark.parametrize("make", RULES)
@given(played=_PLAYED)
@settings(max_examples=20)
def test_a_rule_decides_for_all_lanes_as_for_each(make: Any, played: Any) -> None:
    """Also with what it remembers of earlier months."""
    alone, together = [make() for _ in range(3)], make()
    for number, lanes in enumerate(played):
        seen = [month_of(number, *lane) for lane in lanes]
        columns = {
            name: np.array([getattr(month, name) for month in seen])
            for name in ("current_month", "cash_balance", "pending_fundraisings")
        }
        answers = Columns(Command, together.decide_all(Columns(Month, columns)))
        commands = [answers.row(lane, {"type": INSTRUMENTS}) for lane in range(3)]
        assert commands == [rule.decide(month) for rule, month in zip(alone, seen, strict=True)]


@pytest.mark.parametrize("make", RULES)
def test_lanes_that_a_rule_plays_equal_play(make: Any) -> None:
    """From the first month to the last one of each lane."""
    model = EnterpriseArena.preset(horizon=30)
    assert not lanes_differ(model, lambda: {"cfo": make()}, range(3))
