"""A problem for the solvers of SimOpt."""

from pathlib import Path

import pytest

pytest.importorskip("simopt")

from simopt.experiment_base import ProblemSolver
from simopt.problem_types import VariableType
from simopt.solvers.randomsearch import RandomSearch

import desim
from desim.adapters.simopt import simopt_problem
from desim.errors import UsageError
from desim.studies.tuning.problem import Problem


def order(**ranges: str) -> Problem:
    """Return the cost of a short Beer Game by the order-up-to level, or by other parameters."""
    ranges = {**(ranges or {"policy.target": "int:4:40"}), "horizon": "12"}
    return desim.problem("beer_game/poisson", "base_stock", ranges)


def test_a_solver_finds_a_better_level(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Through the package's own experiments, twice with the same result."""
    monkeypatch.setattr("simopt.experiment.single.EXPERIMENT_DIR", tmp_path)  # where it writes
    found = []
    for _ in range(2):
        runs = ProblemSolver(
            problem=simopt_problem(order(), 200), solver=RandomSearch(), create_pickle=False
        )
        runs.run(n_macroreps=1, n_jobs=1)
        found.append(runs.all_recommended_xs[0])
    assert found[0] == found[1]
    (first,), (last,) = found[0][0], found[0][-1]
    function = order()
    assert first == function.start[0]
    assert function.mean([last]) > function.mean([first])


def test_variables_and_bounds_are_those_of_the_ranges() -> None:
    """A whole number is discrete, a real one continuous."""
    assert simopt_problem(order()).variable_type is VariableType.DISCRETE
    real = simopt_problem(order(backlog_cost="float:4:40.5"))
    assert real.variable_type is VariableType.CONTINUOUS
    assert (real.lower_bounds, real.upper_bounds) == ((4,), (40.5,))


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, 10**9])
def test_a_wrong_budget_is_refused(budget: int) -> None:
    """What was given, and what is possible."""
    with pytest.raises(UsageError, match="whole number from 1"):
        simopt_problem(order(), budget)
