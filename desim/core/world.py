"""The clock: SimPy on whole ticks, with questions to roles, named random streams and an end."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappush
from math import inf
from typing import TYPE_CHECKING, Any

import simpy
from simpy.core import BoundClass, SimTime
from simpy.events import NORMAL, Event, ProcessGenerator, Timeout

from desim.core.events import Decision, Ranked, Wait, Waiters, whole_ticks
from desim.core.log import logger
from desim.core.points import Points
from desim.core.streams import check_seed, generator, redrawn_seed
from desim.errors import ModelFailed, UsageError, possible
from desim.faults import resumed_by

if TYPE_CHECKING:  # numpy.random takes longer to import than all of desim
    from numpy.random import Generator

    from desim.core.calendar import TickCalendar
    from desim.core.roles import Role

#: Most events at one tick between two decisions: with more, a process waits in a loop that lets no
#: time pass.
MAX_EVENTS_PER_TICK = 500_000


class World(simpy.Environment):
    """A SimPy environment on whole ticks, with questions, named random streams and an end.

    Attributes:
        seed: That of the episode.
        draw_seed: The seed of the streams that are claimed from now on: `seed` until `redraw`.
        seats: The roles that policies play; only they can be asked.
        roles: All roles of the run by name; empty in the world of a part.
        ended: Why the episode ended; empty while it runs.
        left: The processes that waited when no event was left, as `waiting` returns them.
        asked: Questions that are not handed out yet, in the order in which they were asked.
        on_event: Called with the world before every event, to count or observe them.
        on_redraw: Called after every redraw: those of the parts.
        prefix: The prefix of names in a part's world, such as "plant."; empty otherwise.
        points: Those of the episode, which `point` records; None if they are not recorded.
        to_common: Returns the tick of the run's world at a tick of this one, a part's or the run's.
        calendar: Says when a tick is; None in a model without dates.
        log: A structured logger that adds tick and date; silent, and False, without a listener.
    """

    if TYPE_CHECKING:

        @property
        def now(self) -> int:
            """The present tick."""

        def peek(self) -> int:
            """Return the tick of the next event; infinite if no event is left."""

        def timeout(self, delay: SimTime = 0, value: Any = None, rank: int = 0) -> Timeout:
            """Let `delay` whole ticks pass; `rank` orders events of one tick, lower first."""
    else:
        # Without a function of Python around them, as these are called at every event.
        now = property(operator.attrgetter("_now"))
        timeout = BoundClass(Ranked)

    def __init__(self, seed: int = 0, seats: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.seed = self.draw_seed = seed
        self.seats = seats
        self.roles: Mapping[str, Role] = {}
        self.ended = ""
        self.left: tuple[str, ...] = ()
        self.asked: list[Decision] = []
        self.on_event: Sequence[Callable[[World], object]] = ()
        self.prefix = ""
        self.points: Points | None = None
        self.to_common: Callable[[int], int] = int
        self.calendar: TickCalendar | None = None
        self.log = logger(self)
        # SimPy's calendar lacks a process whose event nothing has scheduled.
        self._processes: list[simpy.Process] = []
        self._most_processes = 256
        # The generators that processes hold, which `redraw` changes in place.
        self._streams: dict[tuple[str, ...], Generator] = {}
        self._free: set[tuple[str, ...]] = set()
        self.on_redraw: list[Callable[[], object]] = []

    # -- events ------------------------------------------------------------------------------------

    def process(self, generator: ProcessGenerator) -> simpy.Process:
        """Start a process; `yield world.process(...)` waits for its end."""
        process = simpy.Process(self, generator)
        self._processes.append(process)
        if len(self._processes) > self._most_processes:
            self._processes = self._living()
            self._most_processes = 2 * len(self._processes) + 256
        return process

    def _living(self) -> list[simpy.Process]:
        return [process for process in self._processes if process.is_alive]

    def schedule(self, event: Event, priority: int = NORMAL, delay: SimTime = 0) -> None:
        """Put an event on the calendar, `delay` whole ticks from now."""
        # SimPy's own method accepts a fraction, which would make the clock a float for good.
        if type(delay) is not int or delay < 0:
            delay = whole_ticks(delay)
        # A heap of (tick, priority, serial number, event); a rank is added to the priority.
        entry: Any = (self._now + delay, priority, next(self._eid), event)
        heappush(self._queue, entry)

    def moved(self, event: Event, delay: int, rank: int = 0) -> Timeout:
        """Move the processes that wait for a pending event to a new timeout, and return it."""
        if event.callbacks is None:
            raise UsageError("the event has happened; only a pending event can be moved")
        instead = self.timeout(delay, rank=rank)
        # The old event stays on the calendar, where it resumes nothing.
        instead.callbacks, event.callbacks = event.callbacks, []
        for callback in instead.callbacks:
            waiting = getattr(callback, "__self__", None)
            # Process.interrupt detaches a process from its `_target`; that must be the new event.
            if isinstance(waiting, simpy.Process):
                waiting._target = instead  # noqa: SLF001
        return instead

    def scheduled(self) -> Iterator[tuple[int, int, Event]]:
        """Yield tick, serial number and event of the calendar; only the first is in order."""
        # ticks are int
        return ((tick, number, event) for tick, _, number, event in self._queue)  # type: ignore[misc]

    def move_to(self, tick: int) -> None:
        """Move the clock to a tick before which no event is left; never backwards."""
        assert self.ended or self.peek() >= tick
        # The calendar of a part may map the common tick to a local one that is over.
        self._now = max(self._now, tick)

    def end(self, reason: str) -> None:
        """End the episode after the present event; only the first reason given is kept."""
        self.ended = self.ended or reason

    def waiting(self) -> tuple[str, ...]:
        """Return in words the waiting processes and their events, ten of them at most."""
        texts = [f"{one.name} waits for {_event_name(one.target)}" for one in self._living()]
        return (*texts[:10], *([f"and {len(texts) - 10} more"] if texts[10:] else []))

    # -- questions ---------------------------------------------------------------------------------

    def ask(
        self,
        role: str,
        observe: Callable[[], Any],
        before: int | None = None,
        *,
        actions: Any = None,
    ) -> Decision:
        """Put a question to a role: `action = yield world.ask("founder", observe)`.

        Args:
            role: The name of a role that a policy plays.
            observe: Called once, when the question is handed out; returns the observation.
            before: Hand the question out before the events of this tick that have this rank or a
                higher one. Without it, all events of the tick come first.
            actions: The action classes of the role that may answer this question: a class, a union
                such as `Repair | Wait`, or a tuple; None for all.
        """
        if role not in self.seats:
            raise UsageError(f"no policy plays {role!r}; {possible(role, sorted(self.seats))}")
        rank = inf if before is None else NORMAL + before
        decision = Decision(self, role, observe, rank, actions)
        self.asked.append(decision)
        return decision

    def settled(self, last: float = inf) -> list[Decision]:
        """Process events up to a tick until questions go out; return these in their order.

        A question goes out once every event left at its tick ranks behind it. Without events left,
        the end is "finished".
        """
        queue, on_event, events = self._queue, self.on_event, 0
        while not self.ended:
            if self.asked and (decisions := self._take_due()):
                return decisions
            if not queue:
                self.left = self.waiting()
                self.end("finished")
                break
            tick, _, _, event = queue[0]
            if tick == self._now:
                events += 1
                if events > MAX_EVENTS_PER_TICK:
                    self._check_loop(event)
            elif tick > last:
                break
            else:
                events = 0
            for call in on_event:
                call(self)
            try:
                self.step()
                continue
            except BaseException:
                # SimPy raises a copy of a process's exception, without its notes and traceback.
                if event.ok or event.defused:
                    raise
            raise event.value  # type: ignore[misc] # that of a failed event is its exception
        return []

    def _take_due(self) -> list[Decision]:
        """Remove the questions that go out now; return those for which a process waits."""
        queue, due = self._queue, self.asked
        if queue and queue[0][0] <= self._now:
            rank = queue[0][1]
            due = [decision for decision in self.asked if decision.before <= rank]
            self.asked = [decision for decision in self.asked if decision.before > rank]
        else:
            self.asked = []
        return [decision for decision in due if decision.callbacks or self._waits(decision)]

    def _waits(self, decision: Decision) -> bool:
        # Without callbacks: it was never yielded, or its process was interrupted.
        if isinstance(decision.callbacks, Waiters) and not decision.callbacks.left:
            raise ModelFailed(
                f"the question to {decision.role!r} at t={self._now} was asked but never "
                "yielded; write action = yield world.ask(...)"
            )
        decision.withdraw()
        return False

    def _check_loop(self, event: Event) -> None:
        if by := resumed_by(event):  # an event that resumes nothing says nothing: see the next
            raise ModelFailed(
                f"{by} goes on at t={self._now} without end: more than {MAX_EVENTS_PER_TICK:,} "
                "events happened there, the limit; a loop must let time pass"
            )

    # -- chance ------------------------------------------------------------------------------------

    def stream(self, *name: object) -> "Generator":
        """Claim a stream of random numbers that depends on the seed and its name alone.

        Use one stream for each cause, so that a decision never shifts the draws of another cause.
        A name has one or more strings or integers.

        Raises:
            ModelFailed: The name was claimed before, and the future has not been redrawn since.
        """
        key = tuple(map(str, name))
        if key not in self._streams:
            self._streams[key] = generator(self.draw_seed, *key)
        elif key in self._free:
            # The same generator as before: a second one would repeat the draws of the first.
            self._free.remove(key)
        else:
            raise ModelFailed(f"random stream {'/'.join(key)!r} is in use; choose another name")
        return self._streams[key]

    def delay(
        self, stream: "Generator", sampler: "Callable[[Generator], int]", rank: int = 0
    ) -> Timeout:
        """Let a random time pass, such as the time to a breakdown, whose rest a redraw replaces.

        The *sampler* returns whole ticks, drawn from *stream* alone. A redraw calls it given that
        the time has lasted until then; one that ends at the tick of the redraw stays.
        """
        return Wait(self, lambda: sampler(stream), rank)

    def redraw(self, future: int, now: int | None = None) -> None:
        """Make all later draws from new streams, by the seed of a future.

        So do generators that processes hold. A name that was claimed before may be claimed once
        more, for instance to draw the rest of a table again. The ends of delays that are under way
        are drawn anew; *now* is the present tick where the clock of a part is behind it.
        """
        check_seed(future, "future")
        self.draw_seed = redrawn_seed(self.draw_seed, future)
        for key, stream in self._streams.items():
            stream.bit_generator.state = generator(self.draw_seed, *key).bit_generator.state
        self._free = set(self._streams)
        self._redraw_waits(self.now if now is None else max(now, self.now))
        for redraw in self.on_redraw:
            redraw()

    def _redraw_waits(self, now: int) -> None:
        ends: dict[Event, int] = {}
        for tick, _, event in sorted(self.scheduled(), key=operator.itemgetter(1)):
            if isinstance(event, Wait) and tick > now and (end := event.drawn_after(now)):
                ends[event] = end
        # The same events at other ticks: processes and conditions keep waiting for them.
        self._queue[:] = [(ends.get(entry[3], entry[0]), *entry[1:]) for entry in self._queue]
        heapify(self._queue)

    # -- what is recorded --------------------------------------------------------------------------

    def point(self, name: str, value: Any, *, replace: bool = False) -> None:
        """Record a point of a series, which `Episode.points` returns, if series are recorded.

        The *value* is a number, also of numpy, or NaN if unknown; errors are those of `Points.add`.
        With *replace* it takes the place of a point at the same tick.
        """
        if self.points is not None:
            at = self.to_common(self.now)
            self.points.add(at, f"{self.prefix}{name}", value, replace=replace)


def _event_name(event: Event | None) -> str:
    if isinstance(event, simpy.Process):
        return f"process {event.name}"
    return f"an event of class {type(event).__name__}"
