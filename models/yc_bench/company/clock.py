"""The company's clock: microseconds since the start to dates, working hours and paydays (SPEC 6).

Hours become decimals and microseconds again as in SPEC section 5.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import count, takewhile

from attrs import evolve

from desim.core.calendar import Calendar, first_business_day, month_start
from models.yc_bench.params import PublicRules

_HOUR = Decimal(3_600_000_000)
_SECONDS = Decimal(3600)
_MICROSECOND = timedelta(microseconds=1)
#: No plan goes beyond this year; nor, to save the arithmetic, beyond so many working hours.
_LAST_YEAR, _MOST_HOURS = 9000, Decimal(10**9)

#: Each report names the next payday, whose date is that of a month in every episode.
_first_weekday = lru_cache(1_000)(first_business_day)


class CompanyClock:
    """Dates and working hours of ticks, from `opened`, the opening hour of the first day."""

    def __init__(self, rules: PublicRules, opened: int = 0) -> None:
        calendar = Calendar(rules.start - opened * _MICROSECOND)
        self.start, self.opened, self.horizon = rules.start, opened, calendar.ticks(rules.end)
        self._evenings = rules.evening_progress
        self._open = evolve(rules.open_hours, calendar=calendar)
        self._progress = evolve(rules.progress_hours, calendar=calendar)
        self._last = calendar.ticks(datetime(_LAST_YEAR + 1, 1, 1)) - 1  # noqa: DTZ001 (no zones)
        self._day_hours = Decimal(self._open.closes - self._open.opens)
        self._evening_day_hours = Decimal(self._progress.closes - self._progress.opens)
        # Every reply of one instant writes the same few ticks again.
        self._texts: dict[int, str] = {}

    def moment(self, tick: int) -> datetime:
        """Return the date and time of a tick."""
        return self.start + (tick - self.opened) * _MICROSECOND

    def tick(self, moment: datetime) -> int:
        """Return the tick of a date and time."""
        return (moment - self.start) // _MICROSECOND + self.opened

    def text(self, tick: int) -> str:
        """Write a tick as reports do: ISO, microseconds only where there are any."""
        if tick not in self._texts:
            self._texts[tick] = self.moment(tick).isoformat()
        return self._texts[tick]

    def text_of(self, tick: int | None) -> str | None:
        """Write a tick that may be None for what has not happened."""
        return None if tick is None else self.text(tick)

    def add_hours(self, tick: int, hours: Decimal) -> int | None:
        """Return when so many open hours, counted from the next opening, have passed.

        The tick may be a closing hour; it is None beyond the year 9000. Whole days are skipped at
        once, which rounds as walking them one by one does: decimals that shrink are exact.
        """
        opened = self._open.next_open(tick)
        today = Decimal(self._open.closing(opened) - opened) / _HOUR
        if hours > _MOST_HOURS:
            return None
        if hours > today:
            hours -= today
            days = int(hours // self._day_hours)
            hours -= days * self._day_hours
            if not hours:
                days, hours = days - 1, self._day_hours
            opened = self._open.opening(opened, days + 1)
        done = opened + _microseconds(hours)
        return done if done <= self._last else None

    def hours_between(self, first: int, last: int) -> Decimal:
        """Return the hours of progress from one tick to a later one.

        With evening progress every weekday but the last counts until midnight, and days are added
        in order, since 28 digits round. Otherwise progress counts the open hours.
        """
        if last <= first:
            return Decimal(0)
        if not self._evenings:
            return Decimal(self._open.between(first, last)) / _HOUR
        full = self._progress
        last_day = full.midnight(last - 1)
        # A last day that is over counts until midnight like the others.
        ending = full if last == full.midnight(last) else self._open
        if first >= last_day:
            return Decimal(ending.between(first, last)) / _HOUR
        next_day = full.midnight(first) + full.day
        hours = Decimal(full.between(first, next_day)) / _HOUR
        for _ in range(full.between(next_day, last_day) // full.length):
            hours += self._evening_day_hours
        return hours + Decimal(ending.between(last_day, last)) / _HOUR

    def paydays(self, until: int) -> Iterator[int]:
        """Return the opening hour of each month's first weekday after the start, up to a tick."""
        paydays = (self._payday(month_start(self.start, months)) for months in count())
        return (each for each in takewhile(until.__ge__, paydays) if each > self.opened)

    def month_ends(self, until: int) -> Iterator[int]:
        """Return the last microsecond of each month from the first on, up to a tick."""
        next_months = (month_start(self.start, months) for months in count(1))
        ends = (self.tick(datetime.combine(month, time())) - 1 for month in next_months)
        return takewhile(until.__ge__, ends)

    def next_payroll(self, tick: int) -> int:
        """Return the payday of the next calendar month, even if this month's is still ahead."""
        return self._payday(month_start(self.moment(tick), 1))

    def _payday(self, month: date) -> int:
        return self.tick(datetime.combine(_first_weekday(month), self.start.time()))


def _microseconds(hours: Decimal) -> int:
    """Round hours to microseconds as a timedelta rounds a double of seconds."""
    seconds = float(hours * _SECONDS)
    whole = int(seconds)
    return whole * 1_000_000 + round((seconds - whole) * 1e6)
