"""Stored predictions: an item as a router sees it, and how kinds of items take turns."""

import pytest
from support.router_items import item

from policies.llm.router.predictions import shuffled_in_turn
from policies.llm.router.situation import Features


def test_a_situation_holds_neither_gold_nor_predictions() -> None:
    """Features come from the text; without one there are none."""
    made = item("a", question="1", context="| 2", gold="GOLD", capability="c")
    assert "GOLD" not in repr(made.situation)
    assert "says" not in repr(made.situation)
    assert made.situation.features == Features(1, 3, 2, has_table=True, table_row_estimate=1)
    assert item("a").situation.features is None


@pytest.mark.parametrize(("most", "taken"), [(0, ""), (2, "ab"), (4, "abca"), (9, "abcacc")])
def test_groups_take_turns(most: int, taken: str) -> None:
    """A group that is used up is passed over; an empty one is none."""
    groups = {1: "aa", 2: "", 3: "b", 4: "ccc"}
    assert "".join(shuffled_in_turn(groups, str, most)) == taken


def test_the_order_in_a_group_depends_on_the_keys_alone() -> None:
    """Whatever the order of the values."""
    orders = {"".join(shuffled_in_turn({"": v}, str, 99)) for v in ("abcdef", "fedcba")}
    assert len(orders) == 1
    assert orders != {"abcdef"}
