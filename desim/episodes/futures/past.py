"""Moments of an episode on record, repeated so that other decisions can be tried from there."""

import datetime as dt
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attrs import evolve, field, frozen

from desim.core.limits import Limits
from desim.core.model_protocols import (
    Model,
    offers,
)
from desim.core.policy_protocols import (
    Policy,
)
from desim.core.reported import (
    HasDates,
)
from desim.core.run import Run
from desim.core.world import Decision
from desim.episodes.collector import rare_collections
from desim.episodes.prefix import same_step
from desim.episodes.trust import trusted_model
from desim.errors import BadRecord, DesimError, PolicyFailed, UsageError, WrongAction
from desim.faults import RAISED, fault_text
from desim.records.episode import Episode
from desim.records.lines import Header, Step
from desim.records.record import step_class


class Moment(NamedTuple):
    """One decision of a record, as it was open when the record was repeated.

    Attributes:
        t: The tick.
        role: The role that decided.
        observation: What it observed; None in a `Past` for workers, which need none.
        action: What it answered, as an instance.
        until: The number, from 0, of the first decision that was handed out later: those between
            were open together, so none of them depends on another's answer.
    """

    t: int
    role: str
    observation: Any
    action: Any
    until: int


@frozen
class Past:
    """A record whose decisions were all repeated and found the same.

    Attributes:
        model: The frozen parameters.
        header: The record's header.
        moments: Its decisions in their order.
        ended: Whether the episode ended with them.
        limits: Of each episode that is played from here.
    """

    model: Model[Any]
    header: Header
    moments: tuple[Moment, ...] = field(repr=False)
    ended: bool
    limits: Limits | None = None

    @classmethod
    def read(
        cls,
        record: str | Path | Episode,
        *,
        trust: bool = False,
        model: str = "",
        params: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> "Past":
        """Read a record, build its model, and repeat its decisions; no policy of it is built.

        Args:
            record: A record, whole or cut or of a run that failed; or an episode.
            trust: Whether whatever the record names of its model is used: modules and files.
            model: A model instead of the recorded one, which may be `module:Class`.
            params: Parameters as text instead of the recorded ones, which may name files.
            limits: Of each episode, this repetition included.

        Raises:
            BadRecord: The record cannot be read, or a decision differs from the one on record.
            UsageError: The record names something outside and is not trusted.
        """
        path = "the episode" if isinstance(record, Episode) else record
        episode = record if isinstance(record, Episode) else Episode.read(record, whole=False)
        world = trusted_model(path, episode.header, trust=trust, name=model, params=params)
        try:
            with rare_collections():
                moments = _repeated(world, episode, limits)
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None
        return cls(world, episode.header, moments, episode.result is not None, limits)

    def moment(self, at: int) -> Moment:
        """Return the decision after *at* others.

        Raises:
            UsageError: There is none.
        """
        if type(at) is not int or not 0 <= at < len(self.moments):
            most = len(self.moments) - 1
            possible = f"0 to {most} are possible" if self.moments else "there is none to change"
            raise UsageError(
                f"decision {at} was given; the record has {len(self.moments)} decisions: {possible}"
            )
        return self.moments[at]

    def day(self, t: int) -> dt.date | None:
        """Return the date of a tick; None in a model without dates."""
        return self.model.date(t) if offers(self.model, HasDates) else None

    def bare(self) -> "Past":
        """Return the same without observations, which is smaller."""
        return evolve(self, moments=tuple(one._replace(observation=None) for one in self.moments))


@frozen
class Arm:
    """How the decisions of an episode are answered from one of them on.

    Attributes:
        at: How many decisions are repeated from the record.
        action: Answers the next one; None leaves it to *then*.
        then: Policies of all roles, who answer the others; None stands for the recorded actions.
        fresh: Roles whose policies observe nothing before they decide, see `fresh_roles`; those of
            memoryless policies need not be among them.
    """

    at: int
    action: Any
    then: Mapping[str, Any] | None
    fresh: frozenset[str] = frozenset()


def _repeated(model: Model[Any], episode: Episode, limits: Limits | None) -> tuple[Moment, ...]:
    """Repeat all decisions of a record and return them.

    Raises:
        BadRecord: One differs.
    """
    header = episode.header
    run = Run(model, header.seed, [*header.policies], limits, header.futures)
    moments: list[Moment] = []
    opened: list[Decision] = []
    last = 0
    for number, step in enumerate(episode.steps):
        if number == last:
            opened = run.advance()
            last += len(opened)
        if not opened:
            raise BadRecord(f"decision {number + 1}: the record goes on, but the episode has ended")
        decision = opened[number - last + len(opened)]
        moments.append(_moment(run, number, step, decision, last))
    return tuple(moments)


def _moment(run: Run[Any], number: int, step: Step, decision: Decision, until: int) -> Moment:
    t = run.world.now
    made = step_class(run.roles[decision.role])
    question = made(t, decision.role, decision.observation, step.action)
    same_step(number + 1, step, question)
    try:
        run.answer(decision, step.action)
    except WrongAction as wrong:
        raise BadRecord(f"decision {number + 1}: {wrong}") from None
    return Moment(t, decision.role, decision.observation, decision.action, until)


def _answer(
    past: Past, arm: Arm, number: int, decision: Decision, policies: Mapping[str, Policy]
) -> Any:
    """Return the answer to a decision of an arm."""
    moments = past.moments
    if arm.then is None:
        if number == arm.at and arm.action is not None:
            return arm.action
        if number < len(moments):
            return moments[number].action
        raise UsageError(f"the record was cut after {number} decisions, so it has no end")
    known = _known(past, arm, number)
    if known is not None and decision.role in arm.fresh:
        return known
    t = int(decision.env.now)
    decided = _decide(policies[decision.role], decision.role, decision.observation, t)
    return decided if known is None else known


def _known(past: Past, arm: Arm, number: int) -> Any:
    """Return the answer to a decision that no policy of an arm makes; None for the others."""
    if number == arm.at:
        return arm.action
    until = arm.at if arm.action is None else past.moments[arm.at].until
    # A record may be cut between decisions that were open together.
    return past.moments[number].action if number < min(until, len(past.moments)) else None


def _decide(policy: Policy, role: str, observation: Any, t: int) -> Any:
    """Return what a policy decides at once.

    Raises:
        PolicyFailed: It raised an exception.
        UsageError: It decides in a coroutine.
    """
    try:
        action = policy.decide(observation)
    except DesimError:
        raise
    except RAISED as fault:
        raise PolicyFailed(
            f"the policy of {role!r} failed at t={t} of a branch: {fault_text(fault)}"
        ) from fault
    if hasattr(action, "__await__"):
        if inspect.iscoroutine(action):
            action.close()  # Python warns of one that is never awaited
        raise UsageError(f"the policy of {role!r} is a coroutine, which branches do not await")
    return action
