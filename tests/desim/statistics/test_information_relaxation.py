"""Bounds of a stock with a fixed cost of ordering, with and without a charge for the future."""

import pytest
from support.ordering import stock

from desim.statistics.information_relaxation import Relaxation

TOY = {
    "weeks": 3, "demand": [0, 2], "chance": [0.5, 0.5], "holding": 1.0, "backlog": 3.0,
    "fixed": 1.0, "most": 3, "start": 0,
}  # fmt: skip


def test_a_guess_bounds_the_optimum_and_the_exact_one_attains_it() -> None:
    """On every path with the exact costs to go; on average with any guess."""
    problem = stock(TOY)
    optimum = problem.optimal()
    best = optimum(0, 0)
    exact, poor = Relaxation(problem, optimum), Relaxation(problem, lambda _, held: held**2)
    assert {round(exact.bound(path), 9) for path in ([0, 0, 0], [2, 0, 2], [2, 2, 2])} == {best}
    assert poor.mean(poor.bound) <= best
    assert Relaxation(problem).mean(Relaxation(problem).bound) < best
    assert poor.gap(optimum.action, [2, 0, 2]) >= 0
    assert poor.mean(lambda path: poor.cost(optimum.action, path)) == pytest.approx(best)
