"""Parameters of time: office hours, paydays and the horizon (SPEC 6 and 9)."""

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from attrs import field, frozen
from attrs.validators import ge, instance_of, le

from desim.core.calendar import BusinessHours, Calendar
from desim.schema.validators import whole
from desim.short_repr import short_repr
from models.yc_bench.rules.checks import SWITCH

#: Years in which a run may start; dates end with the year 9999, and a horizon is 100 years away.
_FIRST_YEAR, _LAST_YEAR = 1900, 3000
_MIDNIGHT = 24
_HOUR = timedelta(hours=1)


@frozen(kw_only=True, slots=False)
class OfficeHours:
    """When work is done and when the run ends.

    Attributes:
        start_date: ISO date of the first day; the clock starts at its opening hour.
        horizon_years: Years until the run ends, 1 to 100.
        workday_start_hour: Opening hour, 0 to 23.
        workday_end_hour: Closing hour, 1 to 24, after the opening.
        evening_progress: Whether progress counts every full weekday until midnight, as published;
            plans never do.
        payday_at_horizon: Whether a payday at the very horizon is paid.
        resume_stops_at_paydays: Whether each payday ends a resume.
        bankruptcy_is_queued: Whether a bankruptcy by payroll is also an event of the next resume.
    """

    start_date: str = field(default="2025-01-01", validator=instance_of(str))
    horizon_years: int = field(default=1, validator=[whole, ge(1), le(100)])
    workday_start_hour: int = field(default=9, validator=[whole, ge(0), le(23)])
    workday_end_hour: int = field(default=18, validator=[whole, ge(1), le(24)])
    evening_progress: bool = field(default=True, validator=SWITCH)
    payday_at_horizon: bool = field(default=False, validator=SWITCH)
    resume_stops_at_paydays: bool = field(default=True, validator=SWITCH)
    bankruptcy_is_queued: bool = field(default=True, validator=SWITCH)

    @start_date.validator
    def _a_date(self, _: object, value: str) -> None:
        try:
            year = date.fromisoformat(value).year
        except ValueError:
            year = 0
        if not _FIRST_YEAR <= year <= _LAST_YEAR:
            raise ValueError(
                f"start_date={short_repr(value)} was given; it is a date such as 2025-01-01"
            )

    @workday_end_hour.validator
    def _after_opening(self, _: Any, value: int) -> None:
        if value <= self.workday_start_hour:
            raise ValueError(
                f"workday_end_hour={value} was given; it is after workday_start_hour="
                f"{self.workday_start_hour}"
            )

    @property
    def start(self) -> datetime:
        """The opening hour of the first day, which is tick 0."""
        return datetime.combine(date.fromisoformat(self.start_date), time(self.workday_start_hour))

    @property
    def end(self) -> datetime:
        """The horizon: the same date and time some years later.

        A run that starts on 29 February ends on 28 February of a year that has no such day.
        """
        start, year = self.start, self.start.year + self.horizon_years
        try:
            return start.replace(year=year)
        except ValueError:
            return start.replace(year=year, day=28)

    @property
    def open_hours(self) -> BusinessHours:
        """The hours that plans count, Monday to Friday, in ticks of a microsecond."""
        return _weekday_hours(self.start, self.workday_start_hour, self.workday_end_hour)

    @property
    def progress_hours(self) -> BusinessHours:
        """The hours that progress counts on a full weekday: with evenings, until midnight."""
        closes = _MIDNIGHT if self.evening_progress else self.workday_end_hour
        return _weekday_hours(self.start, self.workday_start_hour, closes)

    @property
    def progress_day_hours(self) -> int:
        """Hours that progress counts on a full weekday."""
        return self.progress_hours.closes - self.progress_hours.opens

    def progress_between(self, first: datetime, last: datetime) -> float:
        """Return the hours of full weekdays between two instants; 0 if the second is not later.

        `CompanyClock.hours_between` is exact and stops at the closing hour of the last day.
        """
        hours = self.progress_hours
        start, end = hours.calendar.ticks(first), hours.calendar.ticks(last)
        return max(0, hours.between(start, end)) / hours.calendar.ticks(_HOUR)


# Cached here: a value cached on the parameter object itself would be written to records.
@lru_cache(maxsize=64)
def _weekday_hours(start: datetime, opens: int, closes: int) -> BusinessHours:
    return BusinessHours(Calendar(start), opens, closes)
