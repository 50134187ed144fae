"""A part: one of several models on a common clock, in a world of its own."""

import datetime as dt
import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any

from attrs import frozen
from simpy.events import Event, Timeout

from desim.core.calendar import Calendar, TickCalendar
from desim.core.events import Decision
from desim.core.model import Model
from desim.core.reported import ledgers_of
from desim.core.result import RUNNING, metrics_of, score_of
from desim.core.world import World
from desim.errors import UsageError
from desim.faults import Noted

#: Most parts on one clock: their ranks are 0, 1, 2, ... in the order in which they are stated.
MAX_PARTS = 1_000

#: The lowest rank of an event that comes after all events of the parts at a tick, including the
#: answers to their questions.
AFTER_PARTS = MAX_PARTS

#: The rank of the end: an episode ends after all events of parts and links at its last tick.
AFTER_LINKS = 1_000_000


def part_seed(seed: int, name: str, repetition: int = 0) -> int:
    """Return the seed of a part: the first 32 bits of the SHA-256 of "SEED:NAME".

    Of "SEED:NAME:REPETITION" if it was played before in this episode.

    >>> part_seed(7, "lender")
    3742136759
    """
    text = f"{seed}:{name}" + (f":{repetition}" if repetition else "")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


class Part:
    """One model on a common clock, with a world, ticks, ranks, streams and an end of its own.

    Attributes:
        name: Begins the names of its roles, metrics and ledgers.
        calendar: The dates of its ticks.
        state: What its model's `begin` returned.
        decisions: The number of its questions that are answered.
    """

    def __init__(
        self,
        name: str,
        model: Model[Any],
        shared: World,
        clock: Calendar,
        calendar: TickCalendar,
        rank: int,
        seed: int,
    ) -> None:
        self.name = name
        self.model = model
        self.calendar = calendar
        self.decisions = 0
        self._clock = clock
        self._rank = rank
        self._shared = shared
        self._prefix = prefix = f"{name}."
        self._sleep: Timeout | None = None
        self._due = 0
        seats = (role for role in shared.seats if role.startswith(prefix))
        self.world = World(seed, frozenset(role.removeprefix(prefix) for role in seats))
        # Passed on, because the model may have parts itself, whose events count as well.
        self.world.on_event = shared.on_event
        self.world.prefix = f"{shared.prefix}{prefix}"
        self.world.calendar = calendar
        self.world.points = shared.points
        self.world.to_common = lambda tick: shared.to_common(self._common(tick))
        with Noted(self._place):
            self.state = model.begin(self.world)
        shared.on_redraw.append(self._redraw)

    @property
    def ended(self) -> str:
        """Why the part ended; "still running" before that."""
        return self.world.ended or RUNNING

    def to_common(self, tick: int) -> int:
        """Return the common tick at which a tick of the part is."""
        return self._clock.last_tick(self.calendar.moment(tick))

    def to_local(self, tick: int) -> int:
        """Return the last tick of the part that is not after a common tick."""
        return self.calendar.last_tick(self._clock.moment(tick))

    def play(self) -> Generator[Event, Any, None]:
        """Advance the part's world with the common clock until the part ends; a process."""
        shared, world = self._shared, self.world
        yield from self._wait_until(self._common(0))
        while True:
            with Noted(self._place):
                decisions = world.settled(world.now)
            if decisions:
                yield from self._ask(decisions)
                continue
            if world.ended:  # also without events, although a link might schedule one later
                return
            tick = world.peek()
            due = self._common(tick)
            yield from self._wait_until(due)
            # A link may have woken the part before that event.
            world.move_to(tick if shared.now == due else self.to_local(shared.now))

    def end(self, reason: str) -> None:
        """End the part at this tick; it processes no further event and asks no further question."""
        self.world.end(reason)
        self._wake_at(self._shared.now)

    @contextmanager
    def at_common_time(self) -> Iterator[Any]:
        """Move the part's clock to the common one, yield its state, and wake the part in time."""
        world = self.world
        world.move_to(self.to_local(self._shared.now))
        try:
            yield self.state
        finally:
            # Also after an exception, which the link may catch: what was scheduled before it stays.
            if world.ended:
                self._wake_at(self._shared.now)
            elif (tick := world.peek()) < inf:
                self._wake_at(self._common(tick))

    def ledgers(self) -> "Iterator[PartLedger]":
        """Yield its ledgers, in its own order."""
        for ledger in ledgers_of(self.state):
            own = getattr(ledger, "name", "")
            name = f"{self.name}.{own}" if own else self.name
            yield PartLedger(name, ledger, self.state, self.calendar)

    def score(self) -> float:
        """Return the score of the part so far; it need not have ended."""
        with Noted(self._place):
            return score_of(self.model, self.state)

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of the part; empty before its end, which they may need."""
        with Noted(self._place):
            return metrics_of(self.model, self.state) if self.world.ended else {}

    def _redraw(self) -> None:
        world = self.world
        if not world.ended:
            with Noted(self._place):
                now = self.to_local(self._shared.now)
                world.redraw(part_seed(self._shared.draw_seed, self.name), now)
                self.model.redraw(world, self.state)
            # A delay may end earlier now than the event for which the part's process waits.
            if (tick := world.peek()) < inf:
                self._wake_at(self._common(tick))

    def _ask(self, decisions: list[Decision]) -> Generator[Event, Any, None]:
        shared = self._shared
        questions = [
            shared.ask(
                self._prefix + each.role,
                _Observed(self._place, each.observe),
                before=AFTER_PARTS,
                actions=each.actions,
            )
            for each in decisions
        ]
        for question in questions:
            question.is_relayed = True
        yield questions[0] if len(questions) == 1 else shared.all_of(questions)
        for decision, question in zip(decisions, questions, strict=True):
            decision.delay = question.delay
            decision.settle(question.value)
        self.decisions += len(decisions)

    def _common(self, tick: int) -> int:
        try:
            return self.to_common(tick)
        except (OverflowError, ValueError) as fault:
            raise UsageError(
                f"part {self.name!r} has an event at its t={tick}, which has no date: {fault}"
            ) from None

    def _wait_until(self, tick: int) -> Generator[Event, Any, None]:
        shared = self._shared
        self._sleep = shared.timeout(max(0, tick - shared.now), rank=self._rank)
        self._due = tick
        yield self._sleep
        self._sleep = None

    def _wake_at(self, tick: int) -> None:
        # Of use only if the process waits for a later tick.
        if self._sleep is not None and tick < self._due:
            delay = max(0, tick - self._shared.now)
            self._sleep = self._shared.moved(self._sleep, delay, rank=self._rank)
            self._due = tick

    def _place(self) -> str:
        return f"in part {self.name!r} at its t={self.world.now}"


class _Observed:
    """Makes an observation of a part; adds the part and its tick to an exception."""

    __slots__ = ("_place", "func")

    def __init__(self, place: Callable[[], str], observe: Callable[[], Any]) -> None:
        self._place = place
        self.func = observe  # the name that `functools.partial` gives it

    def __call__(self) -> Any:
        with Noted(self._place):
            return self.func()


@frozen
class PartLedger:
    """A ledger of a part, with the part's name, state and the dates of its own ticks."""

    name: str
    ledger: Any
    owner: Any
    _calendar: TickCalendar

    @property
    def export_forms(self) -> tuple[str, ...]:
        """The forms in which the ledger can be written."""
        return getattr(self.ledger, "export_forms", ())

    def digest(self) -> str:
        """Return the ledger's own digest."""
        return str(self.ledger.digest())

    def export(self, form: str, date: Any = None) -> Mapping[str, str]:  # noqa: ARG002 (as others)
        """Return texts by file name, in a form that the ledger has."""
        return dict(self.ledger.export(form, self._date))

    def _date(self, tick: int) -> dt.date:
        # An entry at midnight closes the day before.
        return (self._calendar.moment(tick) - dt.timedelta(microseconds=1)).date()
