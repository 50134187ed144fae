"""Rules of the Beer Game answer all lanes as they answer single observations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import fields
from hypothesis import given, settings
from hypothesis import strategies as st

from desim.lanes.lane_columns import Columns
from desim.lanes.lane_protocols import DecidesAll
from models.beer_game import BeerGame, Order, Stage
from policies.heuristics import beer_game as rules
from policies.heuristics.beer_game.seat import Position

RULES: dict[str, Callable[[], Any]] = {
    "last_demand": rules.LastDemand,
    "constant": lambda: rules.Constant(7),
    "half": lambda: rules.Constant(0.5),
    "typical": rules.Typical,
    "base_stock": lambda: rules.BaseStock(30),
    "smoothing": lambda: rules.Smoothing(3),
    "fallback": rules.Fallback,
    "benchmark": lambda: rules.Benchmark(upstream=True),
    "moving_average": lambda: rules.MovingAverage(3, 5),
    "sterman": rules.Sterman,
    "half_up": lambda: rules.Sterman(rounding="half_up"),
    "order_up_to": lambda: rules.OrderUpTo(40),
    "counted": lambda: rules.OrderUpTo(40, Position(8)),
    "echelon": lambda: rules.EchelonBaseStock(40),
    "reorder_point": lambda: rules.ReorderPoint(20, 40),
    "reorder_counted": lambda: rules.ReorderPoint(20, 40, Position(3)),
}

LANES, WEEKS = 3, 4

#: The figures of a stage that differ between lanes.
_FIGURES = (
    *("inventory", "backlog", "incoming_order", "incoming_delivery", "outgoing_delivery"),
    *("supply_line", "last_order"),
)


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=30)
@given(data=st.data())
def test_a_rule_answers_lanes_as_it_answers_stages(name: str, data: st.DataObject) -> None:
    """Over several weeks, in which a rule may remember what each lane observed."""
    units = st.lists(st.integers(0, 60), min_size=LANES, max_size=LANES)
    alone, together = [RULES[name]() for _ in range(LANES)], RULES[name]()
    for week in range(1, WEEKS):
        same = {"week": week, "role": "r", "horizon": 9, "opponents": "", "target_inventory": 12}
        each = {figure: np.asarray(data.draw(units)) for figure in _FIGURES}
        seen = Columns(Stage, {**same, **each})
        answers = Columns(Order, together.decide_all(seen))
        assert [answers.row(lane) for lane in range(LANES)] == [
            rule.decide(seen.row(lane)) for lane, rule in enumerate(alone)
        ]


def test_every_rule_without_foresight_answers_all_lanes() -> None:
    """The table above holds each of them."""
    tested = {type(make()) for make in RULES.values()}
    offered = {getattr(rules, name) for name in rules.__all__ if name != "baselines"}
    assert offered == tested
    assert all(isinstance(make(), DecidesAll) for make in RULES.values())


def test_figures_are_those_of_the_observation() -> None:
    """A field that is added to the observation has to be added to the columns."""
    fixed = {"week", "role", "horizon", "opponents", "target_inventory"}
    assert {field.name for field in fields(Stage)} == fixed | {*_FIGURES}
    assert {*BeerGame().lanes([0], ["retailer"]).reset()["retailer"]} == fixed | {*_FIGURES}
