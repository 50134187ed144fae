"""Policies with full knowledge of the scenario: the best decision that a search has found.

Both know hidden state: they compute with salaries, fixed cost and extension efforts, which the
published briefing hides, and with rules of the simulator that no observation states.
"""

from typing import Any, Self

from attrs import define, field

from desim import Model, Policy, Run, Seat
from desim.episodes.replay import open_decisions
from desim.errors import UsageError
from models.edt.actions import Decide
from models.edt.observation import Briefing
from models.edt.params import DigitalTwinParams
from models.edt.planning.decision import Plan
from policies.heuristics.edt.search import best_found

#: Decisions that `Optimal` evaluates. With 60,000, all of them annealing and descent, a hill climb
#: of 5,000 beat it in 2 of the 30 changed firms of its test.
EVALUATIONS = 100_000


@define
class _Searched(Policy):
    """Plays the best decision that a search has found; nothing is proved.

    The search computes with costs that the briefing hides, so the policy is a yardstick and no rule
    that a manager could follow. Its notes hold the earnings of the decision.

    Attributes:
        plan: The decision.
        found: Its earnings, in money.
        notes: The earnings.
    """

    #: The briefing hides the costs with which the search computes.
    knows = "state"

    plan: Plan
    found: float
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.notes = {"found": self.found}

    @classmethod
    def _found(cls, seat: Seat, policy: str, evaluations: int, seed: int) -> Self:
        params = _published(seat, policy)
        best = best_found(params.loaded_scenario, _budget(evaluations), seed, _least(params))
        return cls(best.plan, _earned(seat.model, seat.role, best.plan))

    def decide(self, _: Briefing) -> Decide:
        """Return the decision."""
        return _decision(self.plan)


@define
class LocalSearch(_Searched):
    """Play the best decision that a search with a small budget has found; nothing is proved."""

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
        return cls._found(seat, "local_search", evaluations, seed)


@define
class Optimal(_Searched):
    """Play the best decision that a search with a large budget has found; nothing is proved."""

    @classmethod
    def seated(cls, seat: Seat, evaluations: int = EVALUATIONS) -> Self:
        """Search for the decision and build the policy, as `LocalSearch` does."""
        return cls._found(seat, "optimal", evaluations, 0)


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
