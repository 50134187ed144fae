"""One episode under way: hands out questions when a tick has settled, and takes the answers.

A `Run` owns a world. It processes events until the present tick has settled (every event left at
that tick ranks behind a question), hands out the open decisions, and continues when all of them are
answered. It never calls a policy.
"""

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, NoReturn, TypeVar

from desim.core.events import Decision
from desim.core.limits import Alarm, Limits, time_text
from desim.core.log import Log
from desim.core.model import Model, model_of, no_model
from desim.core.observer import Observer, PostingLog, together
from desim.core.points import Points
from desim.core.result import Result, Series, Ticks, ended_series, score_of, summarise
from desim.core.roles import MOST_TICKS, Role, action_classes
from desim.core.streams import check_seed
from desim.core.world import World
from desim.errors import (
    DesimError,
    LimitReached,
    ModelFailed,
    SchemaError,
    Stuck,
    UsageError,
    WrongAction,
    possible,
)
from desim.faults import RAISED, fault_text, function_name, notes_text, place, resumed_by
from desim.schema import check_observation, codec, type_check
from desim.short_repr import short_repr

#: Most redraws of the future in one episode.
MAX_FUTURES = 1_000

S = TypeVar("S")


class Run(Generic[S]):
    """One episode: a model, a seed, and the answers still to come.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: The roles that policies play; None means the model's default roles.
        limits: Limits of wall time, events and decisions.
        futures: Redraws of the future, in order: the number of decisions before it, and its seed.
        observers: Called before every event.
        points: Receives the points of `world.point` and of monitors; None records none.

    Attributes:
        model: The frozen parameters.
        roles: The model's roles by name.
        world: The clock.
        state: What the model's `begin` returned.
        decisions: The number of settled decisions.
        is_observed: Whether observers are called before every event.
        thinking: The thinking of the roles whose decisions take time, by name.

    Raises:
        UsageError: The model has no such role, a role that is not optional has no policy, the seed
            is not a whole number of at least 0, or a future is wrong.
        ModelFailed: The model's `begin` raised an exception.
    """

    def __init__(
        self,
        model: Model[S],
        seed: int = 0,
        seats: Sequence[str] | frozenset[str] | None = None,
        limits: Limits | None = None,
        futures: Iterable[tuple[int, int]] = (),
        observers: Sequence[Observer] = (),
        points: Points | None = None,
    ) -> None:
        if not isinstance(model, Model):
            raise no_model(model)
        check_seed(seed)
        self._futures = check_futures(futures)
        self.model = model
        self.roles = model.roles
        self.decisions = 0
        # Compiled once a class, so that a sweep of short episodes does not pay for them again.
        self._codec = {name: codec(role.action) for name, role in self.roles.items()}
        self._fits = {name: type_check(role.observation) for name, role in self.roles.items()}
        self.thinking = {n: r.thinking for n, r in self.roles.items() if r.thinking.takes_time}
        # Questions by role at tick `_instant`, and their limits.
        self._asked_now: dict[str, int] = {}
        self._instant = -1
        self._most_questions = {
            name: model_of(model, name)[0].max_questions_per_tick for name in self.roles
        }
        # Roles with the actions of questions that take some of them, so that equal ones are one.
        self._narrowed: dict[tuple[str, Any], Role] = {}
        self._open: list[Decision] = []
        self._fault: DesimError | None = None
        self.world = World(seed, check_roles(model, seats))
        self.world.points = points
        self._limits = limits or Limits()
        self._events = 0
        seconds = self._limits.seconds
        self._due = None if seconds is None else time.monotonic() + seconds
        self._postings = PostingLog() if self.world.log else None
        if self._postings is not None:
            observers = (*observers, self._postings)
            self.world.calendar = model.calendar
        self.is_observed = bool(observers)
        counting = (self._count_event,) if self._limits else ()
        self.world.on_event = together((*counting, *(one.event for one in observers)))
        self.world.on_cause = together(one.cause for one in observers)
        for one in observers:
            one.attach(self)
        with self._faults(), Alarm(seconds):
            self.state = model.begin(self.world)

    def advance(self) -> list[Decision]:
        """Move the clock to the next tick with open decisions and hand them out together.

        Returns:
            The decisions in the order in which they were asked; empty once the episode has ended.

        Raises:
            UsageError: Decisions handed out before have no answer yet.
            Stuck: A role is asked more often at one tick than the model allows.
            ModelFailed: A process of the model raised an exception, returned an observation of
                another class, or never yielded a question. The run is then dead: every later call
                raises the same error.
            LimitReached: The run has used up its time, events or decisions.
        """
        if self._fault is not None:
            raise self._fault
        self._release()
        # Not `with self._faults()`, which takes a tenth of the time of a decision.
        try:
            if self._due is None:
                self._hand_out(self.world.settled())
            else:
                with Alarm(self._limits.seconds, self._due - time.monotonic()):
                    self._hand_out(self.world.settled())  # a process may never return
            if self._futures and self._open:
                self._redraw_due()
        except RAISED as fault:
            self._fail(fault)
        if self._postings is not None and not self._open:
            self._tell_end(self._postings, self.world.log)
        return self._open

    def _tell_end(self, postings: PostingLog, log: Log) -> None:
        postings.event(self.world)  # those of the last event
        # A warning, not an error: a process that waits when no event is left waits forever, which
        # is usually a mistake but may be intended.
        if self.world.left:
            log.warning("no event is left and processes still wait", waiting=self.world.left)
        log.info("episode ended", reason=self.world.ended, decisions=self.decisions)

    def _count_event(self, world: World) -> None:
        """Count an event of the run's world or a part's against the limits."""
        self._events += 1
        # The time is read at every event: a process that creates events without end must be
        # stopped where no alarm can be set, such as in a thread.
        most = self._limits.events
        if self._due is not None and time.monotonic() > self._due:
            self._stop(time_text(self._limits.seconds))
        elif most is not None and self._events > most:
            by = resumed_by(next(world.scheduled())[2])
            self._stop(f"the limit of {most:,} events was reached", f", before {by}" if by else "")

    def _stop(self, text: str, before: str = "") -> NoReturn:
        # The first error again, with its notes, where a part has raised it in an event before.
        self._fault = self._fault or LimitReached(f"{text} at t={self.world.now}{before}")
        raise self._fault

    @property
    def open(self) -> list[Decision]:
        """The decisions handed out last that have no answer yet."""
        return [decision for decision in self._open if not decision.wire]

    @property
    def handed_out(self) -> list[Decision]:
        """The decisions handed out last; the answered ones have an action."""
        return list(self._open)

    def answer(self, decision: Decision, action: Any, delay: int | None = None) -> None:
        """Answer an open decision; the clock does not move before `advance` is called.

        Args:
            decision: One of those handed out last.
            action: An instance of one of the role's action classes, or its tagged object (a
                mapping).
            delay: Ticks until the answer takes effect, in the ticks of the role's world, while the
                clock goes on; None for the latency of the role.

        Raises:
            WrongAction: The action is not in the role's schema.
            UsageError: The decision is not open, or the delay is not a whole number of ticks.
            ModelFailed: The run is dead.
        """
        if self._fault is not None:
            raise self._fault
        if decision not in self._open or decision.wire:
            raise UsageError(f"the decision of {decision.role!r} is not open")
        if delay is not None or self.thinking:
            self._delay(decision, delay)
        narrowed = decision.narrowed
        taking = self._codec[decision.role] if narrowed is None else codec(narrowed.action)
        try:
            decision.action, decision.wire = taking.take(action)
        except WrongAction as wrong:
            only = "" if narrowed is None else ", as this question takes no other action"
            raise WrongAction(
                f"{decision.role!r} answered at t={self.world.now}: {wrong}{only}", wrong.why
            ) from None

    def _delay(self, decision: Decision, delay: int | None) -> None:
        """Set the ticks until an answer takes effect."""
        if delay is None:
            thinking = self.thinking.get(decision.role)
            delay = thinking.ticks() if thinking else 0
        if type(delay) is not int or not 0 <= delay <= MOST_TICKS:
            raise UsageError(
                f"a delay of {short_repr(delay)} was given for {decision.role!r}; it is a whole "
                f"number of ticks from 0 to {MOST_TICKS}"
            )
        decision.delay = delay

    def role_of(self, decision: Decision) -> Role:
        """Return the role that is asked, with the actions that may answer this question alone."""
        return decision.narrowed or self.roles[decision.role]

    def redraw(self, future: int) -> None:
        """Draw anew everything that no role can have observed yet; keep the rest.

        For a driver that branches at the present decision. An episode that is to be recorded takes
        *futures* instead, which are redrawn as soon as the following decision is open.

        Args:
            future: The seed of the future, a whole number of at least 0.

        Raises:
            UsageError: The seed is not a whole number of at least 0.
            ModelFailed: The model's `redraw` raised an exception; the run is dead.
        """
        check_seed(future, "future")
        with self._faults():
            self._redraw(future)

    def result(self) -> Result:
        """Return the result of an ended episode.

        Raises:
            UsageError: The episode has not ended.
            WrongResult: The model's score is not a finite number, or a metric is not a JSON value.
            ModelFailed: The run is dead, or the model's `score` or `metrics` raised an exception.
        """
        if self._fault is not None:
            raise self._fault
        if not self.world.ended:
            raise UsageError("the episode still runs: advance until it hands out no decision")
        with self._faults():
            return summarise(self.model, self.state, self.world, self.decisions)

    def score(self) -> float:
        """Return the model's score of the present state; the episode need not have ended.

        Raises:
            WrongResult: The score is not a finite number.
            ModelFailed: The run is dead, or the model has no score before its end.
        """
        with self._faults():
            return score_of(self.model, self.state)

    def ended_series(self) -> tuple[Series, Ticks]:
        """Return the series of an ended episode and the ends of their periods, as `result.py` does.

        Raises:
            WrongResult: A series is not a sequence of numbers.
            ModelFailed: The run is dead, or the model's `series` raised an exception.
        """
        with self._faults():
            return ended_series(self.model, self.state, self.world.now)

    def _redraw_due(self) -> None:
        """Redraw the future for every branch before one of the open decisions."""
        handed_out = self.decisions + len(self._open)
        while self._futures and self._futures[0][0] < handed_out:
            _, future = self._futures.pop(0)
            self._redraw(future)

    def _redraw(self, future: int) -> None:
        self.world.redraw(future)
        self.model.redraw(self.world, self.state)

    def _release(self) -> None:
        """Settle the answers in the order in which their questions were asked."""
        # All answers are checked first, so that an error changes nothing.
        for decision in self._open:
            if not decision.wire:
                raise UsageError(
                    f"{decision.role!r} has not answered at t={self.world.now}; answer every "
                    "decision before the clock moves on"
                )
        # In the order of the questions, not of the answers: the order of events must not depend on
        # an event loop that awaits several policies at once.
        for decision in self._open:
            if self._postings is not None:
                self.world.log.debug("answered", role=decision.role, action=decision.action)
            decision.settle(decision.action)
        self.decisions += len(self._open)
        self._open = []

    def _hand_out(self, decisions: list[Decision]) -> None:
        now = self.world.now
        if now != self._instant:
            self._instant, self._asked_now = now, {}
        asked = self._asked_now
        for decision in decisions:
            role = decision.role
            asked[role] = count = asked.get(role, 0) + 1
            if count > self._most_questions[role]:
                raise Stuck(
                    f"{role!r} was asked {count} times at t={now} and the clock does not move; "
                    f"max_questions_per_tick is {self._most_questions[role]}"
                )
            if decision.actions is not None:
                self._narrow(decision)
            decision.observation = seen = decision.observe()
            fits = self._fits[role]
            if fits is not None and not fits(seen):
                self._check_observation(decision)
            self._open.append(decision)
        most = self._limits.decisions
        if most is not None and self.decisions + len(self._open) > most:
            self._stop(f"the limit of {most:,} decisions was reached")

    def _narrow(self, decision: Decision) -> None:
        """Let a question take some actions of its role alone."""
        key = decision.role, action_classes(decision.actions)
        if key not in self._narrowed:
            try:
                self._narrowed[key] = self.roles[decision.role].narrowed(decision.actions)
            except UsageError as fault:
                raise UsageError(
                    f"the question to {decision.role!r} at t={self.world.now}: {fault}"
                ) from None
        decision.narrowed = self._narrowed[key]

    def _check_observation(self, decision: Decision) -> None:
        try:
            check_observation(decision.observation, self.roles[decision.role].observation)
        except SchemaError as fault:
            raise ModelFailed(
                f"the observation for {decision.role!r} at t={self.world.now}, made by "
                f"{function_name(decision.observe)}, does not fit: {fault}"
            ) from None

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn a model's exception into an error with tick and place; the run is then dead."""
        if self._fault is not None:
            raise self._fault
        try:
            yield
        except RAISED as fault:
            self._fail(fault)

    def _fail(self, fault: BaseException) -> NoReturn:
        """Mark the run dead and raise: desim's own errors as such, others as ModelFailed."""
        # The error is kept and raised again by every later call, so a driver that catches it cannot
        # play on in a half-changed state.
        notes = notes_text(fault)
        if isinstance(fault, DesimError):
            self._fault = type(fault)(f"{fault}{notes}") if notes else fault
            raise self._fault from (fault if notes else fault.__cause__)
        self._fault = ModelFailed(
            f"model {type(self.model).__name__} failed at t={self.world.now} in "
            f"{place(fault)}: {fault_text(fault)}{notes}"
        )
        raise self._fault from fault


def check_roles(model: Model[Any], seats: Sequence[str] | frozenset[str] | None) -> frozenset[str]:
    """Return the roles that policies play, checked against the model.

    Args:
        model: The frozen parameters.
        seats: Names of roles; None means the model's default roles.

    Raises:
        UsageError: The model has no such role, or a role that is not optional has no policy.
    """
    taken = frozenset(model.default_roles if seats is None else seats)
    for name in sorted(taken - model.roles.keys()):
        raise UsageError(f"there is no role {name!r}; {possible(name, model.roles)}")
    for name, role in model.roles.items():
        if name not in taken and not role.optional:
            raise UsageError(f"role {name!r} needs a policy")
    return taken


def check_futures(futures: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return redraws of the future as a list, checked.

    Args:
        futures: Pairs: the number of decisions before the redraw, and the seed of the future.

    Raises:
        UsageError: There are too many, they are not in order, or a number is wrong.
    """
    checked = [(decisions, future) for decisions, future in futures]
    if len(checked) > MAX_FUTURES:
        raise UsageError(f"{len(checked)} futures were given; {MAX_FUTURES} are possible")
    before = 0
    for decisions, future in checked:
        check_seed(future, "future")
        if type(decisions) is not int or decisions < before:
            raise UsageError(
                f"a future after {short_repr(decisions)} decisions was given; it is a whole number "
                f"of at least {before}, that of the future before it"
            )
        before = decisions
    return checked
