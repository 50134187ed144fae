"""A problem of SimOpt's testbed from a `Problem`; tried with simoptlib 1.2.4.

SimOpt draws the seed of each replication from its own generator, so its rules for common random
numbers across solutions hold: the seeds of the `Problem` are not used.
"""

from typing import Any, ClassVar

import numpy as np
from mrg32k3a.mrg32k3a import MRG32k3a
from pydantic import create_model
from simopt.base import (
    ConstraintType,
    Model,
    Objective,
    Problem,
    RepResult,
    VariableType,
)

from desim.errors import UsageError
from desim.short_repr import short_repr
from desim.studies.tuning.problem import Problem as Objectives

#: Seeds are drawn below this number.
_SEEDS = 2**31

#: Most replications of one run of a solver.
_MOST = 10_000_000


class _Episodes(Model):
    """Episodes at one point; the seed of each comes from SimOpt's generator."""

    class_name_abbr: ClassVar[str] = "DESIM"
    class_name: ClassVar[str] = "Episodes of desim"
    n_rngs: ClassVar[int] = 1
    n_responses: ClassVar[int] = 1
    function: ClassVar[Objectives]

    def before_replicate(self, rng_list: list[MRG32k3a]) -> None:
        """Draw the seed of the next episode."""
        self._seed = int(rng_list[0].random() * _SEEDS)

    def replicate(self) -> tuple[dict[str, float], dict[str, Any]]:
        """Play one episode; return its score, and no gradient."""
        return {"score": float(self.function.scores(self.factors["x"], [self._seed])[0])}, {}


class _MeanScore(Problem):
    """The highest mean score over the ranges of a `Problem`."""

    class_name_abbr: ClassVar[str] = "DESIM-1"
    class_name: ClassVar[str] = "Mean score of a policy of desim"
    n_objectives: ClassVar[int] = 1
    n_stochastic_constraints: ClassVar[int] = 0
    minmax: ClassVar[tuple[int, ...]] = (1,)
    constraint_type: ClassVar[ConstraintType] = ConstraintType.BOX
    gradient_available: ClassVar[bool] = False
    model_default_factors: ClassVar[dict[str, Any]] = {}
    model_decision_factors: ClassVar[set[str]] = {"x"}
    function: ClassVar[Objectives]

    @property
    def dim(self) -> int:
        """The number of parameters that are searched."""
        return len(self.function.names)

    @property
    def lower_bounds(self) -> tuple[float, ...]:
        """The least entries of a vector."""
        return tuple(low for low, _ in self.function.bounds)

    @property
    def upper_bounds(self) -> tuple[float, ...]:
        """The largest entries of a vector."""
        return tuple(high for _, high in self.function.bounds)

    def vector_to_factor_dict(self, vector: tuple[float, ...]) -> dict[str, Any]:
        """Return a vector as the model's factor."""
        return {"x": tuple(vector)}

    def factor_dict_to_vector(self, factor_dict: dict[str, Any]) -> tuple[float, ...]:
        """Return the model's factor as a vector."""
        return tuple(factor_dict["x"])

    def get_random_solution(self, rand_sol_rng: MRG32k3a) -> tuple[float, ...]:
        """Draw a vector uniformly within the bounds; whole entries are whole numbers."""
        return tuple(
            float(rand_sol_rng.randint(int(low), int(high)))
            if whole
            else rand_sol_rng.uniform(low, high)
            for (low, high), whole in zip(
                self.function.bounds, self.function.integrality, strict=True
            )
        )

    def replicate(self, _: tuple[float, ...], /) -> RepResult:
        """Play one episode at the model's factors."""
        responses, _gradients = self.model.replicate()
        return RepResult(objectives=[Objective(stochastic=responses["score"])])


def simopt_problem(function: Objectives, budget: int = 1_000) -> Problem:
    """Return a problem for the solvers of SimOpt: the highest mean score.

    Args:
        function: The result of `desim.problem`.
        budget: The most replications of a solver; a solver may be given another budget.

    Raises:
        UsageError: The budget is not a whole number above 0.
    """
    if type(budget) is not int or not 0 < budget <= _MOST:
        raise UsageError(
            f"budget={short_repr(budget)} was given; it is a whole number from 1 to {_MOST:,}"
        )
    start = tuple(float(each) for each in np.asarray(function.start))

    # SimOpt builds problems and models from their classes, and reads defaults from these.
    settings = create_model(
        "Settings", initial_solution=(tuple[float, ...], start), budget=(int, budget)
    )
    factors = create_model("Factors", x=(tuple[float, ...], start))
    model = type("Episodes", (_Episodes,), {"config_class": factors, "function": function})
    members = {
        "config_class": settings,
        "model_class": model,
        "function": function,
        "variable_type": _variables(function),
    }
    made: Problem = type("MeanScore", (_MeanScore,), members)()
    return made


def _variables(function: Objectives) -> VariableType:
    whole = set(function.integrality)
    if len(whole) > 1:
        return VariableType.MIXED
    return VariableType.DISCRETE if True in whole else VariableType.CONTINUOUS
