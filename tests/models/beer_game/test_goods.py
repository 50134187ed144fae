"""Goods that other companies of a group deliver to a stage or take from it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.holdings import deliver_goods, exchanged_goods, take_goods
from support.series import series_of

from desim import Run
from models.beer_game import BeerGame, Order

#: Another company.
SOUTH = "south"


def begun(**changes: Any) -> Run:
    """Return the board game at its first question: every stage has 12 on hand, 4 in each box."""
    game = BeerGame.preset("classic", **{"demand": "constant:4", **changes})
    run = Run(game, seats=["retailer"])
    run.advance()
    return run


def week_ends(run: Run, units: float = 4) -> None:
    """Play to the end of the next week."""
    for decision in run.open:
        run.answer(decision, Order(units))
    run.advance()


def held(run: Run) -> dict[str, Any]:
    """Return what a refused call must leave as it is."""
    goods = run.state.goods
    return {
        **goods.held,
        "digest": goods.digest(),
        "partners": exchanged_goods(run.model, run.state),
    }


# -- by hand ---------------------------------------------------------------------------------------


def test_goods_move_at_once_and_the_ledger_says_where_from() -> None:
    """Five are delivered and three taken in the same instant."""
    run = begun(forced_weeks=0)
    game, goods = run.model, run.state.goods
    deliver_goods(game, run.state, "retailer", 5, SOUTH)
    assert goods["on_hand.retailer"] == 12 + 5
    take_goods(game, run.state, "factory", 3, SOUTH)
    assert goods["on_hand.factory"] == 12 - 3
    assert goods["intercompany"] == 3 - 5
    assert goods.outside == ("brewing", "customers", "intercompany")
    assert [tuple(move) for move in goods.moves[-2:]] == [
        (1, "intercompany", "on_hand.retailer", 5),
        (1, "on_hand.factory", "intercompany", 3),
    ]
    assert exchanged_goods(game, run.state) == {SOUTH: 2}
    week_ends(run)
    week_ends(run)
    # 17 + 4 - 4 on hand after week 2, at 0.50 each.
    assert run.state.history("retailer")[1].inventory == 17
    assert series_of(game, run.state)["cost_retailer"] == [6.0, 8.5]
    moves = game.tables(run.state, "retailer")["stock_moves"]
    assert {"week": 1, "units": 5, "place": "intercompany", "on_hand": 17} in moves


def test_delivered_goods_fill_the_backlog_when_the_next_week_ends() -> None:
    """Customers want 20 a week and 12 + 4 are there: 4 are owed after week 1."""
    run = begun(demand="constant:20", initial_flow=4, forced_weeks=0)
    assert run.state.orders["owed.retailer"] == 20 - 16
    deliver_goods(run.model, run.state, "retailer", 30, SOUTH)
    assert run.state.orders["owed.retailer"] == 4
    week_ends(run)
    # 30 and the 4 of the pipeline; 4 and 20 are shipped.
    assert run.state.orders["owed.retailer"] == 0
    assert run.state.goods["on_hand.retailer"] == 30 + 4 - 4 - 20


# -- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("move", [deliver_goods, take_goods])
@pytest.mark.parametrize(
    ("stage", "units", "partner", "why"),
    [
        ("retailer", 0, SOUTH, "whole units above 0"),
        ("retailer", -1, SOUTH, "whole units above 0"),
        ("retailer", 1.0, SOUTH, "whole units above 0"),
        ("retailer", True, SOUTH, "whole units above 0"),
        ("retailer", 1, "", "name of a company"),
        ("retailer", 1, ["south"], "name of a company"),
    ],
)
def test_wrong_calls_change_nothing(
    move: Any, stage: Any, units: Any, partner: Any, why: str
) -> None:
    """Not even the list of places."""
    run = begun()
    before = held(run)
    with pytest.raises(ValueError, match=why):
        move(run.model, run.state, stage, units, partner)
    assert held(run) == before


# -- at random -------------------------------------------------------------------------------------


@examples(50)
@given(st.data())
def test_no_unit_is_lost_or_made(data: st.DataObject) -> None:
    """Inside is what was there, made and received, less what customers and partners took."""
    draw = data.draw
    game = BeerGame.preset(draw(st.sampled_from(list(BeerGame.presets))), horizon=8)
    run = Run(game, draw(st.integers(0, 9)), [game.controlled])
    net: dict[str, int] = {}
    while decisions := run.advance():
        for _ in range(draw(st.integers(0, 3))):
            stage, units = draw(st.sampled_from(game.stages)), draw(st.integers(1, 500))
            partner = draw(st.sampled_from([SOUTH, "east"]))
            goods = run.state.goods
            if draw(st.booleans()):
                deliver_goods(game, run.state, stage, units, partner)
            elif units <= goods[f"on_hand.{stage}"]:
                take_goods(game, run.state, stage, units, partner)
                units = -units
            else:
                continue
            net[partner] = net.get(partner, 0) + units
        for decision in decisions:
            run.answer(decision, Order(draw(st.integers(0, 900))))
    goods, chain = run.state.goods, run.state
    inside = sum(goods[place] for place in goods.places)
    made = sum(row[3] for row in chain.echelons[-1].log)
    weeks = (len(game.stages) - 1) * game.ship_delay + game.production_weeks
    start = len(game.stages) * game.target_inventory + weeks * game.flow
    sold = sum(row[2] for row in chain.echelons[0].log)
    assert inside == start + made + sum(net.values()) - sold
    assert exchanged_goods(game, chain) == net
    assert goods.held.get("intercompany", 0) == -sum(net.values())
    assert goods.total == 0
