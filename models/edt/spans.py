"""The projects of an episode as spans for a trace."""

from collections.abc import Iterator

from desim.core.reported import Span
from models.edt.firm import Firm
from models.edt.state import Phase

__all__ = ["projects"]


def projects(firm: Firm) -> Iterator[Span]:
    """Yield each project from the step in which it became ready, with its phases."""
    for project in firm.engagements:
        phases = [(step, phase.label) for step, phase in project.phases]
        if phases:
            is_over = project.phase is Phase.COMPLETED
            end = phases[-1][0] if is_over else None
            yield Span("project", project.name, phases[0][0], end, tuple(phases))
