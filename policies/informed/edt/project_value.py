"""An upper bound on the value of a single project when consultants have a price.

A step of a consultant costs `Prices.step`, whether they work, wait at a project without work or
lose the step behind a completed one. In addition a consultant who takes a seat in step t costs
`Prices.free(t)`, and one who can take another seat from step t on returns as much; these prices
never rise with time. Projects are then independent of each other, and the best staffing of each
follows from a dynamic program.
"""

from itertools import combinations_with_replacement
from typing import Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from policies.informed.edt.prepared_firm import (
    PreparedFirm,
    PreparedProject,
    WorkSpan,
    WorkSpans,
)
from policies.informed.edt.staffing_program import Floats, Prices, StaffingProgram, Steps

#: Most states (deadlines, steps, seats, units) of a program; beyond, a looser bound is used.
STATES = 20_000_000

#: The first step with work: a project that starts in step 1 is ready after the consultants' turns.
FIRST = 2

IMPOSSIBLE = -np.inf


@frozen(eq=False)
class Windows:
    """The possible windows of a project: one element for each window in every array.

    Attributes:
        count: Number of steps in which it can be worked on and paid.
        last: The last of them.
        at_once: Whether it can be worked on in the first step of all, step 2.
        count_after: The same as `count` for its follow-on.
        last_after: The same as `last` for its follow-on.
    """

    count: Steps
    last: Steps
    at_once: NDArray[np.bool_]
    count_after: Steps
    last_after: Steps

    @classmethod
    def of(cls, firm: PreparedFirm, project: PreparedProject) -> Self:
        """Return all windows that a decision may name, or the only one of a follow-on."""
        if project.terms.is_follow_on:
            return cls.read([firm.given(project.terms)], firm.steps - 1 - project.late, firm.steps)
        return cls.read(_every(firm), firm.steps - 1, firm.steps)

    @classmethod
    def read(cls, pairs: list[WorkSpans], paid: int, steps: int) -> Self:
        """Return spans as arrays; *paid* is the last step whose work is paid."""
        own = [_paid(span, paid) for span, _ in pairs]
        after = [_paid(span, steps - 2) for _, span in pairs]
        at_once = [span.open and span.first == FIRST for span, _ in pairs]
        ints = [np.array(column) for column in (*zip(*own, strict=True), *zip(*after, strict=True))]
        return cls(ints[0], ints[1], np.array(at_once), ints[2], ints[3])


def _every(firm: PreparedFirm) -> list[WorkSpans]:
    ends = combinations_with_replacement(range(firm.limits.horizon + 1), 2)
    return list(dict.fromkeys(firm.spans(start, end) for start, end in ends))


def _paid(span: WorkSpan, until: int) -> tuple[int, int]:
    """Return the number of paid steps of a span, and the last of them."""
    last = min(span.last, until)
    return (last - span.first + 1, last) if 0 < span.first <= last else (0, until)


@frozen
class ProjectValue:
    """Upper bounds on the revenue of a project less the price of its consultants.

    Attributes:
        absent: If it cannot be worked on in step 2.
        present: If it can, by the number of seats taken in step 2, from 0 on; these cost nothing.
    """

    absent: float
    present: tuple[float, ...]

    @property
    def most(self) -> float:
        """The largest bound of all."""
        return max(self.absent, *self.present)

    def by(self, seated: int | None) -> float:
        """Return the bound for a number of seats taken in step 2, None if it is absent."""
        return self.absent if seated is None else self.present[seated]


def project_value(
    firm: PreparedFirm, project: PreparedProject, gate: float, prices: Prices, windows: Windows
) -> ProjectValue:
    """Return the value of a project and its follow-on; gates open for a chance above *gate*."""
    if _states(firm, project, prices) > STATES:
        return _loosely(firm, project, gate, prices)
    program = StaffingProgram(firm, project, project.terms.extension_probability > gate, prices)
    follows = project.terms.follow_on_probability > gate
    after = program.best(windows.count_after, windows.last_after) if follows else 0.0
    own = program.best(windows.count, windows.last) + after
    idle = program.best(np.maximum(windows.count - 1, 0), windows.last) + after
    seated = [
        program.begun(k, windows.count, windows.last) + after for k in range(1, program.seats + 1)
    ]
    dropped = IMPOSSIBLE if project.terms.is_follow_on else 0.0
    return ProjectValue(
        _largest(own[~windows.at_once], dropped),
        tuple(_largest(figure[windows.at_once]) for figure in (idle, *seated)),
    )


def _states(firm: PreparedFirm, project: PreparedProject, prices: Prices) -> int:
    steps, seats = firm.steps, min(project.terms.consultants, firm.limits.consultants)
    units = min(project.units, steps * seats) + min(project.more, steps * seats)
    return steps * seats * units * (3 if prices.until is None else steps)


def _loosely(
    firm: PreparedFirm, project: PreparedProject, gate: float, prices: Prices
) -> ProjectValue:
    """Return a looser bound that is quick: no work is lost by rounding or waiting.

    A project and its follow-on share the steps. The price that a freed seat returns was paid
    before, except for the seats of step 2.
    """
    terms, dt = project.terms, firm.scenario.dt
    seats = min(terms.consultants, firm.limits.consultants)
    effort = seats * dt * max(0, firm.steps - 2)
    if not terms.extension_probability > gate:
        blocks = 2 if terms.follow_on_probability > gate else 1
        effort = min(effort, blocks * terms.contracted_effort)
    most = effort * max(0.0, terms.billing_rate - prices.step / dt)
    return ProjectValue(most, tuple(most + k * prices.seat for k in range(seats + 1)))


def _largest(figures: Floats, least: float = IMPOSSIBLE) -> float:
    return float(np.max(figures, initial=least))
