"""One episode under way: hands out the questions of a settled tick, and takes the answers."""

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NoReturn, TypeVar

from desim.core.events import Decision
from desim.core.limits import Alarm, Limits, time_text
from desim.core.log import Log
from desim.core.model import Model, model_of, no_model
from desim.core.points import Points
from desim.core.result import Result, Series, Ticks, ended_series, score_of, summarise
from desim.core.roles import MOST_TICKS, Role
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

S = TypeVar("S")


class Observer:
    """Looks at one run, which it must not change: the episode is the same with and without it.

    The world is the run's, or the one of a part of its model.
    """

    def attach(self, run: "Run[Any]") -> None:
        """Prepare for a run, whose model has not begun: it has no state yet."""

    def event(self, world: World) -> None:
        """Look at the event that is processed next, the first of `world.scheduled()`."""


class Run(Generic[S]):
    """One episode: a model, a seed, and the answers still to come; it never calls a policy.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: The roles that policies play; None means the model's default roles.
        limits: Of wall time, events and decisions.
        futures: Redraws of the future, in order: the number of decisions before it, and its seed.
        observers: Called before every event.
        points: Receives the points of `world.point` and of monitors.

    Attributes:
        state: What the model's `begin` returned.
        decisions: The number of settled decisions.
        handed_out: The decisions handed out last; the answered ones have an action.
        thinking: The thinking of the roles whose decisions take time, by name.
        fault: The error with which the run has failed; None if it has not.

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
        self.roles = roles = model.roles
        self.decisions = 0
        # A union takes as long to look up as an event.
        self._codec = {name: codec(role.action) for name, role in roles.items()}
        self._fits = {name: type_check(role.observation) for name, role in roles.items()}
        self.thinking = {n: role.thinking for n, role in roles.items() if role.thinking.takes_time}
        self._most_asked = {n: model_of(model, n)[0].max_questions_per_tick for n in roles}
        # Questions by role at tick `_instant`.
        self._asked: dict[str, int] = {}
        self._instant = -1
        self.handed_out: list[Decision] = []
        self.fault: DesimError | None = None
        self.world = World(seed, check_roles(model, seats))
        self.world.points, self.world.roles = points, roles
        self._limits = limits or Limits()
        self._events = 0
        seconds = self._limits.seconds
        self._due = None if seconds is None else time.monotonic() + seconds
        self._log = self.world.log or None
        if self._log is not None:
            self.world.calendar = model.time.calendar
        self.is_observed = bool(observers)
        counting = (self._count_event,) if self._limits else ()
        self.world.on_event = (*counting, *(one.event for one in observers))
        for one in observers:
            one.attach(self)
        with self._faults(), Alarm(seconds):
            self.state = model.begin(self.world)

    # -- questions and answers ---------------------------------------------------------------------

    def advance(self) -> list[Decision]:
        """Move the clock to the next tick with open decisions and hand them out together.

        They are in the order in which they were asked; there are none once the episode has ended.

        Raises:
            UsageError: Decisions handed out before have no answer yet.
            Stuck: A role is asked more often at one tick than the model allows.
            ModelFailed: A process of the model raised an exception, returned an observation of
                another class, or never yielded a question. Every later call raises it again.
            LimitReached: The run has used up its time, events or decisions.
        """
        if self.fault is not None:
            raise self.fault
        self._release()
        # Not `with self._faults()`, which takes a tenth of the time of a decision.
        try:
            if self._due is None:
                self._hand_out(self.world.settled())
            else:
                with Alarm(self._limits.seconds, self._due - time.monotonic()):
                    self._hand_out(self.world.settled())  # a process may never return
        except RAISED as fault:
            self._fail(fault)
        if self._log is not None and not self.handed_out:
            self._log_end(self._log)
        return self.handed_out

    @property
    def open(self) -> list[Decision]:
        """The decisions handed out last that have no answer yet."""
        return [decision for decision in self.handed_out if not decision.wire]

    def answer(
        self,
        decision: Decision,
        action: Any,
        delay: int | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Answer an open decision; the clock does not move before `advance` is called.

        Args:
            decision: One of those handed out last.
            action: An instance of one of the role's action classes, or its tagged object.
            delay: Ticks of the role's world until the answer takes effect; None for those of the
                role's `Thinking`.
            notes: Of the policy, whose usage may take time.

        Raises:
            WrongAction: The action is not in the role's schema.
            UsageError: The decision is not open, or the delay is not a whole number of ticks.
        """
        if self.fault is not None:
            raise self.fault
        if decision not in self.handed_out or decision.wire:
            raise UsageError(f"the decision of {decision.role!r} is not open")
        if delay is not None or self.thinking:
            decision.delay = self._delay(decision.role, delay, notes)
        try:
            is_any = decision.actions is None
            taking = self._codec[decision.role] if is_any else codec(decision.spec.action)
            decision.action, decision.wire = taking.take(action)
        except WrongAction as wrong:
            only = "" if decision.actions is None else ", as this question takes no other action"
            raise WrongAction(
                f"{decision.role!r} answered at t={self.world.now}: {wrong}{only}", wrong.why
            ) from None

    def _release(self) -> None:
        # All answers are checked first, so that an error changes nothing.
        for decision in self.handed_out:
            if not decision.wire:
                raise UsageError(
                    f"{decision.role!r} has not answered at t={self.world.now}; answer every "
                    "decision before the clock moves on"
                )
        # In the order of the questions, not of the answers: the order of events must not depend on
        # an event loop that awaits several policies at once.
        for decision in self.handed_out:
            if self._log is not None:
                self._log.debug("answered", role=decision.role, action=decision.action)
            decision.settle(decision.action)
        self.decisions += len(self.handed_out)
        self.handed_out = []

    def _hand_out(self, decisions: list[Decision]) -> None:
        now, asked = self.world.now, self._asked
        if now != self._instant:
            self._instant = now
            asked.clear()
        for decision in decisions:
            role = decision.role
            asked[role] = count = asked.get(role, 0) + 1
            if count > 1 and count > self._most_asked[role]:
                raise Stuck(
                    f"{role!r} was asked {count} times at t={now} and the clock does not move; "
                    f"max_questions_per_tick is {self._most_asked[role]}"
                )
            if decision.actions is not None:
                decision.narrowed = self._narrowed(decision)
            decision.observation = seen = decision.observe()
            if not self._fits[role](seen):
                self._check_observation(decision)
        self.handed_out = decisions
        most = self._limits.decisions
        if most is not None and self.decisions + len(decisions) > most:
            self._stop(f"the limit of {most:,} decisions was reached")
        while self._futures and self._futures[0][0] < self.decisions + len(decisions):
            self.redraw(self._futures.pop(0)[1])

    def _delay(self, role: str, delay: int | None, notes: Mapping[str, Any] | None) -> int:
        if delay is None:
            return self.thinking[role].ticks(notes) if role in self.thinking else 0
        if type(delay) is not int or not 0 <= delay <= MOST_TICKS:
            raise UsageError(
                f"a delay of {short_repr(delay)} was given for {role!r}; it is a whole number of "
                f"ticks from 0 to {MOST_TICKS}"
            )
        return delay

    def _narrowed(self, decision: Decision) -> Role:
        try:
            return self.roles[decision.role].narrowed(decision.actions)
        except UsageError as fault:
            text = f"the question to {decision.role!r} at t={self.world.now}: {fault}"
            raise UsageError(text) from None

    def _check_observation(self, decision: Decision) -> None:
        try:
            check_observation(decision.observation, self.roles[decision.role].observation)
        except SchemaError as fault:
            raise ModelFailed(
                f"the observation for {decision.role!r} at t={self.world.now}, made by "
                f"{function_name(decision.observe)}, does not fit: {fault}"
            ) from None

    def _log_end(self, log: Log) -> None:
        # A warning, not an error: a process that waits when no event is left waits forever, which
        # is usually a mistake but may be intended.
        if self.world.left:
            log.warning("no event is left and processes still wait", waiting=self.world.left)
        log.info("episode ended", reason=self.world.ended, decisions=self.decisions)

    # -- limits ------------------------------------------------------------------------------------

    def _count_event(self, world: World) -> None:
        """Count an event of the run's world or a part's against the limits."""
        self._events += 1
        # Read at every event, for a process without end where no alarm can be set: in a thread.
        most = self._limits.events
        if self._due is not None and time.monotonic() > self._due:
            self._stop(time_text(self._limits.seconds))
        elif most is not None and self._events > most:
            by = resumed_by(next(world.scheduled())[2])
            self._stop(f"the limit of {most:,} events was reached", f", before {by}" if by else "")

    def _stop(self, text: str, before: str = "") -> NoReturn:
        # The same error again, with its notes, if a part has raised it before.
        self.fault = self.fault or LimitReached(f"{text} at t={self.world.now}{before}")
        raise self.fault

    # -- redraws and results -----------------------------------------------------------------------

    def redraw(self, future: int) -> None:
        """Draw anew, by the seed of a future, what no role can have observed yet; keep the rest.

        At the present decision; an episode that is to be recorded takes *futures* instead.
        """
        check_seed(future, "future")
        with self._faults():
            self.world.redraw(future)
            self.model.redraw(self.world, self.state)

    def result(self) -> Result:
        """Return the result of an ended episode; errors are those of `summarise`."""
        if self.fault is None and not self.world.ended:
            raise UsageError("the episode still runs: advance until it hands out no decision")
        with self._faults():
            return summarise(self.model, self.state, self.world, self.decisions)

    def score(self) -> float:
        """Return the model's score of the present state; the episode need not have ended."""
        with self._faults():
            return score_of(self.model, self.state)

    def ended_series(self) -> tuple[Series, Ticks]:
        """Return the series of an ended episode, and the ends of their periods."""
        with self._faults():
            return ended_series(self.model, self.state, self.world.now)

    # -- faults ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn a model's exception into an error with tick and place; the run is then dead."""
        if self.fault is not None:
            raise self.fault
        try:
            yield
        except RAISED as fault:
            self._fail(fault)

    def _fail(self, fault: BaseException) -> NoReturn:
        """Mark the run dead and raise: desim's own errors as such, others as ModelFailed."""
        # Kept, so that a driver that catches it cannot play on in a half-changed state.
        notes = notes_text(fault)
        if isinstance(fault, DesimError):
            self.fault = type(fault)(f"{fault}{notes}") if notes else fault
            raise self.fault from (fault if notes else fault.__cause__)
        self.fault = ModelFailed(
            f"model {type(self.model).__name__} failed at t={self.world.now} in "
            f"{place(fault)}: {fault_text(fault)}{notes}"
        )
        raise self.fault from fault


def check_roles(model: Model[Any], seats: Sequence[str] | frozenset[str] | None) -> frozenset[str]:
    """Return the roles that policies play: *seats*, or the model's default roles if it is None."""
    taken = frozenset(model.default_roles if seats is None else seats)
    roles = model.roles  # read once: a model may make them anew
    for name in sorted(taken - roles.keys()):
        raise UsageError(f"there is no role {name!r}; {possible(name, roles)}")
    for name, role in roles.items():
        if name not in taken and not role.optional:
            raise UsageError(f"role {name!r} needs a policy")
    return taken


def check_futures(futures: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return redraws of the future as a list: numbers of decisions before, and seeds."""
    checked = [(decisions, future) for decisions, future in futures]
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
