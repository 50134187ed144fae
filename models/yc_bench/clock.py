"""The company's clock: microseconds since the start to dates, business hours and paydays.

Source: SPEC section 6, and section 5 for how hours become decimals and back. The arithmetic is on
whole microseconds; days in between are counted, not walked through.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import Self

from attrs import field, frozen

from desim.calendar import BusinessHours, Calendar, first_business_day, month_start
from models.yc_bench import rules

__all__ = ["Clock"]

_HOUR = Decimal(3_600_000_000)
_SECONDS = Decimal(3600)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _MICROSECOND
_WEEKDAYS, _WEEK = 5, 7
#: No plan goes beyond this year; nor, to save the arithmetic, beyond so many working hours.
_LAST_YEAR, _MOST_HOURS = 9000, Decimal(10**9)


@frozen(eq=False)
class Clock:
    """Ticks, which are microseconds since the start, and what the calendar says about them.

    Attributes:
        start: The opening hour of the first day.
        horizon: When the run ends: the same date and time some years later, tick.
        business: Open hours, Monday to Friday.
    """

    start: datetime
    horizon: int
    business: BusinessHours
    _evenings: bool = field(repr=False)
    _monday: int = field(repr=False)
    _opening: int = field(repr=False)
    _closing: int = field(repr=False)
    _last: int = field(repr=False)
    _day_hours: Decimal = field(repr=False)
    _whole_day: Decimal = field(repr=False)

    @classmethod
    def of(cls, game: rules.Calendar) -> Self:
        """Build the clock of a game.

        A run that starts on 29 February ends on 28 February of a year that has no such day.
        """
        opens, closes = game.workday_start_hour, game.workday_end_hour
        start = datetime.combine(date.fromisoformat(game.start_date), time(opens))
        calendar = Calendar(start)
        opening, closing = (calendar.ticks(timedelta(hours=each)) for each in (opens, closes))
        return cls(
            start=start,
            horizon=calendar.ticks(_years_later(start, game.horizon_years)),
            business=BusinessHours(calendar, opens, closes),
            evenings=game.evening_progress,
            monday=start.weekday() * _DAY + opening,
            opening=opening,
            closing=closing,
            last=calendar.ticks(datetime(_LAST_YEAR + 1, 1, 1)) - 1,  # noqa: DTZ001 (no zones)
            day_hours=Decimal(closes - opens),
            whole_day=Decimal(24 - opens),
        )

    def moment(self, tick: int) -> datetime:
        """Return the date and time of a tick."""
        return self.start + tick * _MICROSECOND

    def tick(self, moment: datetime) -> int:
        """Return the tick of a date and time."""
        return (moment - self.start) // _MICROSECOND

    def text(self, tick: int) -> str:
        """Write a tick as reports do: ISO, microseconds only where there are any."""
        return self.moment(tick).isoformat()

    def stamp(self, tick: int) -> str:
        """Write a tick as the published store does: always with six decimals."""
        return self.moment(tick).isoformat(" ", "microseconds")

    def next_open(self, tick: int) -> int:
        """Return the tick itself if it is open, else the next opening."""
        return self.business.next_open(tick)

    def add_hours(self, tick: int, hours: Decimal) -> int | None:
        """Return when so many open hours, counted from the next opening, have passed.

        Whole days are jumped over: hours less 9 are exact in decimals as long as they shrink, so
        only the first day's remainder and the last day's microseconds are rounded, as when days
        are walked through.

        Args:
            tick: From when.
            hours: 0 or more.

        Returns:
            The tick, which may be a closing hour; none beyond the year 9000.
        """
        opened = self.business.next_open(tick)
        today = Decimal(self.business.closing(opened) - opened) / _HOUR
        if hours > _MOST_HOURS:
            return None
        if hours > today:
            hours -= today
            days = int(hours // self._day_hours)
            hours -= days * self._day_hours
            if not hours:
                days, hours = days - 1, self._day_hours
            opened = self.business.opening(opened, days + 1)
        done = opened + _microseconds(hours)
        return done if done <= self._last else None

    def hours_between(self, first: int, last: int) -> Decimal:
        """Return the hours of work from one tick to a later one.

        With evening progress, as published, every weekday but the last counts until midnight:
        each day is a decimal of its own and they are added in order. Otherwise the open hours.

        Returns:
            Hours; 0 where the second tick is not the later one.
        """
        if last <= first:
            return Decimal(0)
        if not self._evenings:
            return Decimal(self.business.between(first, last)) / _HOUR
        day, clock = divmod(first + self._monday, _DAY)
        ending, until = divmod(last + self._monday, _DAY)
        if until:
            until = min(until, self._closing)
        else:  # a last day that is over counts until midnight like the others
            ending, until = ending - 1, _DAY
        clock = max(clock, self._opening)
        if day == ending:
            return _piece(day, clock, until)
        hours = _piece(day, clock, _DAY)
        for _ in range(_weekdays(ending) - _weekdays(day + 1)):
            hours += self._whole_day
        return hours + _piece(ending, self._opening, until)

    def paydays(self, until: int) -> Iterator[int]:
        """Yield the opening hour of each month's first weekday after tick 0, up to a tick."""
        for months in count():
            payday = self._payday(month_start(self.start, months))
            if payday > until:
                return
            if payday > 0:
                yield payday

    def month_ends(self, until: int) -> Iterator[int]:
        """Yield the last microsecond of each month from the first on, up to a tick."""
        for months in count(1):
            ending = self.tick(datetime.combine(month_start(self.start, months), time())) - 1
            if ending > until:
                return
            yield ending

    def next_payroll(self, tick: int) -> int:
        """Return the payday of the next calendar month, even if this month's is still ahead."""
        return self._payday(month_start(self.moment(tick), 1))

    def _payday(self, month: date) -> int:
        return self.tick(datetime.combine(first_business_day(month), self.start.time()))


def _years_later(start: datetime, years: int) -> datetime:
    try:
        return start.replace(year=start.year + years)
    except ValueError:
        return start.replace(year=start.year + years, day=28)


def _weekdays(day: int) -> int:
    """Return how many weekdays lie before a day; the first Monday is day 0."""
    weeks, weekday = divmod(day, _WEEK)
    return weeks * _WEEKDAYS + min(weekday, _WEEKDAYS)


def _piece(day: int, begin: int, end: int) -> Decimal:
    """Return the hours between two times of a day, both ticks, if it is a weekday."""
    if day % _WEEK >= _WEEKDAYS or end <= begin:
        return Decimal(0)
    return Decimal(end - begin) / _HOUR


def _microseconds(hours: Decimal) -> int:
    """Round hours to microseconds as a timedelta rounds a double of seconds."""
    seconds = float(hours * _SECONDS)
    whole = int(seconds)
    return whole * 1_000_000 + round((seconds - whole) * 1e6)
