"""Monitors of SimPy's resources: exact figures of small stories, and no effect on any."""

from collections.abc import Generator
from typing import Any

import pytest
import simpy

from desim import World
from desim.core.points import Points, Recorded
from desim.errors import UsageError
from desim.monitoring import Monitor, monitor

Story = Generator[Any, Any, None]


def visit(
    world: World,
    desk: simpy.Resource,
    log: list[tuple[str, str, int]],
    name: str,
    at: int,
    ticks: int,
    *,
    patience: int | None = None,
    **request: Any,
) -> Story:
    """Come, wait at most so long, be served, and write down how it ended."""
    yield world.timeout(at)
    with desk.request(**request) as turn:
        try:
            yield turn if patience is None else turn | world.timeout(patience)
            if not turn.triggered:
                log.append((name, "left", world.now))
                return
            yield world.timeout(ticks)
            log.append((name, "served", world.now))
        except simpy.Interrupt:
            log.append((name, "interrupted", world.now))


def preemptive(watched: bool) -> tuple[World, list[Any], Monitor | None]:  # noqa: FBT001 (a case)
    """Play two desks, five customers: one is preempted, one leaves."""
    world = World()
    world.points = Points() if watched else None
    desk = simpy.PreemptiveResource(world, 2)
    seen = monitor(desk, "desk") if watched else None
    log: list[Any] = []
    for name, at, ticks, priority, patience in [
        ("a", 0, 10, 2, None),
        ("b", 0, 10, 2, None),
        ("c", 1, 5, 3, 4),
        ("d", 2, 5, 1, None),
        ("e", 3, 5, 2, None),
    ]:
        story = visit(world, desk, log, name, at, ticks, priority=priority, patience=patience)
        world.process(story)
    world.run()
    return world, log, seen


def test_a_preemptive_resource_of_two_units() -> None:
    """Every figure by hand: 2 in use until 10, 1 until 12; c waits 1 to 5, e 3 to 7."""
    world, log, seen = preemptive(watched=True)
    assert log == [
        ("a", "interrupted", 2),
        ("c", "left", 5),
        ("d", "served", 7),
        ("b", "served", 10),
        ("e", "served", 12),
    ]
    assert seen is not None
    assert seen.metrics() == pytest.approx(
        {
            "desk.utilisation": 22 / 24,
            "desk.in_use_mean": 22 / 12,
            "desk.in_use_max": 2,
            "desk.queue_mean": (4 + 4) / 12,
            "desk.queue_max": 2,
            "desk.requests": 4,
            "desk.cancelled": 1,
            "desk.waiting": 0,
            "desk.wait_mean": 4 / 4,
            "desk.wait_p95": 0.15 * 0 + 0.85 * 4,
            "desk.wait_max": 4,
            "desk.preempted": 1,
        }
    )
    assert isinstance(world.points, Points)
    found = world.points.read()
    assert found["desk.in_use"] == Recorded((0, 7, 10, 12), (2, 2, 1, 0))
    assert found["desk.queue"] == Recorded((0, 1, 2, 3, 5, 7), (0, 1, 1, 2, 1, 0))


def test_a_monitor_changes_nothing() -> None:
    """The same story with the same ends, and no event more on the calendar."""
    watched, plain = preemptive(watched=True), preemptive(watched=False)
    assert watched[1] == plain[1]
    assert next(watched[0]._eid) == next(plain[0]._eid)


@pytest.mark.parametrize("kind", [simpy.Resource, simpy.PriorityResource], ids=lambda k: k.__name__)
def test_a_queued_process_that_is_interrupted_has_left(kind: type[simpy.Resource]) -> None:
    """It waits no longer, and is counted apart from those that were served."""
    world = World()
    desk = kind(world, 1)
    seen = monitor(desk, "desk")
    log: list[Any] = []
    world.process(visit(world, desk, log, "a", 0, 10))
    second = world.process(visit(world, desk, log, "b", 1, 10))

    def interrupt() -> Story:
        yield world.timeout(6)
        second.interrupt()

    world.process(interrupt())
    world.run(until=20)
    assert log == [("b", "interrupted", 6), ("a", "served", 10)]
    assert (seen.puts.cancelled, seen.puts.waits.count, seen.preempted) == (1, 1, 0)
    assert (seen.puts.length.mean, seen.utilisation) == (5 / 20, 10 / 20)
    assert list(desk.queue) == list(desk.put_queue) == []


def test_a_warm_up_leaves_the_beginning_out() -> None:
    """Of levels, waits and counts; who waits at its end counts from there on."""
    world = World()
    desk = simpy.Resource(world, 1)
    seen = monitor(desk, "desk", warm_up=10)
    log: list[Any] = []
    for at, patience in [(0, None), (1, None), (2, None), (3, 4), (15, 1)]:
        world.process(visit(world, desk, log, "x", at, 8, patience=patience))
    world.run(until=24)
    # Served 0 to 8, 8 to 16, 16 to 24; the third waits 2 to 16; two leave, at 7 and at 16.
    assert (seen.level.ticks, seen.utilisation) == (14, 1)
    assert (seen.puts.waits.count, seen.puts.waits.mean, seen.puts.cancelled) == (1, 14, 1)
    assert seen.puts.length.mean == (6 + 1) / 14


def test_nested_requests_of_which_one_is_preempted_and_one_gives_up() -> None:
    """By hand, after a warm-up of 2: the desk is taken until 10, the machine in turns until 10."""
    world = World()
    desk, machine = simpy.PriorityResource(world), simpy.PreemptiveResource(world)
    at_desk, at_machine = monitor(desk, "desk", warm_up=2), monitor(machine, "m", warm_up=2)
    log: list[tuple[str, int]] = []

    def visitor(name: str, priority: int, at: int, ticks: int, patience: int = 99) -> Story:
        yield world.timeout(at)
        with desk.request(priority=priority) as turn:
            yield turn | world.timeout(patience)
            if turn.triggered:
                with machine.request(priority=priority) as use:
                    try:
                        yield use
                        yield world.timeout(ticks)
                    except simpy.Interrupt:
                        log.append((name + " interrupted", world.now))
                        return
            log.append((name, world.now))

    def urgent() -> Story:
        yield world.timeout(5)
        with machine.request(priority=-1) as use:
            yield use
            yield world.timeout(2)

    for story in (
        visitor("a", 1, 0, 4),
        visitor("b", 1, 1, 3),
        visitor("c", 0, 2, 2),
        visitor("d", 1, 2, 2, patience=1),
        urgent(),
    ):
        world.process(story)
    world.run(until=20)
    # c has the machine from 4 to 5, the urgent one to 7; b holds the desk from 5 and works 7 to 10.
    assert log == [("d", 3), ("a", 4), ("c interrupted", 5), ("b", 10)]
    found = at_desk.metrics() | at_machine.metrics()
    assert found["desk.utilisation"] == found["m.utilisation"] == pytest.approx(8 / 18)
    assert found["desk.queue_mean"] == pytest.approx((3 + 2 + 1) / 18)
    assert (found["desk.requests"], found["desk.cancelled"], found["desk.wait_mean"]) == (2, 1, 3)
    assert found["m.queue_mean"] == pytest.approx(2 / 18)
    assert (found["m.requests"], found["m.preempted"], found["m.cancelled"]) == (3, 1, 0)


def test_a_container() -> None:
    """Level and both queues over time; an infinite one has no utilisation."""
    world = World()
    tank = simpy.Container(world, capacity=10, init=4)
    seen = monitor(tank, "tank")

    def story() -> Story:
        yield tank.get(3)  # 1 left
        yield world.timeout(2)
        wait = tank.get(5)  # until 6
        yield world.timeout(4)
        yield tank.put(8)  # 9, of which 5 leave
        yield wait
        yield world.timeout(4)
        with tank.put(9) as late:  # does not fit, and is cancelled
            yield late | world.timeout(5)

    world.process(story())
    world.run()
    found = seen.metrics()
    assert world.now == 15
    assert found["tank.level_mean"] == pytest.approx((6 * 1 + 9 * 4) / 15)
    assert found["tank.utilisation"] == pytest.approx((6 * 1 + 9 * 4) / 150)
    assert (found["tank.puts"], found["tank.put_cancelled"], found["tank.put_wait_mean"]) == (
        1,
        1,
        0,
    )
    assert (found["tank.gets"], found["tank.get_wait_max"], found["tank.get_wait_mean"]) == (
        2,
        4,
        2,
    )
    assert found["tank.get_queue_mean"] == pytest.approx(4 / 15)
    assert found["tank.put_queue_mean"] == pytest.approx(5 / 15)
    assert found["tank.level_max"] == 4
    assert monitor(simpy.Container(world), "sea").utilisation is None


@pytest.mark.parametrize(
    ("kind", "items", "taken"),
    [
        (simpy.Store, [3, 1, 2], [3, 1, 2]),
        (simpy.PriorityStore, [3, 1, 2], [1, 2, 3]),
        (simpy.FilterStore, [3, 1, 2], [3, 1, 2]),
    ],
)
def test_stores_of_all_kinds(kind: type[simpy.Store], items: list[int], taken: list[int]) -> None:
    """Three items at 0, of two places; one is taken at 2, 4 and 6."""
    world = World()
    store = kind(world, capacity=2)
    seen = monitor(store, "store")
    got = []

    def fill() -> Story:
        for item in items:
            yield store.put(item)

    def empty() -> Story:
        for _ in items:
            yield world.timeout(2)
            got.append((yield store.get()))
        yield store.get()

    world.process(fill())
    world.process(empty())
    world.run(until=10)
    assert got == (taken if kind is not simpy.PriorityStore else [1, 2, 3])
    assert seen.level.mean == (2 * 2 + 2 * 2 + 2 * 1 + 4 * 0) / 10
    assert (seen.puts.waits.count, seen.puts.waits.largest) == (3, 2)
    assert seen.puts.length.mean == pytest.approx(0.2)
    assert (seen.gets.waits.count, seen.gets.length.current) == (3, 1)
    assert seen.gets.length.mean == pytest.approx(0.4)


def test_the_class_of_a_resource_stays() -> None:
    """Also of a user's, whose queue keeps an order of its own and has a bound."""

    class Desk(simpy.PriorityResource):
        pass

    world = World()
    desk = Desk(world, 1)
    desk.put_queue.maxlen = 2  # type: ignore[attr-defined] # SimPy's sorted queue has one
    order: list[int] = []
    log: list[Any] = []
    monitor(desk, "desk")
    for priority in (3, 1, 2):
        world.process(visit(world, desk, log, str(priority), priority, 10, priority=-priority))
    world.run()
    assert type(desk) is Desk
    assert [name for name, _, _ in log] == ["1", "3", "2"]
    held = desk.request()
    for _ in range(2):
        desk.request()
    with pytest.raises(RuntimeError, match="Queue is full"):
        desk.request()
    assert held.triggered
    assert order == []


def test_a_monitor_begun_late_counts_from_now() -> None:
    """Those that wait already arrive now."""
    world = World()
    desk = simpy.Resource(world, 1)
    log: list[Any] = []
    for _ in range(2):
        world.process(visit(world, desk, log, "x", 0, 10))
    world.run(until=4)
    seen = monitor(desk, "desk")
    world.run(until=20)
    assert (seen.puts.waits.mean, seen.level.mean, seen.puts.length.mean) == (6, 1, 6 / 16)


def test_an_episode_of_no_time_has_no_means() -> None:
    """None, which is plain JSON, and no exception."""
    found = monitor(simpy.Resource(World()), "desk").metrics()
    assert found["desk.utilisation"] is None
    assert found["desk.wait_p95"] is None
    assert found["desk.requests"] == 0


def test_what_cannot_be_monitored_is_refused() -> None:
    """Another object, a plain environment, a second monitor, a bad name; nothing changes."""
    desk: Any = simpy.Resource(World())
    for resource, name, text in [
        (object(), "desk", "object cannot be monitored"),
        (simpy.Resource(simpy.Environment()), "desk", "'desk' does not belong to a World"),
        (desk, "Desk 1", "a name is words in snake_case"),
    ]:
        with pytest.raises(UsageError, match=text):
            monitor(resource, name)
    with pytest.raises(UsageError, match="at least 0"):
        monitor(desk, "desk", warm_up=-1)
    assert type(desk.put_queue) is list
    monitor(desk, "desk")
    with pytest.raises(UsageError, match="is monitored already"):
        monitor(desk, "again")
