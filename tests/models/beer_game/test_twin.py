"""The Beer Game's twin on arrays: equal to `play` on drawn games, and what it refuses."""

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

import pytest
from attrs import frozen

from desim import Policy, Run, play
from desim.episodes.lineup import resolve
from desim.errors import UsageError, WrongAction
from desim.lanes import Columns, NoLanes
from models.beer_game import BeerGame, Order
from policies.heuristics.beer_game import MovingAverage, OrderUpTo, Sterman

POISSON = BeerGame.preset("poisson")

#: How many games are drawn.
DRAWN = 50

RULES = (
    *("typical", "base_stock", "benchmark", "pass_through", "smoothing:3", "moving_average:3"),
    *("no_backorder", "benchmarks", "smoothing:0", "moving_average:40"),
)


@frozen
class Scattered(Policy):
    """Orders that jump with all that is observed; negative ones are among them."""

    def decide(self, stage: Any) -> Order:
        """Return an order."""
        return Order(self._units(stage))

    def decide_all(self, observed: Columns) -> Mapping[str, Any]:
        """Return the same in every lane."""
        return {"quantity": self._units(observed)}

    def _units(self, stage: Any) -> Any:
        seen = 7 * stage.inventory + 11 * stage.backlog + 13 * stage.supply_line
        seen = seen + 17 * stage.incoming_order + 19 * stage.last_order + 23 * stage.week
        return (seen + 29 * stage.incoming_delivery + 31 * stage.outgoing_delivery) % 37 - 3


def drawn(number: int) -> tuple[BeerGame, Mapping[str, Any]]:
    """Return a game by its number, and the policies of some of its stages."""
    rng = Random(number)  # noqa: S311 (a test)
    stages = ("retailer", "wholesaler", "distributor", "factory", "mine")[: rng.randint(1, 5)]
    changes: dict[str, Any] = {"opponents": rng.choice(RULES), "strike": rng.choice([None, "3:7"])}
    if number % 5 == 0:
        game = BeerGame.preset(rng.choice([*BeerGame.presets]), whole_units=True, **changes)
    else:
        game = BeerGame(
            horizon=rng.choice([1, 3, 8, 25]),
            demand=rng.choice(["step:4:9:3", "poisson:3.5", "normal:12:4.5", "list:4:0:30"]),
            order_delay=rng.randint(1, 4),
            ship_delay=rng.randint(1, 4),
            production_delay=rng.choice([None, 1, 5]),
            target_inventory=rng.choice([0, 12, 90]),
            initial_flow=rng.choice([None, 0, 5]),
            holding_cost=rng.choice([0, 0.1, 2]),
            backlog_cost=rng.choice([0.37, 1.0]),
            minimum_holding_cost=rng.choice([0.0, 3.3, 50.0]),
            controlled=rng.choice(stages),
            stages=stages,
            brewery_echo=rng.random() < 0.4,
            blind=rng.random() < 0.5,
            whole_units=True,
            supply_line=rng.choice(["shipped", "ordered"]),
            forced_weeks=rng.choice([0, 0, 4]),
            **changes,
        )
    seats = rng.sample(game.stages, rng.randint(0, len(game.stages)))
    makers: tuple[Callable[[], Policy], ...] = (
        partial(OrderUpTo, 18),
        partial(Sterman, rounding="half_up"),
        partial(MovingAverage, 3),
        Scattered,
    )
    return game, {seat: makers[number % 4]() for seat in seats}


#: The last stage by a rule: its echo reaches the player below at once, and its own level counts;
#: and orders whose variances need more than 64 bits.
CHOSEN: tuple[dict[str, Any], ...] = (
    {"supply_line": "ordered", "blind": False},
    {"opponents": "benchmark", "target_inventory": 12, "demand": "step:4:8:2"},
    {"opponents": "typical", "horizon": 30},
)


def chosen(number: int) -> tuple[BeerGame, Mapping[str, Any]]:
    """Return one of the drawn games, or behind them a game by its changes."""
    if number < DRAWN:
        return drawn(number)
    return BeerGame(**CHOSEN[number - DRAWN]), {"distributor": Scattered()}


@pytest.mark.parametrize("number", range(DRAWN + len(CHOSEN)))
def test_a_drawn_game_is_equal(number: int) -> None:
    """Observations, score, metrics, end and decisions of each lane are those of its episode."""
    game, given = chosen(number)
    seeds, players = [number, 7], resolve(game, given, number).policies
    lanes, asked = game.lanes(seeds, [*players]), list[tuple[str, Columns]]()
    questions = lanes.reset()
    while questions:
        asked += questions.items()
        questions = lanes.step({r: players[r].decide_all(seen) for r, seen in questions.items()})
    for lane, seed in enumerate(seeds):
        episode = play(game, chosen(number)[1], seed)
        result = episode.result
        assert [(role, repr(seen.row(lane))) for role, seen in asked] == [
            (step.role, repr(step.observation)) for step in episode.steps
        ]
        assert {name: column[lane] for name, column in lanes.metrics().items()} == result.metrics
        found = (float(lanes.score()[lane]), lanes.end_reasons()[lane], int(lanes.decisions[lane]))
        assert found == (result.score, result.ended, result.decisions)


def begun(game: BeerGame = POISSON) -> Any:
    """Return three lanes whose first questions are open."""
    lanes = game.lanes(range(3), ["retailer"])
    lanes.reset()
    return lanes


def ordered(quantity: Any) -> dict[str, Any]:
    """Return the answer of the retailer."""
    return {"retailer": {"quantity": quantity}}


def test_a_fork_goes_on_and_leaves_the_lanes_as_they_were() -> None:
    """A fork of every week has the metrics of lanes that never forked."""
    lanes, forked = begun(), begun()
    while lanes.questions():
        before, forked = forked, forked.fork([0, 1, 2])
        for each in (lanes, forked):
            each.step(ordered([3, 4, 5]))
        assert int(before.decisions[0]) < int(forked.decisions[0])
    assert lanes.metrics() == forked.metrics()
    assert lanes.reset()["retailer"].row(1) == begun().questions()["retailer"].row(1)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"opening_cash": 5}, "opening_cash=5 was given; lanes keep no cash"),
        ({"opponents": "moving_average:3", "whole_units": False}, "its orders are fractions"),
        ({"opponents": "typical:0.5:1"}, "lanes weigh neither what inventory lacks nor"),
        ({"holding_cost": 1 / 3}, "prices of at most 12 decimals"),
        ({"target_inventory": 2**53}, "lanes take less than 9007199254740992"),
        ({"demand": f"constant:{10**15}", "blind": False}, "could leave the exact range"),
    ],
)
def test_what_has_no_twin_is_refused(changes: dict[str, Any], says: str) -> None:
    """In one sentence, before anything is played."""
    with pytest.raises(NoLanes, match=says):
        BeerGame(**changes).lanes([0], ["retailer"]).step(ordered([0]))


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ({}, UsageError, "'retailer' has not answered at t=1"),
        ({"retailer": {"units": [1, 2, 3]}}, WrongAction, "columns units; expected quantity"),
        (ordered([1, 2]), WrongAction, r"an array of shape \(2,\); expected one entry"),
        (ordered([1, 2, 10**18 + 1]), WrongAction, "answered in lane 2 at t=1: .*10000000000"),
        (ordered([0.0, float("nan"), 1.0]), WrongAction, "answered in lane 1"),
        (ordered(["a", "b", "c"]), WrongAction, "answered in lane 0"),
        (ordered([0.5, 1, 1]), NoLanes, "ordered a fraction of a unit"),
        (ordered([2**51, 1, 1]), NoLanes, "could leave the exact range of lanes in week 2"),
    ],
)
def test_a_wrong_answer_changes_nothing(
    answers: dict[str, Any], error: type[Exception], says: str
) -> None:
    """The lanes go on as an episode without the refused answer."""
    lanes = begun()
    with pytest.raises(error, match=says):
        lanes.step(answers)
    seen = lanes.step(ordered([5, 5, 5]))["retailer"]
    run = Run(POISSON, 2)
    run.answer(run.advance()[0], Order(5))
    assert seen.row(2) == run.advance()[0].observation
