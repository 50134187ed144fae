"""The best course of one project when consultants have a price.

A recursion over the steps a project has left, its staff and the units left: in each step any number
may join, all deliver a unit while there is one, and the gate says what happens when there is none.
"""

from functools import cached_property

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from policies.heuristics.edt.fast import Firm, Work

__all__ = ["Course", "Floats", "Prices", "Steps"]

Floats = NDArray[np.float64]
Steps = NDArray[np.int64]


@frozen
class Prices:
    """What consultants cost the projects.

    Attributes:
        step: Money for a step of a consultant, at least 0.
        seat: Money for a seat taken, and for one who is free again, at least 0.
        until: The last step with a price of seats; none for all steps.
    """

    step: float
    seat: float = 0.0
    until: int | None = None

    def free(self, step: Steps, steps: int) -> Floats:
        """Return the price of a seat in some steps; after the last that counts it is 0."""
        last = steps - 1 if self.until is None else min(self.until, steps - 1)
        price: Floats = np.where(step <= last, self.seat, 0.0)
        return price

    def released(self, step: Steps, steps: int) -> Floats:
        """Return what each of the staff brings when a project is completed in some steps.

        They lose the next step and can take a seat in the one after.
        """
        lost = self.step * (step + 1 < steps)
        return self.free(step + 2, steps) - lost


@frozen(eq=False)
class Course:
    """The best course of one project, by steps it has and the last of them.

    Without an end to the price of seats, only the distance of the deadline from the end of the
    game matters, and only if it is 0 or 1: then no more than three deadlines are told apart.
    """

    firm: Firm
    work: Work
    extends: bool
    prices: Prices
    _solved: tuple[Floats, Floats] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_solved", self._solve())

    @cached_property
    def seats(self) -> int:
        """Seats that can be taken."""
        return min(self.work.terms.consultants, self.firm.limits.consultants)

    @cached_property
    def more(self) -> int:
        """Units of an extension, 0 for none."""
        return min(self.work.more, self.firm.steps * max(1, self.seats)) if self.extends else 0

    @cached_property
    def units(self) -> int:
        """Units of the contracted work, as far as they can be delivered."""
        return min(self.work.units, self.firm.steps * max(1, self.seats))

    @cached_property
    def deadlines(self) -> Steps:
        """Deadlines told apart, the latest first."""
        last = self.firm.steps - 1
        kinds = 3 if self.prices.until is None else max(3, last)
        return np.arange(last, last - kinds, -1)

    def best(self, count: Steps, last: Steps) -> Floats:
        """Return the worth when all seats that are taken are paid for."""
        return self._solved[0][count, self._column(last)]

    def begun(self, seated: int, count: Steps, last: Steps) -> Floats:
        """Return the worth when so many seats are taken in the first step, at no price."""
        figure: Floats = self._solved[1][seated, count, self._column(last)]
        return figure

    def _column(self, last: Steps) -> Steps:
        column: Steps = np.minimum(self.firm.steps - 1 - last, len(self.deadlines) - 1)
        return column

    def _solve(self) -> tuple[Floats, Floats]:
        """Work backwards from the deadline: for each number of steps left, staff and units left."""
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
        """Go back one step; notes in `begun` what it is worth to start here with some staff."""
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
        """Return what a step of work and all that follows are worth, by deadline and units left."""
        gain, then, over = self._moves[staff]
        figure = ahead[:, then]
        figure[:, over] = leave[:, None] * staff
        return figure + gain

    @cached_property
    def _moves(self) -> list[tuple[Floats, Steps, NDArray[np.bool_]]]:
        return [self._move(staff) for staff in range(self.seats + 1)]

    def _move(self, staff: int) -> tuple[Floats, Steps, NDArray[np.bool_]]:
        """Return gain, next state and whether the project is over, by state before a step.

        A state is a number of units left: 1 to `units` of the contract, then those of an extension.
        """
        terms, dt = self.work.terms, self.firm.scenario.dt
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
