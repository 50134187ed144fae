"""The time of a trace: whole microseconds, which never stand still from one event to the next."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from desim.core.model import Model

#: The last microsecond that a reader of JSON holds exactly; 285 years.
MAX_TIME = 2**53 - 1

#: Microseconds of a tick that has no length.
_MILLISECOND = 1_000

_MICROSECOND = dt.timedelta(microseconds=1)


class TraceClock:
    """Maps the ticks of a model to the microseconds of its trace.

    A model with a calendar or dates is drawn on it, one microsecond for one microsecond; of
    any other a tick is a millisecond. What happens at one instant is drawn in its order, a
    microsecond apart.

    Args:
        model: The model that is traced.

    Attributes:
        unit: The meaning of a microsecond of the trace, as a sentence.
        now: The time of the last event; above that of the event before.
    """

    def __init__(self, model: Model[Any]) -> None:
        time = model.time
        self._date: Callable[[int], Any] | None
        self._date = time.calendar.moment if time.calendar else time.date
        self._origin: Any = self._date and self._date(0)
        self._tick: int | None = None
        self._base = 0
        self.now = -1
        self.unit = f"{_MILLISECOND} microseconds are 1 tick, which has no length of its own"
        if self._date is not None:
            self.unit = f"1 microsecond is 1 microsecond of the calendar; 0 is {self._origin}"

    def advance(self, tick: int) -> int:
        """Return the time of a further event, at a tick that is not before that of the last.

        Raises:
            OverflowError: The time is later than a trace can show.
        """
        if tick != self._tick:
            self._tick, self._base = tick, self._microseconds(tick)
        self.now = max(self._base, self.now + 1)
        if self.now > MAX_TIME:
            raise OverflowError(f"t={tick} is {self.now} microseconds after the start")
        return self.now

    def _microseconds(self, tick: int) -> int:
        if (date := self._date) is None:
            return tick * _MILLISECOND
        try:
            length: dt.timedelta = date(tick) - self._origin
        except ValueError as fault:  # a date after year 9999
            raise OverflowError(str(fault)) from None
        return length // _MICROSECOND
