"""Upper bound on the work of a founder's staff until the horizon, lower bound on their wages.

The bounds of `relaxation.py` use these two numbers. Its docstring states why they hold for every
policy, but for rounding, which is treated here.

Every stop rounds the progress of every active task to 4 decimals, so a task may get ahead of the
hours worked on it by s = `_STOP_GAIN` at each stop. Stops are paydays, the horizon, completions and
milestones. Let E be the number of completions and milestones so far, g the least share of a task
between two of them, q the least work of any task, P the number of paydays and the horizon, and R
the rates times the hours. The tasks with events are E at most, and have had work of E g q at least,
less the gain of P + E stops each; hence E (g q - (P + E) s) <= R. E grows one by one from 0, so it
never reaches the first whole number that breaks this. An event may also be early by the
microseconds to which its plan is rounded, which is subtracted from g q.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from models.yc_bench.clock import CompanyClock
from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.checks import decimal, stored
from models.yc_bench.rules.specs import EmployeeSpec

#: Units of work that a task gains at most when its progress is rounded at a stop: half of the last
#: of 4 decimals, and the rounding of doubles of at most `_MOST_UNITS`.
_STOP_GAIN = Fraction(6, 100_000)
_MOST_UNITS = 10**10
#: Hours by which a task is completed too early at most: a microsecond of the plan, and one for the
#: rounding of its seconds to a double.
_PLAN_GAIN_HOURS = Fraction(2, 3_600_000_000)


def most_work(
    params: YCBenchParams, staff: Iterable[EmployeeSpec], least_task: int
) -> Fraction | None:
    """Return units of work, of which the completed tasks of an episode need no more.

    Everybody works at their highest rate in every hour that progress counts. Every task needs
    *least_task* units at least, 1 or more.

    Returns:
        Units; None if tasks are so small that rounding might complete them.
    """
    rates = _rates(params, staff)
    units = rates * _progress_hours(params)
    events = _most_events(params, rates, least_task)
    if events is None:
        return None
    early = rates * _PLAN_GAIN_HOURS
    return units + events * ((_pauses(params) + events) * _STOP_GAIN + early)


def most_stops(params: YCBenchParams, staff: Iterable[EmployeeSpec], least_task: int) -> int | None:
    """Return a number of instants, of which commands are given at no more; None as `most_work`."""
    events = _most_events(params, _rates(params, staff), least_task)
    return None if events is None else 1 + _pauses(params) + events


def least_wages(params: YCBenchParams, staff: Sequence[EmployeeSpec]) -> int:
    """Return cents of salaries that no founder avoids who ends the year without being bankrupt.

    Salaries never fall. A payday on the first of a month is skipped by a resume whose event falls
    on its very microsecond, unless `payday_at_horizon`, and is not counted. Nor is any where an
    episode may end before the horizon without a bankruptcy.
    """
    idles = params.idle_limit > 0 and not params.idle_year_passes
    if params.max_turns or idles:
        return 0
    clock = CompanyClock.of(params)
    certain = [
        payday
        for payday in clock.paydays(clock.horizon - 1)
        if params.payday_at_horizon or clock.moment(payday).day > 1
    ]
    return len(certain) * sum(who.salary_cents for who in staff)


def _progress_hours(params: YCBenchParams) -> Fraction:
    """Return the hours of progress from the start to the horizon, the last day's evening too."""
    hours, clock = params.progress_hours, CompanyClock.of(params)
    return Fraction(
        hours.between(clock.opened, clock.horizon) * (hours.closes - hours.opens), hours.length
    )


def _pauses(params: YCBenchParams) -> int:
    """Return the stops that no task causes: the paydays and the horizon."""
    clock = CompanyClock.of(params)
    return 1 + sum(1 for _ in clock.paydays(clock.horizon))


def _rates(params: YCBenchParams, staff: Iterable[EmployeeSpec]) -> Fraction:
    """Return the sum of the highest rates that the staff can have, units an hour."""
    cap = Fraction(stored(decimal(params.skill_rate_max), 4))
    return sum((max(cap, *map(Fraction, who.rates.values())) for who in staff), Fraction(0))


def _most_events(params: YCBenchParams, rates: Fraction, least_task: int) -> int | None:
    """Return a number that completions and milestones never reach; None if none is found."""
    units = rates * _progress_hours(params)
    if units > _MOST_UNITS:
        return None
    shares = [Fraction(0), *map(Fraction, params.task_progress_milestones), Fraction(1)]
    least = min(later - earlier for earlier, later in pairwise(shares))
    step, pauses, events = least_task * least - rates * _PLAN_GAIN_HOURS, _pauses(params), 0
    while (net := step - (pauses + events) * _STOP_GAIN) > 0:
        if events * net > units:
            return events
        events = max(events + 1, int(units / net) + 1)
    return None
