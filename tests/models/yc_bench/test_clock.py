"""The clock against a literal transcription of SPEC section 6."""

# ruff: noqa: DTZ001 (the calendar has no time zones)

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.yc_snapshot import stamp

from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.params import PublicRules

YEAR = 365 * 86_400_000_000

clock = CompanyClock(PublicRules())

instants = st.one_of(
    st.integers(0, 2 * YEAR),
    st.builds(
        lambda hours, offset: hours * 3_600_000_000 + offset,
        st.integers(0, 9_000),
        st.sampled_from([-1, 0, 0, 1]),
    ),
)
hours = st.one_of(
    st.decimals(0, 5_000, places=3),
    st.integers(0, 600).map(Decimal),
    st.builds(lambda work, rate: Decimal(work) / rate, st.integers(1, 25_000), st.decimals(1, 40)),
)


def at(text: str) -> int:
    """Return the tick of a date and time."""
    return clock.tick(datetime.fromisoformat(text))


# -- the naive clock: SPEC 6, sentence by sentence -------------------------------------------------


def hours_of(span: timedelta) -> Decimal:
    """Hours are decimals: str() of the double number of seconds, divided by 3600."""
    return Decimal(str(span.total_seconds())) / Decimal(3600)


def on(moment: datetime, hour: int) -> datetime:
    """Return an hour of a moment's date."""
    return moment.replace(hour=hour, minute=0, second=0, microsecond=0)


def naive_next_open(moment: datetime) -> datetime:
    """T if open; before 09:00 that day's; else 09:00 on the next weekday."""
    if moment.weekday() < 5 and 9 <= moment.hour < 18:
        return moment
    if moment.weekday() < 5 and moment.hour < 9:
        return on(moment, 9)
    moment = on(moment, 9) + timedelta(days=1)
    while moment.weekday() >= 5:
        moment += timedelta(days=1)
    return moment


def naive_add_hours(moment: datetime, left: Decimal) -> datetime:
    """Walk through the days; a timedelta rounds the double of seconds."""
    now = naive_next_open(moment)
    if left == 0:
        return now
    while True:
        closing = on(now, 18)
        available = hours_of(closing - now)
        if left <= available:
            return now + timedelta(seconds=float(left * 3600))
        left -= available
        now = naive_next_open(closing)


def pieces(first: datetime, last: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Cut at midnights."""
    while first < last:
        midnight = on(first, 0) + timedelta(days=1)
        yield first, min(midnight, last)
        first = midnight


def naive_hours_between(first: datetime, last: datetime) -> Decimal:
    """Add (hi-lo) of every piece that starts on a weekday, if positive."""
    total = Decimal(0)
    for begin, end in pieces(first, last):
        if begin.weekday() < 5:
            low, high = max(begin, on(begin, 9)), min(end, on(end, 18))
            if high > low:
                total += hours_of(high - low)
    return total


def naive_paydays(first: datetime, last: datetime) -> list[datetime]:
    """All with first < payday <= last; the cursor's quirk at the end is the caller's."""
    found, cursor = [], first.replace(day=1)
    while cursor < last:
        payday = cursor
        while payday.weekday() >= 5:
            payday += timedelta(days=1)
        if first < payday <= last:
            found.append(payday)
        cursor = (cursor + timedelta(days=31)).replace(day=1)
    return found


# -- the same, exactly -----------------------------------------------------------------------------


@given(instants)
def test_next_open_is_the_specified_one(tick: int) -> None:
    """Open hours are 9 to 18 on weekdays."""
    opened = clock.add_hours(tick, Decimal(0))
    assert opened is not None
    assert clock.moment(opened) == naive_next_open(clock.moment(tick))


@given(instants, hours)
@example(0, Decimal(0))
@example(0, Decimal(9))
@example(0, Decimal("9.000000000000000000000000001"))
@example(0, Decimal(4_500))
@example(0, Decimal("5.210266450416666666666666667"))  # half a microsecond in doubles
@example(1, Decimal("44.99999999999999999999999999"))
def test_added_hours_are_the_specified_ones(tick: int, many: Decimal) -> None:
    """Jumping over whole days gives the very microsecond that walking through them gives."""
    found = clock.add_hours(tick, many)
    assert found is not None
    assert clock.moment(found) == naive_add_hours(clock.moment(tick), many)


@given(instants, instants)
@example(0, 15 * 3_600_000_000)
@example(7_475_389_851, 9 * 86_400_000_000 + 27_687_062_238)  # the order of adding shows
def test_hours_between_are_the_specified_ones(a: int, b: int) -> None:
    """Every digit of the decimal is that of the pieces added in order."""
    a, b = min(a, b), max(a, b)
    assert clock.hours_between(a, b) == naive_hours_between(clock.moment(a), clock.moment(b))


def test_evenings_count_but_the_last() -> None:
    """The examples of the text: 15 hours a full day; 6 from 18:00; the last cut at 18:00."""
    wednesday = at("2025-01-01T09:00")
    assert clock.hours_between(wednesday, at("2025-01-02T12:00")) == 18
    assert clock.hours_between(at("2025-01-01T18:00"), at("2025-01-02T00:00")) == 6
    assert clock.hours_between(wednesday, at("2025-01-01T23:00")) == 9
    assert clock.hours_between(at("2025-01-03T20:00"), at("2025-01-06T09:00")) == 4
    assert clock.hours_between(wednesday, wednesday) == 0
    assert clock.hours_between(at("2025-01-02T12:00"), wednesday) == 0


@given(instants, hours)
def test_without_evenings_progress_keeps_to_the_plan(tick: int, many: Decimal) -> None:
    """What is planned in open hours is what passes until then, to the microsecond."""
    fair = CompanyClock(PublicRules(evening_progress=False))
    end = fair.add_hours(tick, many)
    assert end is not None
    assert abs(fair.hours_between(tick, end) - many) <= Decimal(1) / 3_600_000_000


def test_the_worked_example() -> None:
    """SPEC 10.4: 1054 units by four people, and the evenings that come with them."""
    planned = clock.add_hours(0, Decimal(1054) / Decimal("20.4659"))
    assert planned is not None
    assert stamp(clock, planned) == "2025-01-08 15:30:01.081799"
    assert f"{clock.hours_between(0, planned):.4f}" == "81.5003"


def test_other_hours_have_other_days() -> None:
    """A day from 8 to 24 has 16 hours; its evening is none."""
    long = CompanyClock(PublicRules(workday_start_hour=8, workday_end_hour=24))
    assert long.text(0) == "2025-01-01T08:00:00"
    assert long.text(long.add_hours(0, Decimal(16)) or 0) == "2025-01-02T00:00:00"
    assert long.text(long.add_hours(0, Decimal(17)) or 0) == "2025-01-02T09:00:00"
    assert long.hours_between(0, long.tick(datetime(2025, 1, 2, 9))) == 17


# -- texts and paydays -----------------------------------------------------------------------------


def test_paydays_of_the_default_year() -> None:
    """The first weekday of each month but the first; one at the horizon is in the list."""
    days = [(2, 3), (3, 3), (4, 1), (5, 1), (6, 2), (7, 1), (8, 1), (9, 1), (10, 1), (11, 3)]
    expected = [f"2025-{month:02}-{day:02}T09:00:00" for month, day in [*days, (12, 1)]]
    assert [clock.text(each) for each in clock.paydays(clock.horizon - 1)] == expected
    assert [clock.text(each) for each in clock.paydays(clock.horizon)][11:] == [
        "2026-01-01T09:00:00"
    ]


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.integers(1, YEAR))
def test_paydays_are_the_specified_ones(start: date, until: int) -> None:
    """From any start, which is no payday itself."""
    other = CompanyClock(PublicRules(start_date=start.isoformat()))
    found = [other.moment(each) for each in other.paydays(until)]
    expected = naive_paydays(other.moment(0), other.moment(until))
    last = other.moment(until)
    first_at_nine = (last.day, last.hour, last - on(last, 9)) == (1, 9, timedelta(0))
    assert found == expected + [last] * (first_at_nine and last.weekday() < 5)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2025-03-01T12:00", "2025-04-01T09:00:00"),
        ("2025-01-31T23:59", "2025-02-03T09:00:00"),
        ("2025-12-31T09:00", "2026-01-01T09:00:00"),
    ],
)
def test_the_next_payroll_is_next_month(now: str, then: str) -> None:
    """Even while this month's is still ahead."""
    assert clock.text(clock.next_payroll(at(now))) == then


def test_a_leap_day_has_an_anniversary() -> None:
    """29 February plus one year is 28 February."""
    leap = CompanyClock(PublicRules(start_date="2024-02-29"))
    assert leap.text(leap.horizon) == "2025-02-28T09:00:00"
    four = CompanyClock(PublicRules(start_date="2024-02-29", horizon_years=4))
    assert four.text(four.horizon) == "2028-02-29T09:00:00"
