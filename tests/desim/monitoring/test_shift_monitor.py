"""Monitors of resources with working hours, and of requests with reasons: figures by hand."""

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
import simpy
from attrs import frozen
from support.chrome_trace import events

from desim import Model, Role, World, play
from desim.core.points import Points, Recorded
from desim.core.run import Run
from desim.errors import UsageError
from desim.monitoring import Monitor, monitor, with_reason
from desim.resources import WorkingHours
from desim.tracing.last_events import LastEvents

Story = Generator[Any, Any, None]

#: Two units until 10, none until 15, one until 20.
SHIFTS = [(10, 2), (5, 0), (5, 1)]


def use(world: World, desk: simpy.Resource, at: int, ticks: int, reason: str) -> Story:
    """Use a unit for a reason; without one if it is empty."""
    yield world.timeout(at)
    turn = desk.request()
    with with_reason(turn, reason) if reason else turn:
        try:
            yield turn
            yield world.timeout(ticks)
        except simpy.Interrupt:
            pass


def shop(*, hours_first: bool, warm_up: int = 0, **how: Any) -> tuple[World, Monitor]:
    """Return a desk of three uses after 20 ticks; the third is granted at 15."""
    world = World()
    world.points = Points()
    desk = simpy.Resource(world, 2)
    if hours_first:
        WorkingHours(desk, SHIFTS, **how)
    seen = monitor(desk, "desk", warm_up=warm_up)
    if not hours_first:
        WorkingHours(desk, SHIFTS, **how)
    for at, ticks, reason in [(0, 10, "repair"), (4, 8, ""), (5, 4, "repair")]:
        world.process(use(world, desk, at, ticks, reason))
    world.run(until=world.timeout(20, rank=5))
    return world, seen


@pytest.mark.parametrize("hours_first", [True, False])
def test_utilisation_is_relative_to_the_open_capacity(*, hours_first: bool) -> None:
    """Open are 2 * 10 + 1 * 5 unit ticks; in use 10 + 8 + 4, two of them after the shift."""
    world, seen = shop(hours_first=hours_first)
    found = seen.metrics()
    assert found["desk.utilisation"] == pytest.approx(22 / 25)
    assert found["desk.in_use_mean"] == pytest.approx(22 / 20)
    assert found["desk.open_mean"] == pytest.approx(25 / 20)
    assert (found["desk.off_shift"], found["desk.preempted"]) == (0, 0)
    assert found["desk.use.repair"] == pytest.approx(14 / 20)
    assert found["desk.use.other"] == pytest.approx(8 / 20)
    assert isinstance(world.points, Points)
    assert world.points.read()["desk.open"] == Recorded((0, 10, 15, 20), (2, 0, 1, 2))


def test_uses_that_a_shift_cuts_are_counted() -> None:
    """The one of 8 ticks ends after 6."""
    _, seen = shop(hours_first=True, ends="preempt")
    found = seen.metrics()
    assert (found["desk.off_shift"], found["desk.preempted"]) == (1, 0)
    assert found["desk.utilisation"] == pytest.approx(20 / 25)
    assert found["desk.use.other"] == pytest.approx(6 / 20)


def test_a_warm_up_leaves_out_the_time_before() -> None:
    """From 12 on nothing is in use until 15, then 4 ticks of 5."""
    _, seen = shop(hours_first=True, warm_up=12, ends="preempt")
    found = seen.metrics()
    assert found["desk.off_shift"] == 0
    assert found["desk.open_mean"] == pytest.approx(5 / 8)
    assert found["desk.utilisation"] == pytest.approx(4 / 5)
    assert found["desk.use.repair"] == pytest.approx(4 / 8)
    assert found["desk.use.other"] == 0


def test_a_resource_that_was_never_open_has_no_utilisation() -> None:
    """The mean capacity is 0."""
    world = World()
    desk = simpy.Resource(world)
    WorkingHours(desk, [(5, 0)])
    seen = monitor(desk, "desk")
    world.run(until=3)
    assert seen.metrics()["desk.utilisation"] is None


def test_use_by_reason_ends_with_a_preemption() -> None:
    """The urgent one takes the unit from 3 to 5; who uses it at the end counts until now."""
    world = World()
    machine = simpy.PreemptiveResource(world)
    seen = monitor(machine, "machine")

    def claim(at: int, priority: int, ticks: int, reason: str) -> Story:
        yield world.timeout(at)
        with with_reason(machine.request(priority), reason) as turn:
            try:
                yield turn
                yield world.timeout(ticks)
            except simpy.Interrupt:
                pass

    for plan in [(0, 2, 9, "slow"), (3, 1, 2, "urgent"), (6, 2, 50, "slow")]:
        world.process(claim(*plan))
    world.run(until=10)
    found = seen.metrics()
    assert found["machine.use.slow"] == pytest.approx((3 + 4) / 10)
    assert found["machine.use.urgent"] == pytest.approx(2 / 10)
    assert found["machine.preempted"] == 1
    assert "machine.off_shift" not in found


def test_a_reason_is_a_name() -> None:
    """Words in snake_case, as it ends the name of a metric."""
    desk = simpy.Resource(World())
    with pytest.raises(UsageError, match="'Repair 7' was given as a reason; a name is words"):
        with_reason(desk.request(), "Repair 7")


@frozen
class Shop(Model[Any]):
    """A desk in a table, so that no variable has its name."""

    roles: ClassVar[Mapping[str, Role]] = {}

    def begin(self, world: World) -> dict[str, Any]:
        """Open the desk."""
        desks = {"first": simpy.Resource(world, 1)}
        WorkingHours(desks["first"], [(10, 1), (10, 0)], ends="preempt")
        monitor(desks["first"], "front.desk")
        world.process(use(world, desks["first"], 2, 20, "repair"))
        world.process(self._close(world))
        return desks

    def _close(self, world: World) -> Story:
        yield world.timeout(30)
        world.end("over")

    def score(self, state: dict[str, Any]) -> float:
        """Return 0."""
        return 0.0 * len(state)

    def metrics(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return the number of desks."""
        return {"desks": len(state)}


def test_the_last_events_name_the_resource_of_a_shift() -> None:
    """With the name that its monitor has given it."""
    kept = LastEvents(2)
    run = Run(Shop(), observers=[kept])
    while run.advance():
        pass
    assert "  t=30 ShiftChange of front.desk" in kept.text().splitlines()


def test_traces_show_name_shifts_and_reason(tmp_path: Path) -> None:
    """The name of the monitor, a shift's end as the cause of an interrupt, the open capacity."""
    play(Shop(), {}, trace=tmp_path / "shop.json")
    trace = events(tmp_path / "shop.json")
    names = {event["name"] for event in trace}
    assert {"front.desk in use", "interrupt ShiftEnded"} <= names
    opened = [e["args"]["open"] for e in trace if e["ph"] == "C" and "open" in e.get("args", {})]
    assert opened[:3] == [1, 0, 1]
    used = [event for event in trace if event.get("args", {}).get("reason") == "repair"]
    assert used
