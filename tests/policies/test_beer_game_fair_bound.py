"""The bound on the mean cost of a retailer that does not know the demand."""

import json
from typing import Any

import numpy as np
import pytest
from support.cases import thinned
from support.paths import REFERENCE

from desim import sweep
from desim.statistics.intervals import interval
from models.beer_game import BeerGame
from policies.informed.beer_game.fair_bound import SingleStage, fair_bound, weekly_distribution

VECTORS = REFERENCE / "statistics" / "vectors" / "single_stage.json"


@pytest.mark.skipif(not VECTORS.exists(), reason=f"the reference data are not at {REFERENCE}")
def test_the_bound_equals_the_vector() -> None:
    """Level, unavoidable cost and bound of a single stage."""
    for case in json.loads(VECTORS.read_text())["cases"]:
        given, expected = case["input"], case["expected"]
        found = SingleStage(
            week=weekly_distribution(f"poisson:{given['poisson_mean']}"),
            weeks=given["weeks"],
            lead_time=given["lead_time"],
            on_hand=given["on_hand"],
            flow=given["arriving_each_week"],
            holding=given["holding"],
            backlog=given["backlog"],
        ).bound()
        assert found.cost == pytest.approx(expected["cost"], abs=case["tolerance"])
        assert found.unavoidable == pytest.approx(expected["unavoidable"], abs=case["tolerance"])
        assert found.level == expected["level"]


def test_the_preset_has_the_bound_of_the_vector() -> None:
    """`poisson`: four stages, of which the first is played."""
    found = fair_bound(BeerGame.preset("poisson"))
    assert found
    assert found.cost == pytest.approx(133.19, abs=0.005)


@pytest.mark.parametrize("changes", thinned([{}, {"blind": True}, {"demand": "normal:6:2"}], 3))
def test_no_rule_costs_less_on_average(changes: dict[str, Any]) -> None:
    """Whatever the level, beyond what chance explains; the best one comes near."""
    model = BeerGame.preset("poisson", **changes)
    bound = fair_bound(model)
    assert bound
    levels = [f"order_up_to,target={bound.level + more}" for more in (-3, 0, 3)]
    rows = sweep(model, levels, range(60))
    found = [
        interval([-score for score in rows.where(policy=one).values("score")]) for one in levels
    ]
    assert all(one.high is not None and one.high >= bound.cost for one in found)
    assert min(one.mean for one in found) < 1.25 * bound.cost


def test_a_game_of_two_weeks_is_worked_out_by_hand() -> None:
    """A unit is demanded in half of the weeks; the first week cannot be helped.

    It leaves nothing or one unit owed: 1.5 on average. In the second week a position of 1 costs
    (1 on hand + 0) / 2 with one unit, and a position of 0 costs (0 + 3) / 2.
    """
    week = np.array([0.5, 0.5])
    stage = SingleStage(week, weeks=2, lead_time=1, on_hand=0, flow=0, holding=1, backlog=3)
    found = stage.bound()
    assert (found.cost, found.unavoidable, found.level) == (2.0, 1.5, 1)


@pytest.mark.parametrize("changes", [{"demand": "constant:4"}, {"controlled": "factory"}])
def test_other_games_have_none(changes: dict[str, Any]) -> None:
    """The argument is about a retailer with random demand."""
    assert fair_bound(BeerGame.preset("poisson", **changes)) is None
