"""Weeks in which the last stage ships nothing."""

from typing import Any

import pytest

from desim import Run
from models.beer_game import BeerGame

#: Two stages in a steady state: 4 units a week flow, each stage has 10 on hand.
PAIR: dict[str, Any] = {
    "stages": ("shop", "plant"),
    "controlled": "shop",
    "horizon": 5,
    "demand": "constant:4",
    "ship_delay": 1,
    "target_inventory": 10,
    "initial_flow": 4,
    "minimum_holding_cost": 0,
    "opponents": "pass_through",
    "brewery_echo": False,
}


def weeks(game: BeerGame, stage: str, *flows: str) -> list[tuple[Any, ...]]:
    """Return columns of the weeks of a stage, with all stages by rule."""
    run = Run(game, seats=[])
    run.advance()
    rows = game.tables(run.state, stage)["weeks"]
    return [tuple(row[flow] for flow in flows) for row in rows]


def test_a_strike_by_hand() -> None:
    """In week 2 the plant ships nothing: its goods stay, the order waits, and week 3 ships both."""
    game = BeerGame(**PAIR, strike="2:2")
    flows = ("incoming_delivery", "incoming_order", "outgoing_delivery", "inventory", "backlog")
    assert weeks(game, "plant", *flows, "cost") == [
        (4, 4, 4, 10, 0, 5.0),
        (4, 4, 0, 14, 4, 11.0),
        (4, 4, 8, 10, 0, 5.0),
        (4, 4, 4, 10, 0, 5.0),
        (4, 4, 4, 10, 0, 5.0),
    ]
    assert weeks(game, "shop", *flows) == [
        (4, 4, 4, 10, 0),
        (4, 4, 4, 10, 0),
        (0, 4, 4, 6, 0),
        (8, 4, 4, 10, 0),
        (4, 4, 4, 10, 0),
    ]


@pytest.mark.parametrize("preset", BeerGame.presets)
def test_only_the_last_stage_strikes(preset: str) -> None:
    """It ships nothing in these weeks and all it can in the others; the rest ships always."""
    game = BeerGame.preset(preset, strike="6:9")
    run = Run(game, seats=[])
    run.advance()
    for stage in game.stages:
        for number, week in enumerate(run.state.history(stage), 1):
            stopped = stage == game.stages[-1] and number in range(6, 10)
            if stopped:
                assert week.outgoing_delivery == 0
            else:
                assert not (week.inventory and week.backlog)
    assert sum(w.backlog for w in run.state.history(game.stages[-1])[5:9])


@pytest.mark.parametrize(
    "given",
    ["", "3", "0:4", "5:4", "1-3", "1:2:3", "-1:3", "1:1.5", "٣:٤", 3, (3, 4), "9" * 9 + ":1"],
)
def test_a_wrong_strike_is_refused(given: Any) -> None:
    """With the form that is possible."""
    with pytest.raises(ValueError, match="it is FIRST:LAST"):
        BeerGame(strike=given)
