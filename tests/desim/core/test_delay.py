"""A delay is a random time whose rest another future draws anew."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field, frozen

from desim import Model, Role, Run, World
from desim.composition import Composite
from desim.core.calendar import Calendar
from desim.core.reported import Time
from desim.errors import ModelFailed

if TYPE_CHECKING:
    from numpy.random import Generator

#: The lathe breaks after 1 to 100 days.
LONGEST = 100


@frozen
class Night:
    """The day that is over."""

    day: int


@frozen
class Sleep:
    """Do nothing."""


@define
class Log:
    """The days on which the lathe broke."""

    broken: list[int] = field(factory=list)


def days_until(draws: "Generator") -> int:
    """Return 1 to 100 days, each with the same chance."""
    return int(draws.integers(1, LONGEST + 1))


@frozen
class Lathe(Model[Log]):
    """A lathe that breaks now and then, and an owner who is asked every ten days.

    Attributes:
        scheduled: Whether the times are those of plain timeouts.
    """

    scheduled: bool = False
    kept = ()

    @property
    def roles(self) -> Mapping[str, Role]:
        """The owner."""
        return {"owner": Role(Night, Sleep, default_action=lambda _: Sleep())}

    @property
    def time(self) -> Time:
        """Days."""
        start = datetime.fromisoformat("2025-01-01")
        return Time(calendar=Calendar(start, timedelta(days=1)))

    def begin(self, world: World) -> Log:
        """Start the lathe and the nights."""
        log = Log()
        world.process(self._breaks(world, log))
        world.process(self._nights(world))
        return log

    def redraw(self, world: World, log: Log) -> None:
        """Replace nothing: delays are redrawn by the world."""

    def _breaks(self, world: World, log: Log) -> Iterator[Any]:
        draws = world.stream("breaks")
        while True:
            if self.scheduled:
                yield world.timeout(days_until(draws))
            else:
                yield world.delay(draws, days_until)
            log.broken.append(world.now)

    def _nights(self, world: World) -> Iterator[Any]:
        for _ in range(40):
            yield world.timeout(10)
            yield world.ask("owner", partial(Night, world.now))
        world.end("over")

    def score(self, log: Log) -> float:
        """Return the number of breakdowns."""
        return len(log.broken)

    def metrics(self, log: Log) -> dict[str, Any]:
        """Return the days."""
        return {"broken": log.broken}


def breaks(model: Any, decisions: int, future: int | None = None, part: str = "") -> Sequence[int]:
    """Return the days of breakdowns, where the future is redrawn after some decisions."""
    run = Run(model, 3, futures=[] if future is None else [(decisions, future)])
    while run.advance():
        for decision in run.open:
            run.answer(decision, Sleep())
    found: Sequence[int] = run.result().metrics[f"{part}broken"]
    return found


def next_breaks(model: Any, decisions: int, now: int, part: str = "") -> tuple[int, list[int]]:
    """Return the next breakdown after a day, and those of 60 futures that begin there."""
    true = breaks(model, decisions, part=part)
    twins = [breaks(model, decisions, future, part) for future in range(60)]
    past = [day for day in true if day <= now]
    assert all([day for day in twin if day <= now] == past for twin in twins)
    return next(day for day in true if day > now), [twin[len(past)] for twin in twins]


def test_a_delay_that_is_not_redrawn_is_a_timeout() -> None:
    """With the same draws it ends at the same ticks."""
    assert breaks(Lathe(), 0) == breaks(Lathe(scheduled=True), 0)


def test_the_next_event_differs_between_futures() -> None:
    """It is later than the redraw, and distributed as the rest of a time that has begun."""
    now, (begun, *_) = 40, breaks(Lathe(), 0)
    assert begun < now  # so that a second time is under way
    last = [day for day in breaks(Lathe(), 0) if day <= now][-1]
    _, found = next_breaks(Lathe(), 3, now)
    assert len(set(found)) > 20
    assert all(now < day <= last + LONGEST for day in found)
    assert abs(mean(found) - (now + 1 + last + LONGEST) / 2) < 15


def test_a_plain_timeout_ends_at_the_same_tick_in_every_future() -> None:
    """Its end was scheduled before."""
    true, found = next_breaks(Lathe(scheduled=True), 3, 40)
    assert set(found) == {true}


def test_the_same_future_is_drawn_again() -> None:
    """So that a record of a branch replays."""
    assert breaks(Lathe(), 3, 7) == breaks(Lathe(), 3, 7) != breaks(Lathe(), 3, 8)


def test_a_delay_of_a_part_is_redrawn() -> None:
    """The part wakes at the new end, which may be earlier than the old one."""
    pair = Composite({"shop": Lathe()})
    true, found = next_breaks(pair, 3, 40, "shop.")
    assert len(set(found)) > 20
    assert min(found) < true < max(found)


def test_conditions_wait_for_the_new_end() -> None:
    """The event is the same one, at another tick."""
    world = World(1)
    first = world.delay(world.stream("a"), lambda _: 30)
    drawn = iter([50, 5, 8, 40])
    second = world.delay(world.stream("b"), lambda _: next(drawn))
    ends = []

    def waits() -> Iterator[Any]:
        both = yield first | second
        ends.append((world.now, list(both)))
        yield first & second
        ends.append((world.now, []))

    world.process(waits())
    world.run(until=10)
    world.redraw(1)
    world.run()
    assert ends == [(30, [first]), (40, [])]


def test_a_delay_that_has_ended_is_not_drawn_again() -> None:
    """Nor is one that ends at the tick of the redraw."""
    world, lengths = World(1), [5, 10]
    for number, length in enumerate(lengths):
        drawn = iter([length])
        world.delay(world.stream(number), lambda _, drawn=drawn: next(drawn))
    world.run(until=10)
    world.redraw(1)
    world.run()
    assert world.now == 10


def test_a_delay_that_outlasts_its_distribution_keeps_its_end() -> None:
    """No draw in ten thousand lasts so long."""
    world = World(1)
    drawn = iter([100])
    world.delay(world.stream("a"), lambda _: next(drawn, 1))
    world.run(until=10)
    world.redraw(1)
    world.run()
    assert world.now == 100


def test_a_length_is_whole_ticks() -> None:
    """As of a timeout."""
    world = World(1)
    with pytest.raises(ModelFailed, match=r"a delay of 0\.5 was given"):
        world.delay(world.stream("a"), lambda _: 0.5)  # type: ignore[arg-type, return-value]
