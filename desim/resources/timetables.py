"""Capacity by tick: a repeating list of shifts, or business hours."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

from desim.core.calendar import BusinessHours
from desim.errors import UsageError
from desim.short_repr import short_repr

_WEEK = 7


@runtime_checkable
class Timetable(Protocol):
    """The capacity of a resource over time, such as one with holidays."""

    def capacity(self, tick: int) -> int:
        """Return the capacity at a tick, at least 0."""
        ...

    def next_change(self, tick: int) -> int | None:
        """Return the first later tick with another capacity; None if it never changes again."""
        ...


def timetable(given: Any, capacity: float) -> Timetable:
    """Return the timetable of what `WorkingHours` takes; *capacity* is that of business hours."""
    if isinstance(given, BusinessHours):
        if not isinstance(capacity, int):
            raise UsageError(
                f"a resource of capacity {short_repr(capacity)} was given; with business hours it "
                "has a whole number of units"
            )
        return _Office(given, capacity)
    if isinstance(given, Timetable):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and given:
        return _Shifts(tuple(map(_shift, given)))
    raise UsageError(
        f"{short_repr(given)} was given as working hours; a list of (ticks, capacity), "
        "BusinessHours or a Timetable are possible"
    )


def _shift(given: Any) -> tuple[int, int]:
    if isinstance(given, tuple | list) and [*map(type, given)] == [int, int]:
        ticks, capacity = given
        if ticks >= 1 and capacity >= 0:
            return ticks, capacity
    raise UsageError(
        f"{short_repr(given)} was given as a shift; it is (ticks, capacity), whole numbers of at "
        "least 1 and 0"
    )


class _Shifts:
    """Shifts that repeat from tick 0 on, each with its ticks and its capacity."""

    def __init__(self, shifts: tuple[tuple[int, int], ...]) -> None:
        self._shifts = shifts
        self._ends = [*accumulate(ticks for ticks, _ in shifts)]

    def capacity(self, tick: int) -> int:
        return self._shifts[self._place(tick)][1]

    def next_change(self, tick: int) -> int | None:
        first = self._place(tick)
        end = tick - tick % self._ends[-1] + self._ends[first]
        for ticks, capacity in (self._shifts * 2)[first + 1 : first + len(self._shifts)]:
            if capacity != self._shifts[first][1]:
                return end
            end += ticks
        return None

    def _place(self, tick: int) -> int:
        return bisect_right(self._ends, tick % self._ends[-1])


@frozen
class _Office:
    """So many units during business hours, and none outside them."""

    hours: BusinessHours
    units: int

    def capacity(self, tick: int) -> int:
        return self.units if self.hours.next_open(tick) == tick else 0

    def next_change(self, tick: int) -> int | None:
        if (opening := self.hours.next_open(tick)) > tick:
            return opening
        closing = self.hours.closing(tick)
        # A day of 24 hours ends at the opening of the next, if that is a working day.
        for _ in range(_WEEK):
            if self.hours.next_open(closing) > closing:
                return closing
            closing = self.hours.closing(closing)
        return None
