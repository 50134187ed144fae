"""The best staffing of one project when consultants have a price, by dynamic programming.

The state is the number of steps until the deadline, the staff and the units of work that remain. In
each step any number of consultants may join and each delivers a unit; when no units remain, the
project is extended if its gate is open, and otherwise completed.
"""

from functools import cached_property

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from policies.informed.edt.prepared_firm import PreparedFirm, PreparedProject

Floats = NDArray[np.float64]
Steps = NDArray[np.int64]


@frozen
class Prices:
    """The prices that a project pays for consultants.

    Attributes:
        step: Money for a step of a consultant, at least 0.
        seat: Money that a taken seat costs and a freed one returns, at least 0.
        until: The last step with a price of seats; None for all steps.
    """

    step: float
    seat: float = 0.0
    until: int | None = None

    def free(self, step: Steps, steps: int) -> Floats:
        """Return the price of a seat in each step; it is 0 in steps that do not count."""
        last = steps - 1 if self.until is None else min(self.until, steps - 1)
        price: Floats = np.where(step <= last, self.seat, 0.0)
        return price

    def released(self, step: Steps, steps: int) -> Floats:
        """Return the value of each consultant of a project that is completed, by step.

        The consultant loses the next step and can take a seat in the one after.
        """
        lost = self.step * (step + 1 < steps)
        return self.free(step + 2, steps) - lost


@frozen(eq=False)
class StaffingProgram:
    """The value of the best staffing of one project, by its number of steps and its deadline.

    Without a last step for the price of seats a deadline matters only through its distance from the
    end of the run, and only if that is 0 or 1: three deadlines represent all.

    Attributes:
        firm: The prepared scenario.
        project: The project.
        extends: Whether its extension gate is open.
        prices: The prices of consultants.
    """

    firm: PreparedFirm
    project: PreparedProject
    extends: bool
    prices: Prices
    _solved: tuple[Floats, Floats] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_solved", self._solve())

    @cached_property
    def seats(self) -> int:
        """Seats that can be taken."""
        return min(self.project.terms.consultants, self.firm.limits.consultants)

    @cached_property
    def more(self) -> int:
        """Units of an extension, 0 without one."""
        return min(self.project.more, self.firm.steps * max(1, self.seats)) if self.extends else 0

    @cached_property
    def units(self) -> int:
        """Units of the contracted work, as far as they can be delivered."""
        return min(self.project.units, self.firm.steps * max(1, self.seats))

    @cached_property
    def deadlines(self) -> Steps:
        """The deadlines that represent all, the latest first."""
        last = self.firm.steps - 1
        kinds = 3 if self.prices.until is None else max(3, last)
        return np.arange(last, last - kinds, -1)

    def best(self, count: Steps, last: Steps) -> Floats:
        """Return the value of projects with *count* steps up to *last*; every seat is paid for."""
        return self._solved[0][count, self._column(last)]

    def begun(self, seated: int, count: Steps, last: Steps) -> Floats:
        """Return the same with *seated* seats taken in the first step, which cost nothing."""
        figure: Floats = self._solved[1][seated, count, self._column(last)]
        return figure

    def _column(self, last: Steps) -> Steps:
        column: Steps = np.minimum(self.firm.steps - 1 - last, len(self.deadlines) - 1)
        return column

    def _solve(self) -> tuple[Floats, Floats]:
        """Compute the values backwards from the deadline."""
        steps, seats, width = self.firm.steps, self.seats, self.units + self.more
        best = np.zeros((steps, len(self.deadlines)))
        begun = np.zeros((seats + 1, steps, len(self.deadlines)))
        leave = self.prices.released(self.deadlines, steps)
        ahead = [np.repeat(leave[:, None] * staff, width, axis=1) for staff in range(seats + 1)]
        for left in range(1, steps):
            at = self.deadlines - left + 1
            price = self.prices.free(at, steps)[:, None]
            ahead = self._step(ahead, price, self.prices.released(at, steps), begun[:, left])
            best[left] = ahead[0][:, self.units - 1]
        return best, begun

    def _step(
        self, ahead: list[Floats], price: Floats, leave: Floats, begun: Floats
    ) -> list[Floats]:
        """Return the values one step earlier; *begun* receives those of a first step, by staff."""
        here = list(ahead)
        for staff in range(self.seats, 0, -1):
            figure = self._worked(ahead[staff], staff, leave)
            begun[staff] = figure[:, self.units - 1]
            joined = here[staff + 1] - price if staff < self.seats else figure
            here[staff] = np.maximum(figure, joined)
        if self.seats:
            here[0] = np.maximum(ahead[0], here[1] - price)
        return here

    def _worked(self, ahead: Floats, staff: int, leave: Floats) -> Floats:
        """Return the value of a step of work and all that follows, by deadline and units."""
        gain, then, over = self._moves[staff]
        figure = ahead[:, then]
        figure[:, over] = leave[:, None] * staff
        return figure + gain

    @cached_property
    def _moves(self) -> list[tuple[Floats, Steps, NDArray[np.bool_]]]:
        return [self._move(staff) for staff in range(self.seats + 1)]

    def _move(self, staff: int) -> tuple[Floats, Steps, NDArray[np.bool_]]:
        """Return gain, next state and whether the project is completed, by state before a step.

        A state is a number of remaining units: 1 to `units` of the contract, then 1 to `more` of an
        extension.
        """
        terms, dt = self.project.terms, self.firm.scenario.dt
        worn = np.r_[np.arange(self.units)[::-1], np.arange(self.more)[::-1]]
        block = np.r_[
            np.full(self.units, terms.contracted_effort), np.full(self.more, terms.extension_effort)
        ]
        left = np.r_[np.arange(self.units), np.arange(self.more)] + 1
        effort = np.minimum(staff * dt, np.maximum(0.0, block - worn * dt))
        finished = left <= staff
        states = np.arange(self.units + self.more)
        then = np.where(finished, len(states) - 1, states - staff)
        gain = effort * terms.billing_rate - self.prices.step * staff
        return gain, then, finished & (self.more == 0)
