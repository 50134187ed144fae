"""The most a single project can be worth when consultants have a price: the parts of a bound.

Let a step of a consultant cost `Prices.step`, whether they work, wait at a project without work or
lose the step behind a completed one. In addition who takes a seat in step t pays `Prices.free[t]`,
and who can take another from step t on is paid as much; these prices never rise with time. Projects
are then independent of each other, and the best course of each comes from a recursion over its
remaining steps, its staff and its remaining units: in each step any number may join.
"""

from itertools import combinations_with_replacement
from typing import Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from models.edt.decision import Window
from policies.heuristics.edt.course import Course, Floats, Prices, Steps
from policies.heuristics.edt.fast import Firm, Spell, Spells, Work

__all__ = ["FIRST", "Windows", "Worth", "worth"]

#: A recursion over more states (deadlines, steps, seats, units) gives way to a looser figure.
STATES = 20_000_000

#: The first step in which anybody can work: a project that starts in step 1 is ready behind it.
FIRST = 2

IMPOSSIBLE = -np.inf


@frozen(eq=False)
class Windows:
    """The windows a project may be given, one place each in every array.

    Attributes:
        count: Steps in which it can be worked on and paid.
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
    def of(cls, firm: Firm, work: Work) -> Self:
        """Read a project's windows: those of a decision, or the only one it has."""
        if work.terms.is_follow_on:
            return cls.read([firm.given(work.terms)], firm.steps - 1 - work.late, firm.steps)
        return cls.read(_every(firm), firm.steps - 1, firm.steps)

    @classmethod
    def read(cls, pairs: list[Spells], paid: int, steps: int) -> Self:
        """Put spells into arrays; `paid` is the last step whose work is."""
        own = [_paid(spell, paid) for spell, _ in pairs]
        after = [_paid(spell, steps - 2) for _, spell in pairs]
        at_once = [spell.open and spell.first == FIRST for spell, _ in pairs]
        ints = [np.array(column) for column in (*zip(*own, strict=True), *zip(*after, strict=True))]
        return cls(ints[0], ints[1], np.array(at_once), ints[2], ints[3])


def _every(firm: Firm) -> list[Spells]:
    ends = combinations_with_replacement(range(firm.limits.horizon + 1), 2)
    return list(dict.fromkeys(firm.spells(Window(start, end)) for start, end in ends))


def _paid(spell: Spell, until: int) -> tuple[int, int]:
    """Return how many steps of a spell are paid, and the last of them."""
    last = min(spell.last, until)
    return (last - spell.first + 1, last) if 0 < spell.first <= last else (0, until)


@frozen
class Worth:
    """The most a project brings beyond what its consultants cost, by what happens in step 2.

    Attributes:
        absent: It cannot be worked on in that step.
        present: It can, and so many consultants take a seat, from 0 on; those pay no seat price.
    """

    absent: float
    present: tuple[float, ...]

    @property
    def most(self) -> float:
        """Whatever happens."""
        return max(self.absent, *self.present)

    def by(self, seated: int | None) -> float:
        """Return the worth for a number of seats taken in step 2, none if it is absent."""
        return self.absent if seated is None else self.present[seated]


def worth(firm: Firm, work: Work, gate: float, prices: Prices, windows: Windows) -> Worth:
    """Return the worth of a project and its follow-on.

    Args:
        firm: The scenario, prepared.
        work: The project.
        gate: What a probability must exceed.
        prices: Of consultants.
        windows: Of the project.
    """
    if _states(firm, work, prices) > STATES:
        return _loosely(firm, work, gate, prices)
    course = Course(firm, work, work.terms.extension_probability > gate, prices)
    follows = work.terms.follow_on_probability > gate
    after = course.best(windows.count_after, windows.last_after) if follows else 0.0
    own = course.best(windows.count, windows.last) + after
    idle = course.best(np.maximum(windows.count - 1, 0), windows.last) + after
    seated = [
        course.begun(k, windows.count, windows.last) + after for k in range(1, course.seats + 1)
    ]
    dropped = IMPOSSIBLE if work.terms.is_follow_on else 0.0
    return Worth(
        _largest(own[~windows.at_once], dropped),
        tuple(_largest(figure[windows.at_once]) for figure in (idle, *seated)),
    )


def _states(firm: Firm, work: Work, prices: Prices) -> int:
    steps, seats = firm.steps, min(work.terms.consultants, firm.limits.consultants)
    units = min(work.units, steps * seats) + min(work.more, steps * seats)
    return steps * seats * units * (3 if prices.until is None else steps)


def _loosely(firm: Firm, work: Work, gate: float, prices: Prices) -> Worth:
    """Return a worth that is quick and at least as high: no work is lost by rounding or waiting.

    A project and its follow-on share the steps. What is paid back for seats was paid before, but
    for those of step 2.
    """
    terms, dt = work.terms, firm.scenario.dt
    seats = min(terms.consultants, firm.limits.consultants)
    effort = seats * dt * max(0, firm.steps - 2)
    if not terms.extension_probability > gate:
        blocks = 2 if terms.follow_on_probability > gate else 1
        effort = min(effort, blocks * terms.contracted_effort)
    most = effort * max(0.0, terms.billing_rate - prices.step / dt)
    return Worth(most, tuple(most + k * prices.seat for k in range(seats + 1)))


def _largest(figures: Floats, least: float = IMPOSSIBLE) -> float:
    return float(np.max(figures, initial=least))
