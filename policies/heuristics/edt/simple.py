"""The published Simple baseline, and its counterpart at the desk."""

import math

from attrs import frozen

from models.edt import Accept, Briefing, Command, Decide, Desk, Release, SetRisk, Wait, Window

__all__ = ["Simple"]


@frozen
class Simple:
    """Take every project for the longest window, without risk, with just enough consultants.

    Enough are those whose time covers the contracted effort. At the desk of the interactive game
    the same rule accepts everything, sets R to 0, releases whom the effort does not need, waits.

    Source: reference SPEC section 11.
    """

    def decide(self, seen: Briefing | Desk) -> Decide | Command:
        """Decide by the contracted effort alone."""
        return _at_the_desk(seen) if isinstance(seen, Desk) else _before_the_run(seen)


def _before_the_run(seen: Briefing) -> Decide:
    windows = (Window(0, seen.horizon),) * len(seen.projects)
    staff = enough(math.fsum(p.contracted_effort for p in seen.projects), seen.workable)
    return Decide(min(max(staff, 1), seen.consultants), 0.0, windows)


def _at_the_desk(seen: Desk) -> Command:
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
    """Return how many consultants cover an effort in a time; none where there is no time."""
    return math.ceil(effort / time) if time > 0 else 0
