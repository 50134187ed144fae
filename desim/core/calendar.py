"""Dates of the ticks of a clock, business hours, months; without time zones and holidays."""

from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

from attrs import evolve, field, frozen
from attrs.validators import ge, instance_of, le

from desim.schema.validators import whole
from desim.short_repr import short_repr

#: Monday to Friday.
WEEKDAYS = (0, 1, 2, 3, 4)

_DAYS, _HOURS = 7, 24


@frozen
class Calendar:
    """Dates of ticks.

    Attributes:
        start: When tick 0 is, without a time zone: with one, a day could have 23 hours.
        tick: Its length; above zero.

    >>> Calendar(datetime(2025, 1, 1), timedelta(weeks=1)).moment(2)
    datetime.datetime(2025, 1, 15, 0, 0)
    """

    start: datetime = field(validator=instance_of(datetime))
    tick: timedelta = field(default=timedelta(microseconds=1), validator=instance_of(timedelta))

    @start.validator
    def _without_zone(self, _: object, value: datetime) -> None:
        _require(value.tzinfo is None, f"start={value}", "it has no time zone")

    @tick.validator
    def _lasting(self, _: object, value: timedelta) -> None:
        _require(value > timedelta(0), f"tick={short_repr(value)}", "it is longer than zero")

    def moment(self, tick: int) -> datetime:
        """Return when a tick is; an OverflowError is raised outside the years 1 to 9999."""
        return self.start + self.tick * tick

    def ticks(self, span: datetime | timedelta) -> int:
        """Return the tick of a moment, or the ticks of a length of time; a ValueError if broken."""
        length = span if isinstance(span, timedelta) else span - self.start
        # Exact, because a timedelta is a whole number of microseconds.
        whole, rest = divmod(length, self.tick)
        _require(not rest, f"{span}", f"it is no whole number of ticks of {self.tick}")
        return whole

    def last_tick(self, moment: datetime) -> int:
        """Return the last tick that is not after a moment; below 0 before the start."""
        return (moment - self.start) // self.tick

    def starting(self, start: datetime) -> "Calendar":
        """Return the calendar that begins at or after a moment, at this one's time of day."""
        begin = datetime.combine(start.date(), self.start.time())
        return evolve(self, start=begin if begin >= start else begin + timedelta(days=1))


@frozen
class Months:
    """Dates of ticks that are the ends of calendar months: the instants at which the next begin.

    Attributes:
        start: A day of the first month, without a time zone; its time of day is not used.
        opening: The tick at the start of the first month: -1 where tick 0 is at its end.
        ticks: Ticks of a month, at least 1; those inside a month divide it evenly.

    >>> Months(datetime(2025, 1, 1)).moment(1)
    datetime.datetime(2025, 2, 1, 0, 0)
    """

    start: datetime = field(validator=instance_of(datetime))
    opening: int = 0
    ticks: int = 1

    def moment(self, tick: int) -> datetime:
        """Return when a tick is; a ValueError is raised outside the years 1 to 9999."""
        months, part = divmod(tick - self.opening, self.ticks)
        begin = self._month(months)
        return begin + (self._month(months + 1) - begin) * part / self.ticks if part else begin

    def last_tick(self, moment: datetime) -> int:
        """Return the last tick that is not after a moment."""
        months = months_between(self.start.date(), moment.date())
        first = self.opening + months * self.ticks
        inside = range(first + 1, first + self.ticks)
        return max((tick for tick in inside if self.moment(tick) <= moment), default=first)

    def starting(self, start: datetime) -> "Months":
        """Return the calendar whose first month is the first to begin at or after a moment."""
        begun = start != datetime.combine(start.date().replace(day=1), time())
        return evolve(self, start=datetime.combine(month_start(start.date(), int(begun)), time()))

    def _month(self, months: int) -> datetime:
        return datetime.combine(month_start(self.start.date(), months), time())


#: Maps the ticks of a model to dates and times; a later tick is later.
TickCalendar = Calendar | Months


def _require(holds: object, given: str, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{given} was given; {wanted}")


@frozen
class BusinessHours:
    """The same opening hours on some days of every week; closed at the closing hour itself.

    All instants and lengths are whole ticks of the calendar; instants may be before tick 0.

    Attributes:
        calendar: An hour must be a whole number of its ticks, and so must the start's time of day.
        opens: Hour of the day, 0 to 23.
        closes: Hour of the day after `opens`, up to 24.
        weekdays: Working days, each 0 for Monday to 6 for Sunday, increasing.

    >>> office = BusinessHours(Calendar(datetime(2025, 1, 3), timedelta(hours=1)))
    >>> office.calendar.moment(office.add(0, 10))  # from Friday's opening: Monday's second hour
    datetime.datetime(2025, 1, 6, 11, 0)
    """

    calendar: Calendar
    opens: int = field(default=9, validator=[whole, ge(0)])
    closes: int = field(default=17, validator=[whole, le(_HOURS)])
    weekdays: tuple[int, ...] = field(default=WEEKDAYS)

    @closes.validator
    def _after_opening(self, _: object, value: int) -> None:
        _require(value > self.opens, f"closes={value}", f"it is after opens={self.opens}")

    @weekdays.validator
    def _in_a_week(self, _: object, days: Any) -> None:
        fits = days and list(days) == sorted({*days} & {*range(_DAYS)})
        _require(fits, f"weekdays={short_repr(days)}", "they are days from 0 to 6, increasing")

    # Cached, because models look these up at every event.

    @cached_property
    def _hour(self) -> int:
        return self.calendar.ticks(timedelta(hours=1))

    @cached_property
    def day(self) -> int:
        """Ticks of a day and night."""
        return _HOURS * self._hour

    @cached_property
    def length(self) -> int:
        """Ticks of a working day."""
        return self._closing - self._opening

    @cached_property
    def _opening(self) -> int:
        return self.opens * self._hour

    @cached_property
    def _closing(self) -> int:
        return self.closes * self._hour

    @cached_property
    def _offset(self) -> int:
        # Ticks from the Monday, 00:00, of the first week to tick 0.
        start = self.calendar.start
        monday = datetime.combine(start - timedelta(days=start.weekday()), time())
        return self.calendar.ticks(start - monday)

    @cached_property
    def _before(self) -> tuple[int, ...]:
        """The number of working days before each day of a week."""
        return tuple(sum(each < day for each in self.weekdays) for day in range(_DAYS))

    def midnight(self, tick: int) -> int:
        """Return the midnight at which the day of an instant begins."""
        return tick - (tick + self._offset) % self.day

    def next_open(self, tick: int) -> int:
        """Return the instant itself if it is open, else the next opening."""
        day, clock = divmod(tick + self._offset, self.day)
        if day % _DAYS in self.weekdays and self._opening <= clock < self._closing:
            return tick
        return self._instant(self._worked(tick))

    def closing(self, tick: int) -> int:
        """Return the closing hour of an instant's day, also of a day off; may be before it."""
        return self.midnight(tick) + self._closing

    def opening(self, tick: int, days: int = 0) -> int:
        """Return the opening `days` after that of an instant's day, or of the next working day."""
        number = self._number((tick + self._offset) // self.day) + days
        return self._instant(number * self.length)

    def add(self, tick: int, ticks: int) -> int:
        """Return the instant at which so many working ticks, 0 or more, have passed."""
        if ticks < 0:
            raise ValueError(f"{ticks} working ticks were given; there are 0 or more")
        if not ticks:
            return self.next_open(tick)
        # The last tick decides the day; without the 1, a full day would end at the next opening.
        return self._instant(self._worked(tick) + ticks - 1) + 1

    def between(self, first: int, last: int) -> int:
        """Return the working ticks from one instant to another; negative if that is earlier."""
        return self._worked(last) - self._worked(first)

    def _number(self, day: int) -> int:
        # The working days before a day, from the first Monday on.
        week, weekday = divmod(day, _DAYS)
        return week * len(self.weekdays) + self._before[weekday]

    def _instant(self, worked: int) -> int:
        number, rest = divmod(worked, self.length)
        week, which = divmod(number, len(self.weekdays))
        day = week * _DAYS + self.weekdays[which]
        return day * self.day + self._opening + rest - self._offset

    def _worked(self, tick: int) -> int:
        # From the first Monday's opening to an instant.
        day, clock = divmod(tick + self._offset, self.day)
        whole = self._number(day) * self.length
        # Before the opening, and on a day off, only the earlier days count.
        if day % _DAYS not in self.weekdays or clock <= self._opening:
            return whole
        return whole + min(clock, self._closing) - self._opening


def month_start(day: date, months: int = 0) -> date:
    """Return the first day of the month so many months after that of `day`."""
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)


def month_end(day: date, months: int = 0) -> date:
    """Return the last day of the month so many months after that of `day`."""
    return month_start(day, months + 1) - timedelta(days=1)


def months_between(first: date, last: date) -> int:
    """Return by how many calendar months the month of *last* is after that of *first*."""
    return 12 * (last.year - first.year) + last.month - first.month


def first_business_day(day: date, weekdays: tuple[int, ...] = WEEKDAYS) -> date:
    """Return the first working day of the month of `day`."""
    first = month_start(day)
    for days in range(_DAYS):
        if (first.weekday() + days) % _DAYS in weekdays:
            return first + timedelta(days=days)
    raise ValueError(f"weekdays={short_repr(weekdays)} was given; they are days from 0 to 6")
