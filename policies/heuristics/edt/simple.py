"""The published Simple baseline, and the same rule in the interactive game."""

import math

from attrs import frozen

from desim import Policy
from models.edt.actions import Accept, Command, Decide, Release, SetRisk, Wait, Window
from models.edt.desk import Briefing, Dashboard


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
    staff = enough(math.fsum(p.contracted_effort for p in seen.projects), seen.workable)
    return Decide(min(max(staff, 1), seen.consultants), 0.0, windows)


def _command(seen: Dashboard) -> Command:
    for project in seen.projects:
        if not project.accepted and not project.over:
            return Accept(project.index)
    if seen.revenue_risk > 0:
        return SetRisk(0.0)
    if seen.step == 0:
        effort = math.fsum(p.contracted_effort for p in seen.projects)
        spare = seen.hired - max(1, enough(effort, (seen.steps - 1) * seen.dt))
        if spare > 0:
            return Release(spare)
    return Wait()


def enough(effort: float, time: float) -> int:
    """Return the number of consultants who deliver an effort in a time; 0 for times up to 0."""
    return math.ceil(effort / time) if time > 0 else 0
