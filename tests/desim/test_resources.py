"""Resources with working hours: who is served when, and who is interrupted."""

from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from desim import BusinessHours, Calendar, World
from desim.errors import UsageError
from desim.resources import ShiftEnded, Shifts, WorkingHours

Story = Generator[Any, Any, None]
Log = list[tuple[int, str, str]]
#: Hours from a Friday on.
FRIDAY = Calendar(datetime.fromisoformat("2025-01-03"), timedelta(hours=1))
KINDS = [simpy.Resource, simpy.PriorityResource, simpy.PreemptiveResource]


def visit(world: World, desk: simpy.Resource, log: Log, name: str, **plan: Any) -> Story:
    """Come, wait, be served for some ticks, and write down what happened when."""
    yield world.timeout(plan["at"])
    with desk.request(*plan.get("request", ())) as turn:
        try:
            yield turn
            log.append((world.now, name, "begins"))
            yield world.timeout(plan["ticks"])
            log.append((world.now, name, "ends"))
        except simpy.Interrupt as interrupt:
            log.append((world.now, name, type(interrupt.cause).__name__))


def office(kind: Any, capacity: int, visits: Any, hours: Any = None, **how: Any) -> Log:
    """Play visits at a desk until tick 100 and return what happened."""
    world, log = World(), Log()
    desk = kind(world, capacity)
    if hours is not None:
        WorkingHours(desk, hours, **how)
    for name, plan in visits.items():
        world.process(visit(world, desk, log, name, **plan))
    world.run(until=100)
    return log


#: Open from 0 to 10 with two units, closed to 15, one unit to 20, and again.
SHIFTS = [(10, 2), (5, 0), (5, 1)]
FOUR = {
    "a": {"at": 0, "ticks": 10},
    "b": {"at": 4, "ticks": 8},
    "c": {"at": 5, "ticks": 4},
    "d": {"at": 10, "ticks": 3},
}


@pytest.mark.parametrize("kind", KINDS)
def test_those_in_service_finish(kind: Any) -> None:
    """By hand: b works on from 10 to 12; c and d wait for the shift of one unit at 15."""
    assert office(kind, 1, FOUR, SHIFTS) == [
        (0, "a", "begins"),
        (4, "b", "begins"),
        (10, "a", "ends"),
        (12, "b", "ends"),
        (15, "c", "begins"),
        (19, "c", "ends"),
        (19, "d", "begins"),
        (22, "d", "ends"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_those_in_service_are_interrupted(kind: Any) -> None:
    """By hand: a ends at the tick at which the shift ends, and only b is cut."""
    assert office(kind, 1, FOUR, SHIFTS, ends="preempt") == [
        (0, "a", "begins"),
        (4, "b", "begins"),
        (10, "a", "ends"),
        (10, "b", "ShiftEnded"),
        (15, "c", "begins"),
        (19, "c", "ends"),
        (19, "d", "begins"),
        (22, "d", "ends"),
    ]


@pytest.mark.parametrize(
    ("kind", "requests", "cut"),
    [
        (simpy.Resource, [(), (), ()], "bc"),
        (simpy.PriorityResource, [(3,), (1,), (2,)], "ca"),
        (simpy.PreemptiveResource, [(1,), (3,), (2,)], "cb"),
    ],
)
def test_the_least_important_lose_their_unit(kind: Any, requests: Any, cut: str) -> None:
    """A plain resource cuts the last grants; the more important are interrupted first."""
    visits = {
        name: {"at": 0, "ticks": 50, "request": request}
        for name, request in zip("abc", requests, strict=True)
    }
    log = office(kind, 3, visits, [(10, 3), (90, 1)], ends="preempt")
    assert [name for _, name, what in log if what == "ShiftEnded"] == list(cut)


def test_no_unit_is_taken_while_all_open_ones_are_over() -> None:
    """A preempting request waits, as the unit of its victim would be closed; at 12 it takes one."""
    visits = {
        "a": {"at": 0, "ticks": 12, "request": (2,)},
        "b": {"at": 0, "ticks": 50, "request": (3,)},
        "boss": {"at": 11, "ticks": 5, "request": (1,)},
    }
    assert office(simpy.PreemptiveResource, 2, visits, [(10, 2), (90, 1)]) == [
        (0, "a", "begins"),
        (0, "b", "begins"),
        (12, "a", "ends"),
        (12, "b", "Preempted"),
        (12, "boss", "begins"),
        (17, "boss", "ends"),
    ]
    closed = office(simpy.PreemptiveResource, 2, visits, [(11, 2), (9, 0), (80, 2)], ends="preempt")
    assert (20, "boss", "begins") in closed


def test_the_cause_says_since_when_the_unit_was_used() -> None:
    """It is a `Preempted` of SimPy without a process that has taken the unit."""
    world, found = World(), []
    desk = simpy.Resource(world, 1)
    WorkingHours(desk, [(10, 1), (10, 0)], ends="preempt")

    def work() -> Story:
        yield world.timeout(3)
        with desk.request() as turn:
            try:
                yield turn
                yield world.timeout(9)
            except simpy.Interrupt as interrupt:
                found.append(interrupt.cause)

    world.process(work())
    world.run(until=30)
    (cause,) = found
    assert isinstance(cause, ShiftEnded)
    assert (cause.by, cause.usage_since, cause.resource) == (None, 3, desk)


def test_business_hours() -> None:
    """The capacity of the resource holds from nine to five on weekdays."""
    hours = BusinessHours(FRIDAY)
    visits = {"a": {"at": 0, "ticks": 10}, "b": {"at": 12, "ticks": 3}}
    assert office(simpy.Resource, 1, visits, hours) == [
        (9, "a", "begins"),
        (19, "a", "ends"),
        (81, "b", "begins"),
        (84, "b", "ends"),
    ]


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ([(5, 1), (5, 1)], [None]),
        ([(5, 1), (3, 1), (2, 0)], [8, 10, 18, 20]),
        ([(5, 0), (5, 2), (5, 0)], [5, 10, 20, 25]),
        (BusinessHours(FRIDAY, 0, 24), [24, 72, 192]),
        (
            BusinessHours(FRIDAY, 0, 24, (*range(7),)),
            [None],
        ),
    ],
)
def test_the_changes_of_capacity(given: Any, changes: list[int | None]) -> None:
    """Shifts of one capacity in a row are one; the capacity differs on both sides of a change."""
    table, tick = Shifts(given, 1), 0
    for change in changes:
        assert table.next_change(tick) == change
        if change is not None:
            assert table.capacity(change - 1) != table.capacity(change)
            tick = change


VISITS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 15), st.integers(0, 3)), min_size=1, max_size=12
)
SHIFT_LISTS = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), min_size=1, max_size=4)


def plans(visits: Any, kind: Any) -> dict[str, dict[str, Any]]:
    """Return visits by name; a plain resource has no priorities."""
    return {
        f"v{number}": {"at": at, "ticks": ticks, "request": () if kind is KINDS[0] else (first,)}
        for number, (at, ticks, first) in enumerate(visits)
    }


@given(VISITS, st.integers(1, 3), st.sampled_from(KINDS), st.sampled_from(["finish", "preempt"]))
def test_constant_working_hours_change_nothing(
    visits: Any, capacity: int, kind: Any, ends: str
) -> None:
    """Every event is that of the resource without them."""
    constant = [(3, capacity), (4, capacity)]
    mine = office(kind, 1, plans(visits, kind), constant, ends=ends)
    assert mine == office(kind, capacity, plans(visits, kind))


@given(VISITS, SHIFT_LISTS, st.sampled_from(KINDS), st.sampled_from(["finish", "preempt"]))
def test_no_more_units_are_in_use_than_are_open(
    visits: Any, shifts: Any, kind: Any, ends: Literal["finish", "preempt"]
) -> None:
    """Except for those who finish, which begin no use; and no unit idles while a request waits."""
    world = World()
    desk = kind(world, 3)
    WorkingHours(desk, shifts, ends=ends)
    for name, plan in plans(visits, kind).items():
        world.process(visit(world, desk, [], name, **plan))
    table, before = Shifts(shifts, 1), set[Any]()
    while world.peek() < 100:
        world.step()
        users, opened = set(desk.users), table.capacity(world.now)
        assert users <= before or len(users) <= opened
        if world.peek() > world.now:
            assert ends == "finish" or len(users) <= opened
            assert len(users) >= opened or not desk.queue
        before = users


@pytest.mark.parametrize(
    ("hours", "how", "text"),
    [
        ([], {}, r"\[\] was given as working hours; a list of \(ticks, capacity\)"),
        (7, {}, "7 was given as working hours"),
        ([(0, 1)], {}, r"\(0, 1\) was given as a shift; it is \(ticks, capacity\)"),
        ([(5, -1)], {}, "was given as a shift"),
        ([(5, True)], {}, "was given as a shift"),
        ([5], {}, "5 was given as a shift"),
        ([(5, 1)], {"ends": "stop"}, "ends='stop' was given; Possible: finish, preempt"),
    ],
)
def test_wrong_hours(hours: Any, how: Any, text: str) -> None:
    """The text says what was given and what is possible."""
    with pytest.raises(UsageError, match=text):
        WorkingHours(simpy.Resource(World(), 1), hours, **how)


def test_wrong_resources() -> None:
    """Working hours are for units, of a World, and one list of shifts holds them."""
    world = World()
    container: Any = simpy.Container(world)
    with pytest.raises(UsageError, match="Container has no working hours; a simpy Resource can"):
        WorkingHours(container, [(5, 1)])
    with pytest.raises(UsageError, match="does not belong to a World"):
        WorkingHours(simpy.Resource(simpy.Environment()), [(5, 1)])
    hours, crowd = BusinessHours(FRIDAY, 9, 17), simpy.Resource(world, float("inf"))
    with pytest.raises(UsageError, match="a resource of capacity inf was given"):
        WorkingHours(crowd, hours)
    WorkingHours(crowd, [(5, 1)])
    desk = simpy.Resource(world)
    WorkingHours(desk, [(5, 1)])
    with pytest.raises(UsageError, match="has working hours already"):
        WorkingHours(desk, [(5, 1)])
