"""What would have happened: an episode on record is played again with one decision changed.

The recorded players cannot be asked any more: a person is gone, a language model costs money. So a
policy that the caller names plays on after the decision, and it does so after the recorded action
as after any other.
"""

import copy
import datetime as dt
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attrs import evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import Spec, label, read_policies
from desim.core.collector import rare_collections
from desim.core.limits import Limits
from desim.core.model_protocols import (
    Model,
    offers,
)
from desim.core.policy_protocols import (
    Policy,
    ReachesOutside,
    is_informed,
    memoryless_roles,
)
from desim.core.reported import (
    HasDates,
)
from desim.core.run import Run
from desim.core.world import Decision
from desim.episodes.branch import same_step
from desim.episodes.episode import Episode
from desim.episodes.lineup import Policies, is_made_anew, maker_of, resolve
from desim.episodes.record import Header, Step, step_class
from desim.episodes.trust import given_policies, trusted_model
from desim.errors import BadRecord, DesimError, PolicyFailed, UsageError, WrongAction
from desim.faults import RAISED, fault_text
from desim.schema import codec

__all__ = [
    "Arm",
    "Moment",
    "Past",
    "decided_at",
    "fresh_roles",
    "outcome",
    "players",
    "players_of_all",
]


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


def outcome(past: Past, arm: Arm, future: int | None) -> float:
    """Return the score of an episode that begins as on record and goes on otherwise.

    Decisions that were open together with a changed one keep their recorded answers: those who gave
    them could not know of the change. The policies of an arm observe what their roles observed
    before, unless they are fresh; what they would have decided then does not count.

    Args:
        past: The record.
        arm: What is answered.
        future: The seed with which everything is drawn that no role can have observed when the
            decision is open, as in `branch`, and the seed of the policies' seats; None stands for
            the true future, and the seed of the episode.

    Raises:
        PolicyFailed: A policy raised an exception.
        DesimError: Whatever else an episode raises.
    """
    header = past.header
    futures = header.futures_of_branch(arm.at, future)
    run = Run(past.model, header.seed, [*header.policies], past.limits, futures)
    policies: Mapping[str, Policy] = {}
    if arm.then is not None:
        policies = _made(past, arm.then, header.seed if future is None else future)
        arm = evolve(arm, fresh=arm.fresh | memoryless_roles(policies))
    number = 0
    with rare_collections():
        while opened := run.advance():
            for decision in opened:
                run.answer(decision, _answer(past, arm, number, decision, policies))
                number += 1
        return run.result().score


def players(past: Past, policies: Policies, *, redrawn: bool) -> dict[str, Any]:
    """Return by role the policies that a caller gives, checked: no host, no file, no foreknowledge.

    Args:
        past: The record.
        policies: One for all roles of the record, or by role.
        redrawn: Whether they play in redrawn futures, where a policy that is informed of the true
            one is refused.

    Raises:
        UsageError: There is no such policy, or one cannot play here.
    """
    given = given_policies(past.header, past.model, policies)
    for role in given.keys() - past.header.policies.keys():
        roles = ", ".join(past.header.policies)
        raise UsageError(f"no policy plays {role!r} in the record; its roles are {roles}")
    for one in given.values():
        _check(past, one, redrawn=redrawn)
    return given


def players_of_all(past: Past, then: Policies, *, redrawn: bool) -> dict[str, Any]:
    """Return by role the policies that play on, one for each role of the record.

    Raises:
        UsageError: As `players`, or a role has none.
    """
    if then is None:
        named = ", ".join(_baselines(past.model))
        known = f", for instance one of: {named}" if named else ""
        raise UsageError(
            "the recorded players cannot be asked again: say who plays on after the decision, in "
            f"every case alike, with --then SPEC (then= in Python){known}"
        )
    given = players(past, then, redrawn=redrawn)
    for role in past.header.policies:
        if role not in given:
            raise UsageError(f"no policy plays on as {role!r}; name one for every role (--then)")
    _made(past, given, past.header.seed)  # what is wrong in a spec is found before anything else
    return given


def fresh_roles(past: Past, policies: Mapping[str, Any]) -> frozenset[str]:
    """Return the roles whose policies cannot follow decisions that they have not made.

    A rule with a memory of past demand can observe a game that another policy plays. One that asks
    a question and reads the reply in the next observation cannot: it raises an exception. Such a
    policy begins with its first decision after the changed one, as in `play_branch`.

    Args:
        past: The record, with observations.
        policies: By role, of all roles of the record.
    """
    made = _made(past, policies, past.header.seed)
    fresh = set()
    for moment in past.moments:
        if moment.role not in fresh:
            try:
                made[moment.role].decide(moment.observation)
            except RAISED:
                fresh.add(moment.role)
    return frozenset(fresh)


def decided_at(past: Past, policies: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[Any]:
    """Yield for each decision what a policy of its role would answer, as an instance.

    A policy observes what its role observed, from the beginning; that its own answers were not the
    recorded ones it can only see there. One that cannot follow (`fresh_roles`) decides each time as
    if it was its first decision. None for a role that has no such policy.

    Args:
        past: The record, with observations.
        policies: By role.
        then: Policies of all roles, of which those not in *policies* are not asked.

    Raises:
        PolicyFailed: A policy raised an exception.
        WrongAction: An answer is not in the role's schema.
    """
    every = {**then, **policies}
    fresh = fresh_roles(past, every)
    made = _made(past, every, past.header.seed)
    for moment in past.moments:
        role = moment.role
        if role not in policies:
            yield None
            continue
        asked = _made(past, every, past.header.seed) if role in fresh else made
        answer = _decide(asked[role], role, moment.observation, moment.t)
        yield codec(past.model.roles[role].action).take(answer)[0]


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


def _made(past: Past, policies: Mapping[str, Any], seed: int) -> Mapping[str, Policy]:
    """Return new policies of all roles."""
    given = {role: _copied(one) for role, one in policies.items()}
    return resolve(past.model, given, seed).policies


def _copied(policy: Any) -> Any:
    """Return a policy that no other episode has played; specs and classes are built anew."""
    return policy if is_made_anew(policy) else copy.deepcopy(policy)


def _baselines(model: Model[Any]) -> Iterator[str]:
    """Yield the specs that may play in redrawn futures."""
    for text in catalog.baselines(model):
        read = read_policies((text,))
        specs = read.values() if isinstance(read, Mapping) else (read,)
        if not any(is_informed(catalog.policy(Spec.read(one).name, model)) for one in specs):
            yield text


def _check(past: Past, one: Any, *, redrawn: bool) -> None:
    """Check that a policy can play many branches.

    Raises:
        UsageError: It opens a file or contacts a host, which each branch would do again; or it is
            informed, and the future is redrawn.
    """
    known = maker_of(one, past.model)
    if offers(known, ReachesOutside):
        raise UsageError(
            f"policy {label(one)!r} cannot play branches: it opens files or contacts a host, and "
            "would do so in each of them"
        )
    if redrawn and is_informed(known):
        raise UsageError(
            f"policy {label(one)!r} cannot play in redrawn futures: it uses facts of the true one"
        )
