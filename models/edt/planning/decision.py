"""The decision of the published game as data, and its limits in one scenario.

`{"C": consultants, "R": risk level, "P": [0 | [1, start step, deadline step], ...]}` with one entry
a project; `repair.py` repairs a malformed one as published, `strict.py` refuses it.
"""

from typing import Any

from attrs import field, frozen
from attrs.validators import ge, le

from desim.schema.validators import LARGEST
from models.edt.scenario import Scenario

#: The published environment never runs longer, so decisions name no later step.
STEP_LIMIT = 96

#: Length of an entry of P that takes a project: 1, start, deadline.
ENTRY = 3


@frozen
class Window:
    """The steps between which an accepted project is open.

    Attributes:
        start: Step at which it becomes ready, at least 0; work starts one step later.
        deadline: Step with which it ends, not before start.
    """

    start: int = field(validator=[ge(-LARGEST), le(LARGEST)])
    deadline: int = field(validator=[ge(-LARGEST), le(LARGEST)])


@frozen
class Plan:
    """A well-formed decision.

    Attributes:
        consultants: How many of the scenario's consultants are kept, from the first on.
        revenue_risk: R, 0 to 1.
        projects: For each project its window, or None to leave it out.
    """

    consultants: int
    revenue_risk: float
    projects: tuple[Window | None, ...]

    def raw(self) -> dict[str, Any]:
        """Return the published decision object."""
        windows = [[1, w.start, w.deadline] if w else 0 for w in self.projects]
        return {"C": self.consultants, "R": self.revenue_risk, "P": windows}


@frozen
class DecisionLimits:
    """The ranges and the defaults of a decision in one scenario.

    Attributes:
        consultants: The largest C, and its default.
        revenue_risk: The default of R.
        horizon: The last step that a window may name.
        windows: The default windows, by project; follow-ons of the scenario are not decided on.
    """

    consultants: int
    revenue_risk: float
    horizon: int
    windows: tuple[Window, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> "DecisionLimits":
        """Return the limits of a scenario."""
        span = (scenario.stoptime - scenario.starttime) / scenario.dt
        horizon = min(round(span), STEP_LIMIT)

        def step(time: float) -> int:
            return min(max(round((time - scenario.starttime) / scenario.dt), 0), horizon)

        windows = tuple(
            Window(step(p.start_time), step(p.deadline))
            for p in scenario.projects
            if not p.is_follow_on
        )
        return cls(len(scenario.consultants), scenario.revenue_risk_level, horizon, windows)
