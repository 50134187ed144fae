"""Questions, answers and limits of lanes of the Beer Game."""

from typing import Any

import numpy as np
import pytest

from desim import Run
from desim.errors import Unanswered, UsageError, WrongAction
from desim.lanes.lane_protocols import HasLanes, NoLanes
from models.beer_game import BeerGame, Order

POISSON = BeerGame.preset("poisson")


def begun(game: BeerGame = POISSON, roles: tuple[str, ...] = ("retailer",)) -> Any:
    """Return three lanes whose first questions are open."""
    lanes = game.lanes(range(3), roles)
    lanes.reset()
    return lanes


def ordered(quantity: Any, role: str = "retailer") -> dict[str, Any]:
    """Return the answer of one stage."""
    return {role: {"quantity": quantity}}


def test_the_model_offers_lanes() -> None:
    """As the protocol states."""
    assert isinstance(POISSON, HasLanes)
    assert len(begun()) == 3


def test_a_game_without_seats_ends_at_once() -> None:
    """It asks nothing, and its score is that of the controlled stage."""
    lanes = POISSON.lanes([0, 1], [])
    assert lanes.reset() == {}
    assert lanes.ended.tolist() == [True, True]
    assert lanes.end_reasons() == ["horizon", "horizon"]
    with pytest.raises(UsageError, match="the episodes have ended; reset the lanes"):
        lanes.step({})


def test_a_game_of_forced_weeks_alone_ends_at_once() -> None:
    """Nobody is asked in it."""
    game = BeerGame.preset("classic", horizon=4)
    assert begun(game).questions() == {}
    assert begun(game).decisions.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"opening_cash": 5}, "opening_cash=5 was given; lanes keep no cash"),
        ({"opponents": "moving_average:3", "whole_units": False}, "its orders are fractions"),
        ({"holding_cost": 1 / 3}, "prices of at most 12 decimals"),
        ({"target_inventory": 2**53}, "lanes take less than 9007199254740992"),
        ({"initial_flow": 10**18}, "lanes take less than 9007199254740992"),
        ({"opponents": f"smoothing:{2**53}"}, "lanes take less than 9007199254740992"),
        ({"backlog_cost": 1e9, "holding_cost": 1e-9}, "could leave the exact range"),
        ({"demand": f"constant:{10**15}", "blind": False}, "could leave the exact range"),
    ],
)
def test_what_has_no_lanes_is_refused(changes: dict[str, Any], says: str) -> None:
    """In one sentence, before anything is played."""
    with pytest.raises(NoLanes, match=says):
        BeerGame(**changes).lanes([0], ["retailer"]).step(ordered([0]))


def test_rules_that_average_need_no_lanes_refused_where_all_stages_are_played() -> None:
    """No stage follows the rule then."""
    game = BeerGame(opponents="moving_average:3", whole_units=False)
    assert begun(game, game.stages).score().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("quantity", "says"),
    [
        ([1, 2, 10**18 + 1], r"'retailer' answered in lane 2 at t=1: .*1000000000000000001"),
        ([0, -(10**18) - 1, 0], "answered in lane 1"),
        ([0.0, float("nan"), 1.0], "answered in lane 1"),
        ([0.0, 1e19, 1.0], "answered in lane 1"),
        ([True, False, True], "answered in lane 0"),
        (["a", "b", "c"], "answered in lane 0"),
        ([1, 2], r"an array of shape \(2,\); expected one entry for each of 3 lanes"),
    ],
)
def test_a_wrong_answer_changes_nothing(quantity: Any, says: str) -> None:
    """The text names the first lane that does not fit, and the lanes can go on."""
    lanes = begun()
    with pytest.raises(WrongAction, match=says):
        lanes.step(ordered(quantity))
    goes_on(lanes)


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ({}, Unanswered, "'retailer' has not answered at t=1"),
        ({"retailer": {"units": [1, 2, 3]}}, WrongAction, "columns units; expected quantity"),
        (ordered([0.5, 1, 1]), NoLanes, "ordered a fraction of a unit"),
        (ordered([2**51, 1, 1]), NoLanes, "could leave the exact range of lanes in week 2"),
    ],
)
def test_what_cannot_be_answered_changes_nothing(
    answers: dict[str, Any], error: type[Exception], says: str
) -> None:
    """The lanes can go on with another answer."""
    lanes = begun()
    with pytest.raises(error, match=says):
        lanes.step(answers)
    goes_on(lanes)


def goes_on(lanes: Any) -> None:
    """Check that lanes are where a run without the refused answer is."""
    seen = lanes.step(ordered([5, 5, 5]))["retailer"]
    for lane in range(3):
        run = Run(POISSON, lane)
        run.answer(run.advance()[0], Order(5))
        assert seen.row(lane) == run.advance()[0].observation


def test_orders_of_other_types_count_as_play_counts_them() -> None:
    """Fractions are cut in whole units, one number counts for all lanes, and less than 0 as 0."""
    lanes = begun(BeerGame(horizon=6))
    for quantity in ([2.9, -3.5, 0.0], 4, [-7, 2, 1], np.asarray([1, 2, 3], dtype=np.int8)):
        seen = lanes.step(ordered(quantity))["retailer"]
        found = [seen.row(lane).last_order for lane in range(3)]
        given = quantity if isinstance(quantity, list) else np.broadcast_to(quantity, 3).tolist()
        assert found == [max(0, int(units)) for units in given]


def test_observations_stay_as_they_were() -> None:
    """Neither later weeks nor the caller's array change a column that was returned."""
    lanes, mine = begun(BeerGame(horizon=8)), np.asarray([9, 9, 9])
    seen = lanes.questions()["retailer"]
    kept = {name: np.array(column) for name, column in seen.items()}
    lanes.step(ordered(mine))
    after = lanes.questions()["retailer"]["last_order"].tolist()
    mine[:] = 0
    lanes.step(ordered(3))
    assert after == [9, 9, 9]
    assert all((kept[name] == np.array(column)).all() for name, column in seen.items())


def test_reset_begins_again_with_the_seeds() -> None:
    """After a redraw and a fork as well; a fork begins with the seeds of its lanes."""
    lanes = begun()
    first = lanes.step(ordered(4))["retailer"].row(0)
    lanes.redraw([7, 8, 9])
    for _ in range(5):
        lanes.step(ordered(1))
    fork = lanes.fork([2, 0])
    for each, lane in ((lanes, 0), (fork, 1)):
        each.reset()
        assert each.decisions.tolist() == [0] * len(each)
        assert each.step(ordered(4))["retailer"].row(lane) == first


def test_a_fork_of_forks_every_week_keeps_the_past() -> None:
    """Metrics are those of the lanes that never forked, over more forks than Python's stack."""
    game = BeerGame.preset("poisson", horizon=1_500, opponents="moving_average:3", whole_units=True)
    lanes, forked = begun(game), begun(game)
    while lanes.questions():
        forked = forked.fork([0, 1, 2])
        for each in (lanes, forked):
            each.step(ordered([3, 4, 5]))
    assert lanes.metrics() == forked.metrics()
    assert lanes.score().tolist() == forked.score().tolist()


def test_echoed_orders_are_refused_before_they_are_wrong() -> None:
    """Orders of the last stage double each week, and weeks before are equal to `play`."""
    game = BeerGame(horizon=100)
    lanes, weeks = game.lanes([0], ["retailer"]), 0
    try:
        while lanes.step(ordered([100])):
            weeks += 1
    except NoLanes as refused:
        assert "play this episode alone" in str(refused)  # noqa: PT017 (raised by one of many)
    shorter = BeerGame(horizon=weeks)
    run = Run(shorter, 0)
    while handed := run.advance():
        run.answer(handed[0], Order(100))
    assert 30 < weeks < 100
    assert float(lanes.score()[0]) == run.result().score
