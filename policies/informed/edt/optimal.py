"""Policies with full knowledge of the scenario: the best decision found, and a proved bound.

Both know hidden state: they compute with salaries, fixed cost and extension efforts, which the
published briefing hides, and with rules of the simulator that no observation states.
"""

from functools import cache
from typing import Any, ClassVar, Self

from attrs import define, field, frozen

from desim import Model, Run, Seat
from desim.core.roles import Knowledge
from desim.episodes.prefix import open_decisions
from desim.errors import UsageError
from models.edt.actions import Decide
from models.edt.observation import Briefing
from models.edt.params import DigitalTwinParams
from models.edt.planning.decision import Plan
from policies.informed.edt.search import best_found

#: Decisions that `Optimal` evaluates. With 60,000, all of them annealing and descent, a hill climb
#: of 5,000 beat it in 2 of the 30 changed firms of its test.
EVALUATIONS = 100_000


@frozen
class Solution:
    """A decision with its earnings and an upper bound on those of any decision.

    Attributes:
        plan: The decision.
        found: Its earnings in money, as played by the model.
        bound: Upper bound on the earnings of any decision, in money.
    """

    plan: Plan
    found: float
    bound: float

    @property
    def gap(self) -> float:
        """The most a better decision could add, in money; 0 when this one is proved the best."""
        return self.bound - self.found

    @property
    def claim(self) -> str:
        """The proved quality of the decision, in words."""
        if self.gap <= 0:
            return "proved best: it earns as much as the bound"
        share = f" ({self.gap / abs(self.found):.1%})" if self.found else ""
        return f"best found: no decision earns over {self.gap:,.0f}{share} more"


@define
class LocalSearch:
    """Play the best decision that a search with a small budget has found; nothing is proved.

    The search computes with costs that the briefing hides, so the policy is a yardstick and no rule
    that a manager could follow. Its notes hold the earnings of the decision.

    Attributes:
        plan: The decision.
        found: Its earnings, in money.
        notes: The earnings.
    """

    #: The briefing hides the costs with which the search computes.
    knows: ClassVar[Knowledge] = "state"

    plan: Plan
    found: float
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.notes = {"found": self.found}

    @classmethod
    def seated(cls, seat: Seat, evaluations: int = 5_000, seed: int = 0) -> Self:
        """Search for the decision and build the policy.

        Args:
            seat: The manager of the published game.
            evaluations: Number of decisions to evaluate, at least 1.
            seed: Seed of the search.

        Raises:
            UsageError: The seat belongs to another game, or *evaluations* is below 1.
        """
        params = _published(seat, "local_search")
        best = best_found(params.loaded_scenario, _budget(evaluations), seed, _least(params))
        return cls(best.plan, _earned(seat.model, seat.role, best.plan))

    def decide(self, _: Briefing) -> Decide:
        """Return the decision."""
        return _decision(self.plan)


@define
class Optimal:
    """Play the best decision found, and note its gap to a bound; only a gap of 0 proves it best.

    The bound is an upper bound on the earnings of any decision. Where it is above the earnings, a
    better decision may exist, and the notes say so. Like `LocalSearch` it is a yardstick.

    Attributes:
        solution: The decision with its earnings and the bound.
        notes: The earnings, the bound and the gap, in money, and what they prove.
    """

    #: The briefing hides the costs with which the search computes.
    knows: ClassVar[Knowledge] = "state"

    solution: Solution
    notes: dict[str, float | str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        best = self.solution
        self.notes = {
            "found": best.found,
            "bound": best.bound,
            "gap": best.gap,
            "claim": best.claim,
        }

    @classmethod
    def seated(cls, seat: Seat, evaluations: int = EVALUATIONS) -> Self:
        """Search for the decision, compute the bound and build the policy.

        Args:
            seat: The manager of the published game.
            evaluations: Number of decisions to evaluate, at least 1.

        Raises:
            UsageError: The seat belongs to another game, or *evaluations* is below 1.
        """
        return cls(solve(_published(seat, "optimal"), seat.role, _budget(evaluations)))

    def decide(self, _: Briefing) -> Decide:
        """Return the decision."""
        return _decision(self.solution.plan)


@cache
def solve(
    params: DigitalTwinParams, role: str = "manager", evaluations: int = EVALUATIONS
) -> Solution:
    """Search for a good decision and compute an upper bound on the earnings of any decision.

    Args:
        params: A game with one decision and the code's rules; it is played to check the decision.
        role: The manager's role.
        evaluations: Number of decisions to evaluate, at least 1.
    """
    from policies.informed.edt.earnings_bound import earnings_bound  # imports numpy

    assert isinstance(params, Model)
    least = _least(params)
    plan = best_found(params.loaded_scenario, evaluations, 0, least).plan
    found = _earned(params, role, plan)
    return Solution(plan, found, earnings_bound(params.loaded_scenario, found, least))


def _published(seat: Seat, policy: str) -> DigitalTwinParams:
    params = seat.model
    if not isinstance(params, DigitalTwinParams) or params.asks != "once":
        raise UsageError(
            f"{policy} decides once, before the run, in the Enterprise Digital Twin's published "
            "game and in no other"
        )
    if params.gating != "threshold":
        raise UsageError(
            f"{policy} can compute earnings only with gating=threshold, "
            f"not with gating={params.gating}"
        )
    if not params.follows_code:
        raise UsageError(
            f"{policy} can compute earnings only with the code's rules for extensions, release, "
            "first_work, step_numbers and sums, which are the defaults"
        )
    return params


def _budget(evaluations: int) -> int:
    if evaluations < 1:
        raise UsageError(f"evaluations={evaluations} was given; a search needs at least 1")
    return evaluations


def _least(params: DigitalTwinParams) -> int:
    """Return the smallest number of consultants: the agent side's repair keeps at least one."""
    return 0 if params.mode == "second_pass" else 1


def _decision(plan: Plan) -> Decide:
    return Decide(plan.consultants, plan.revenue_risk, plan.projects)


def _earned(model: Model[Any], role: str, plan: Plan) -> float:
    """Return the earnings of a decision in money, by playing it."""
    run = Run(model, 0, [role])
    for decision in open_decisions(run):
        run.answer(decision, _decision(plan))
    return run.result().score
