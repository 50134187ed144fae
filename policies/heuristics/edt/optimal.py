"""Policies with full knowledge of the scenario: the best decision that a search has found.

Both know hidden state: they compute with salaries, fixed cost and extension efforts, which the
published briefing hides, and with rules of the simulator that no observation states.
"""

from typing import Any

from attrs import define, field

from desim import Model, Policy, Run, Seat
from desim.episodes.replay import open_decisions
from desim.errors import UsageError
from models.edt.actions import Decide
from models.edt.desk import Briefing
from models.edt.params import DigitalTwinParams
from policies.heuristics.edt.search import best_found

#: Decisions that `Optimal` evaluates. With 60,000, all of them annealing and descent, a hill climb
#: of 5,000 beat it in 2 of the 30 changed firms of its test.
EVALUATIONS = 100_000


@define
class _Searched(Policy):
    """Plays the best decision that a search has found; nothing is proved.

    The search computes with costs that the briefing hides, so the policy is a yardstick and no rule
    that a manager could follow. Its notes hold the earnings of the decision.

    """

    #: The briefing hides the costs with which the search computes.
    knows = "state"

    _plan: Decide = field(init=False, repr=False)
    notes: dict[str, float] = field(factory=dict, init=False, repr=False)

    def _search(self, seat: Seat, policy: str, evaluations: int, seed: int) -> None:
        params = _published(seat, policy)
        best = best_found(params.loaded_scenario, _budget(evaluations), seed, _least(params))
        self._plan = best.plan
        self.notes = {"found": _earned(seat.model, seat.role, best.plan)}

    def decide(self, _: Briefing) -> Decide:
        """Return the decision."""
        return self._plan


@define
class LocalSearch(_Searched):
    """Play the best decision that a search with a small budget has found; nothing is proved.

    Attributes:
        evaluations: Number of decisions to evaluate, at least 1.
        seed: Seed of the search.
    """

    evaluations: int = 5_000
    seed: int = 0

    def seated(self, seat: Seat) -> None:
        """Search for the decision.

        Raises:
            UsageError: The seat is not the manager's of the published game, or *evaluations* is
                below 1.
        """
        self._search(seat, "local_search", self.evaluations, self.seed)


@define
class Optimal(_Searched):
    """Play the best decision that a search with a large budget has found; nothing is proved.

    Attributes:
        evaluations: Number of decisions to evaluate, at least 1.
    """

    evaluations: int = EVALUATIONS

    def seated(self, seat: Seat) -> None:
        """Search for the decision, as `LocalSearch` does."""
        self._search(seat, "optimal", self.evaluations, 0)


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


def _earned(model: Model[Any], role: str, plan: Decide) -> float:
    """Return the earnings of a decision in money, by playing it."""
    run = Run(model, 0, [role])
    for decision in open_decisions(run):
        run.answer(decision, plan)
    return run.result().score
