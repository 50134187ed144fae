"""Dates, business hours and months on a clock of whole ticks."""

# ruff: noqa: DTZ001 (the calendar has no time zones)

import copy
import pickle
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desim.core.calendar import (
    BusinessHours,
    Calendar,
    Months,
    first_business_day,
    month_end,
    month_start,
    months_between,
)

#: Wednesday; ticks of half an hour keep the naive walk short.
HALF_HOURS = Calendar(datetime(2025, 1, 1, 9), timedelta(minutes=30))


def office_of(start: int, hours: set[int], days: set[int]) -> BusinessHours:
    """Build an office whose tick 0 is so many ticks after the first of January."""
    calendar = Calendar(datetime(2025, 1, 1) + start * HALF_HOURS.tick, HALF_HOURS.tick)
    return BusinessHours(calendar, min(hours), max(hours), tuple(sorted(days)))


offices = st.builds(
    office_of,
    st.integers(0, 400),
    st.sets(st.integers(0, 24), min_size=2, max_size=2),
    st.sets(st.integers(0, 6), min_size=1),
)
ticks = st.integers(-1_000, 1_000)


def is_open(office: BusinessHours, tick: int) -> bool:
    """Return whether a tick is open, by its date alone."""
    moment = office.calendar.moment(tick)
    return moment.weekday() in office.weekdays and office.opens <= moment.hour < office.closes


def test_a_tick_is_a_moment_and_back() -> None:
    """A tick is a microsecond by default."""
    calendar = Calendar(datetime(2025, 1, 1, 9))
    assert calendar.moment(3_600_000_001) == datetime(2025, 1, 1, 10, 0, 0, 1)
    assert calendar.ticks(datetime(2025, 1, 1, 8)) == -3_600_000_000
    assert HALF_HOURS.ticks(timedelta(days=1)) == 48


def test_a_moment_between_ticks_is_refused() -> None:
    """A moment between two ticks is refused, not rounded."""
    with pytest.raises(ValueError, match="10:15:00 was given; it is no whole number of ticks"):
        HALF_HOURS.ticks(datetime(2025, 1, 1, 10, 15))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Calendar(datetime(2025, 1, 1, tzinfo=UTC)), "it has no time zone"),
        (lambda: Calendar(datetime(2025, 1, 1), timedelta(0)), "it is longer than zero"),
        (lambda: BusinessHours(HALF_HOURS, 9, 9), "closes=9 was given; it is after opens=9"),
        (lambda: BusinessHours(HALF_HOURS, -1, 9), "'opens' must be >= 0: -1"),
        (lambda: BusinessHours(HALF_HOURS, 9.5, 18), "opens.*9.5"),  # type: ignore[arg-type]
        (lambda: BusinessHours(HALF_HOURS, 9, 25), "'closes' must be <= 24: 25"),
        (lambda: BusinessHours(HALF_HOURS, weekdays=()), "weekdays=.* days from 0 to 6"),
        (lambda: BusinessHours(HALF_HOURS, weekdays=(1, 0)), "increasing"),
        (lambda: BusinessHours(HALF_HOURS, weekdays=(7,)), "days from 0 to 6"),
        (lambda: BusinessHours(HALF_HOURS).add(0, -1), "-1 working ticks were given"),
        (lambda: first_business_day(date(2025, 1, 1), ()), "they are days from 0 to 6"),
    ],
)
def test_wrong_parameters_are_refused(make: Any, text: str) -> None:
    """The error states what was given and what is possible."""
    with pytest.raises(ValueError, match=text):
        make()


@given(offices, ticks)
def test_next_open_is_the_first_open_tick(office: BusinessHours, tick: int) -> None:
    """It is open, and no tick before it is."""
    found = office.next_open(tick)
    assert is_open(office, found)
    assert not any(is_open(office, each) for each in range(tick, found))


@given(offices, ticks, ticks)
def test_working_ticks_are_the_open_ones(office: BusinessHours, a: int, b: int) -> None:
    """Between two instants every open tick counts once; backwards it is negative."""
    a, b = min(a, b), max(a, b)
    counted = sum(is_open(office, each) for each in range(a, b))
    assert office.between(a, b) == counted
    assert office.between(b, a) == -counted


@given(offices, ticks, st.integers(0, 300))
def test_added_ticks_are_worked_and_no_more(office: BusinessHours, tick: int, many: int) -> None:
    """The last tick worked is open, so that a day's work ends at its closing hour."""
    end = office.add(tick, many)
    assert office.between(office.next_open(tick), end) == many
    assert is_open(office, end - 1) if many else end == office.next_open(tick)


@given(offices, ticks, st.integers(0, 20))
def test_openings_follow_each_other_by_working_days(
    office: BusinessHours, tick: int, days: int
) -> None:
    """A later opening is as many working days away; the first is that of the instant's own day."""
    first, later = office.opening(tick), office.opening(tick, days)
    assert first == office.next_open(office.midnight(tick))
    assert office.between(first, later) == days * office.length
    assert is_open(office, later)


def test_the_closing_hour_is_closed() -> None:
    """Friday's closing hour belongs to the weekend."""
    office = BusinessHours(Calendar(datetime(2025, 1, 3, 9), timedelta(hours=1)), 9, 18)
    assert office.closing(0) == 9 == office.add(0, 9)
    assert office.calendar.moment(office.next_open(9)) == datetime(2025, 1, 6, 9)
    assert office.calendar.moment(office.midnight(9)) == datetime(2025, 1, 3)


def test_hours_pass_through_pickle_and_copy() -> None:
    """A model that holds business hours is sent to worker processes."""
    office = BusinessHours(HALF_HOURS, 8, 20)
    assert office.add(0, 5) == 5
    for other in (pickle.loads(pickle.dumps(office)), copy.deepcopy(office)):  # noqa: S301
        assert other == office
        assert other.add(0, 50) == office.add(0, 50)


def test_months_of_a_month_world() -> None:
    """Ticks of one month become dates."""
    first = date(2020, 11, 1)
    assert [month_start(first, tick) for tick in (0, 1, 2, 131)] == [
        date(2020, 11, 1),
        date(2020, 12, 1),
        date(2021, 1, 1),
        date(2031, 10, 1),
    ]
    assert month_end(date(2023, 12, 15), 2) == date(2024, 2, 29)


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-1_000, 1_000))
def test_months_between_undoes_month_start(day: date, months: int) -> None:
    """On any day of the month."""
    assert months_between(day, month_start(day, months)) == months
    assert month_end(day, months) + timedelta(days=1) == month_start(day, months + 1)


def test_the_first_business_day_of_a_month() -> None:
    """It is the first of the month unless that is no working day."""
    months = [date(2025, month, 20) for month in range(1, 13)]
    assert [first_business_day(day).day for day in months] == [1, 3, 3, 1, 1, 2, 1, 1, 1, 1, 3, 1]
    assert first_business_day(date(2025, 1, 1), (0,)) == date(2025, 1, 6)


@pytest.mark.parametrize("opening", [0, -1])
@pytest.mark.parametrize("ticks", [1, 2, 3, 4])
def test_the_last_tick_is_the_way_back_from_the_moment_of_a_month(opening: int, ticks: int) -> None:
    """Also a microsecond before, and before the start."""
    months = Months(datetime(2024, 1, 31), opening, ticks)
    assert months.moment(opening) == datetime(2024, 1, 1)
    assert months.moment(opening + 2 * ticks) == datetime(2024, 3, 1)
    for tick in range(-5, 60):
        moment = months.moment(tick)
        assert months.last_tick(moment) == tick
        assert months.last_tick(moment - timedelta(microseconds=1)) == tick - 1


def test_a_calendar_of_another_start_keeps_the_hour_of_the_day() -> None:
    """A company opens at nine on whatever day it is founded."""
    opening = Calendar(datetime(2025, 1, 1, 9), timedelta(hours=1))
    moved = opening.starting(datetime(2030, 5, 6))
    assert moved.moment(1) == datetime(2030, 5, 6, 10)
    assert moved.last_tick(datetime(2030, 5, 6, 10, 59)) == 1
    assert moved.last_tick(datetime(2030, 5, 6)) == -9


@pytest.mark.parametrize(
    ("calendar", "start", "first"),
    [
        (Calendar(datetime(2025, 1, 1, 9)), datetime(2030, 5, 6), datetime(2030, 5, 6, 9)),
        (Calendar(datetime(2025, 1, 1, 9)), datetime(2030, 5, 6, 9), datetime(2030, 5, 6, 9)),
        (Calendar(datetime(2025, 1, 1, 9)), datetime(2030, 5, 6, 17), datetime(2030, 5, 7, 9)),
        (Months(datetime(2025, 1, 9)), datetime(2030, 5, 1), datetime(2030, 5, 1)),
        (Months(datetime(2025, 1, 1)), datetime(2030, 5, 6), datetime(2030, 6, 1)),
        (Months(datetime(2025, 1, 1)), datetime(2030, 12, 1, 0, 1), datetime(2031, 1, 1)),
        (Months(datetime(2025, 1, 1), -1), datetime(2030, 5, 6), datetime(2030, 7, 1)),
    ],
)
def test_a_calendar_begins_at_the_first_moment_that_is_not_too_early(
    calendar: Calendar | Months, start: datetime, first: datetime
) -> None:
    """At the next opening hour, or with the next whole month."""
    assert calendar.starting(start).moment(0) == first
