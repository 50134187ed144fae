"""The mean score of a policy as a function of its parameters."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import differential_evolution

import desim
from desim.errors import DesimError, UsageError
from desim.studies.problem import Problem

WEEKS = {"horizon": "12"}
RANGE = {"policy.target": "int:4:40"}


def order(**changes: Any) -> Problem:
    """Return the cost of a short Beer Game by the order-up-to level."""
    given = {"seeds": range(3), **changes}
    return desim.problem("beer_game/poisson", "base_stock", {**RANGE, **WEEKS}, **given)


def test_a_value_is_minus_the_mean_score_of_the_seeds() -> None:
    """The same episodes as those of a sweep."""
    rows = desim.sweep(
        "beer_game", "base_stock,target=20", range(3), preset="poisson", set={"horizon": 12}
    )
    expected = [row["score"] for row in rows]
    assert list(order().scores({"policy.target": 20})) == expected
    assert order()([20.4]) == -np.mean(expected)
    assert list(order().scores([20], range(100, 103))) != expected


def test_a_point_is_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimisers return to a point of whole numbers."""
    function, played = order(), []
    play = Problem._played
    monkeypatch.setattr(
        Problem, "_played", lambda self, *given: played.append(given) or play(self, *given)
    )
    function([20.2])
    function([19.8])
    assert len(played) == 1
    function.scores([20])[:] = 0
    assert function([20]) > 0


def test_scipy_finds_a_better_level() -> None:
    """Bounds and integrality are as `differential_evolution` takes them."""
    function = order()
    found = differential_evolution(
        function,
        function.bounds,
        integrality=function.integrality,
        maxiter=8,
        popsize=8,
        rng=1,
        polish=False,
    )
    assert found.fun < function(np.mean(function.bounds, axis=1))
    assert found.fun == min(function([level]) for level in range(4, 41))


def test_a_vector_holds_whole_numbers_logarithms_and_places_of_choices() -> None:
    """In the order of the parameters."""
    function = desim.problem(
        "beer_game",
        "order_up_to",
        {
            "policy.target": "int:4:40",
            "backlog_cost": "log:0.1:10",
            "opponents": "choice:typical|base_stock",
            "holding_cost": "float:0.5:2",
            "horizon": 25,
        },
        preset="classic",
        seeds=[1],
    )
    assert function.bounds == [(4, 40), (-1, 1), (0, 1), (0.5, 2)]
    assert function.integrality == [True, False, True, False]
    assert function.point([7.3, 0, 0.9, 1.25]) == {
        "policy.target": 7,
        "backlog_cost": 1.0,
        "opponents": "base_stock",
        "holding_cost": 1.25,
    }
    assert order().point([40 + 1e-9]) == {"policy.target": 40}  # a rounding error of an optimiser
    assert function([7, 0, 1, 1.25]) != function([7, 0, 0, 1.25])


@pytest.mark.parametrize("vector", [[], [1, 2], [float("nan")], [3.5], [1e300], ["x"], [None]])
def test_a_vector_out_of_bounds_is_refused(vector: list[Any]) -> None:
    """Nothing is played."""
    expected = r"entries are policy\.target|it is between 4 and 40|a vector of numbers"
    with pytest.raises(UsageError, match=expected):
        order()(vector)


def test_values_that_are_equal_but_of_other_types_are_not_taken_for_one_another() -> None:
    """True is not 1, and of several values in a list none is played."""
    function = order()
    assert len(function.scores({"policy.target": 1})) == 3
    for wrong in (True, [20, 30]):
        with pytest.raises(UsageError, match=r"target=true|one value of a parameter"):
            function.scores({"policy.target": wrong})


def test_wrong_arguments_are_refused_before_anything_is_played() -> None:
    """What was given, and what is possible."""
    with pytest.raises(UsageError, match="no range was given"):
        desim.problem("beer_game", "base_stock", {"policy.target": 20})
    with pytest.raises(UsageError, match="did you mean 'target'"):
        desim.problem("beer_game", "base_stock", {"policy.tarjet": "int:1:2"})
    with pytest.raises(UsageError, match="no seed was given"):
        order(seeds=[])


def test_a_failed_episode_without_a_worst_score_is_an_error() -> None:
    """It names the seed and the point; no number stands in for it."""
    function = desim.problem(
        "support.small_worlds:Walk", "support.small_worlds:Fails", {"steps": "int:1:3"}, seeds=[6]
    )
    with pytest.raises(DesimError, match=r"seed 6 failed at .*steps"):
        function([2])
