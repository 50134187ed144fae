"""Decisions that know everything: the best a search finds, and a figure that none can beat."""

from functools import cache
from typing import Self

from attrs import define, field, frozen

from desim import Run, Seat
from desim.errors import UsageError
from models.edt import Briefing, Decide, EnterpriseDigitalTwin, Plan
from policies.heuristics.edt.bound import bound
from policies.heuristics.edt.search import best_found

__all__ = ["LocalSearch", "Optimal", "Solution", "solve"]


@frozen
class Solution:
    """A decision and what is known about it.

    Attributes:
        plan: The decision.
        found: What it earns, as played by the model.
        bound: No decision earns more.
    """

    plan: Plan
    found: float
    bound: float

    @property
    def gap(self) -> float:
        """What a better decision could add at most; 0 when this one is proved to be the best."""
        return self.bound - self.found


@define
class LocalSearch:
    """Play the best decision of a search with a budget.

    It simulates the firm, hidden costs included, so it is a yardstick and no rule for somebody who
    has only the briefing. The notes tell what its decision earns.

    Attributes:
        plan: The decision.
        found: What it earns.
    """

    plan: Plan
    found: float
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.notes = {"found": self.found}

    @classmethod
    def seated(cls, seat: Seat, evaluations: int = 5_000, seed: int = 0) -> Self:
        """Search before the decision.

        Args:
            seat: The manager of the published game.
            evaluations: Decisions to look at, at least 1.
            seed: Of the search; with the same one it decides the same.
        """
        game = _published(seat, "local_search")
        found = best_found(game.firm, _budget(evaluations), seed, _least(game))
        return cls(found.plan, _played(game, seat.role, found.plan))

    def decide(self, _: Briefing) -> Decide:
        """Answer with the decision."""
        return _decision(self.plan)


@define
class Optimal:
    """Play the best decision known, beside a bound that no decision can beat.

    The notes tell what it earns, the bound and the gap; with a gap of 0 it is proved to be the
    best. It knows everything, as `LocalSearch`.

    Attributes:
        solution: The decision and what is known about it.
    """

    solution: Solution
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        best = self.solution
        self.notes = {"found": best.found, "bound": best.bound, "gap": best.gap}

    @classmethod
    def seated(cls, seat: Seat, evaluations: int = 20_000) -> Self:
        """Search and prove before the decision.

        Args:
            seat: The manager of the published game.
            evaluations: Decisions to look at, at least 1.
        """
        game = _published(seat, "optimal")
        return cls(solve(game, seat.role, _budget(evaluations)))

    def decide(self, _: Briefing) -> Decide:
        """Answer with the decision."""
        return _decision(self.solution.plan)


@cache
def solve(
    game: EnterpriseDigitalTwin, role: str = "manager", evaluations: int = 20_000
) -> Solution:
    """Find a good decision and bound what any decision earns.

    Args:
        game: The parameters of a published game without chance.
        role: The manager's seat.
        evaluations: Decisions to look at.
    """
    plan = best_found(game.firm, evaluations, 0, _least(game)).plan
    found = _played(game, role, plan)
    return Solution(plan, found, bound(game.firm, found, _least(game)))


def _published(seat: Seat, policy: str) -> EnterpriseDigitalTwin:
    game = seat.model
    if not isinstance(game, EnterpriseDigitalTwin) or game.asks != "once":
        raise UsageError(
            f"{policy} decides once, before the run, in the Enterprise Digital Twin's published "
            "game and in no other"
        )
    if game.gating != "threshold":
        raise UsageError(
            f"{policy} knows what a decision brings only with gating=threshold, "
            f"not with gating={game.gating}"
        )
    return game


def _budget(evaluations: int) -> int:
    if evaluations < 1:
        raise UsageError(f"evaluations={evaluations} was given; a search needs at least 1")
    return evaluations


def _least(game: EnterpriseDigitalTwin) -> int:
    """Return how many consultants must be kept: the agent's repair does not let all go."""
    return 0 if game.mode == "second_pass" else 1


def _decision(plan: Plan) -> Decide:
    return Decide(plan.consultants, plan.revenue_risk, plan.projects)


def _played(game: EnterpriseDigitalTwin, role: str, plan: Plan) -> float:
    """Return what a decision earns, by playing it."""
    run = Run(game, 0, [role])
    run.answer(run.advance()[0], _decision(plan))
    run.advance()
    return run.result().score
