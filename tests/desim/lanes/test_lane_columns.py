"""Instances of observation and action classes as columns."""

import pytest

from desim.lanes.lane_columns import Columns
from models.beer_game import Order
from models.enterprise_arena.actions import BookClosing, Command, FundRaisingRequest, Pass


def test_instances_become_columns_and_rows_again() -> None:
    """Of one class, and of a union, whose fields some classes lack; texts are numbers."""
    orders = [Order(4), Order(9)]
    columns = Columns.of(Order, orders)
    assert columns["quantity"].tolist() == [4, 9]
    assert [columns.row(lane) for lane in range(2)] == orders
    commands = [Pass(), FundRaisingRequest("debt", 5.0), BookClosing()]
    texts = {"type": ("equity", "debt")}
    columns = Columns.of(Command, commands, texts)
    assert columns["type"].tolist() == [1, 1, 1]
    assert [columns.row(lane, texts) for lane in range(3)] == commands
    with pytest.raises(ValueError, match="not in tuple"):
        Columns.of(Command, [FundRaisingRequest("gold", 5.0)], texts)
