"""Rules for the Enterprise Digital Twin: the published Simple baseline, and two searches."""

import math

from attrs import define, field, frozen
from attrs.validators import ge

from desim import Policy, Seat
from desim.errors import UsageError
from models.edt.actions import Accept, Command, Decide, Release, SetRisk, Wait, Window
from models.edt.desk import Briefing, Dashboard
from models.edt.params import DigitalTwinParams
from policies.heuristics.edt.search import best_found


def baselines(params: DigitalTwinParams) -> tuple[str, ...]:
    """Return the policy specs that make sense with these parameters, the simplest first.

    The generic `greedy` takes the best-paid seats, because the options are valued by revenue.
    """
    # A search needs one decision before the run, and the rules that it computes with.
    known = params.asks == "once" and params.follows_code
    return ("simple", *(("local_search", "optimal") if known else ()))


@frozen
class Simple(Policy):
    """Take every project for the longest window, with R = 0 and just enough consultants.

    The consultants' time covers the contracted effort. In the interactive game the same rule
    accepts every project, sets R to 0, releases the consultants it does not need, and waits.

    Source: reference SPEC section 11.
    """

    def decide(self, seen: Briefing | Dashboard) -> Decide | Command:
        """Return the decision, or the next command."""
        return _command(seen) if isinstance(seen, Dashboard) else _decision(seen)


def _decision(seen: Briefing) -> Decide:
    windows = (Window(0, seen.horizon),) * len(seen.projects)
    staff = _enough(seen, seen.workable)
    return Decide(min(max(staff, 1), seen.consultants), 0.0, windows)


def _command(seen: Dashboard) -> Command:
    for project in seen.projects:
        if not project.accepted and not project.over:
            return Accept(project.index)
    if seen.revenue_risk > 0:
        return SetRisk(0.0)
    if seen.step == 0:
        spare = seen.hired - max(1, _enough(seen, (seen.steps - 1) * seen.dt))
        if spare > 0:
            return Release(spare)
    return Wait()


def _enough(seen: Briefing | Dashboard, time: float) -> int:
    """Return the number of consultants who deliver all contracted effort in a time."""
    effort = math.fsum(p.contracted_effort for p in seen.projects)
    return math.ceil(effort / time) if time > 0 else 0


@define
class LocalSearch(Policy):
    """Play the best decision that hill climbs have found; nothing is proved.

    The search computes with salaries, fixed cost and extension efforts, which the published
    briefing hides, so the policy is a yardstick and no rule that a manager could follow. Its notes
    hold the earnings of the decision.

    Attributes:
        evaluations: Number of decisions to evaluate, at least 1.
    """

    knows = "state"

    evaluations: int = field(default=5_000, validator=ge(1))
    _plan: Decide = field(init=False, repr=False)
    notes: dict[str, float] = field(factory=dict, init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Search for the decision.

        Raises:
            UsageError: The seat is not the manager's of the published game by the code's rules.
        """
        params = _published(seat.model)
        # The agent side's repair keeps at least one consultant.
        least = 0 if params.mode == "second_pass" else 1
        found, self._plan = best_found(params.loaded_scenario, self.evaluations, least)
        self.notes = {"found": found}

    def decide(self, _: Briefing) -> Decide:
        """Return the decision."""
        return self._plan


@define
class Optimal(LocalSearch):
    """Play the best decision that hill climbs of a large budget have found; nothing is proved.

    Attributes:
        evaluations: Number of decisions to evaluate, at least 1.
    """

    evaluations: int = field(default=100_000, validator=ge(1))


def _published(params: object) -> DigitalTwinParams:
    if not isinstance(params, DigitalTwinParams) or params.asks != "once":
        raise UsageError(
            "a search decides once, before the run, in the Enterprise Digital Twin's published "
            "game and in no other"
        )
    if not params.follows_code:
        raise UsageError(
            "a search can compute earnings only with the code's rules for gating, extensions, "
            "release, first_work, step_numbers and sums, which are the defaults"
        )
    return params
