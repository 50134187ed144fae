"""Counterfactuals: an episode on record is played again with one decision changed.

The recorded players are not available any more: a person has left, a language model costs money. So
a policy that the caller names plays on after the decision, and it does so after the recorded action
as after any other.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Self

from attrs import evolve, frozen

from desim import catalog
from desim.catalog.policy_spec import label, read_policies
from desim.collector import rare_collections
from desim.core.model import Model
from desim.core.policy import (
    Policy,
    decide_arguments,
    memoryless_roles,
    sees_more_than_rules,
)
from desim.core.run import Run
from desim.core.streams import seed_globals
from desim.core.world import Decision
from desim.episodes.ahead.repeatable import check_repeatable, decide_at_once
from desim.episodes.futures.past import Arm, Past
from desim.episodes.lineup import Policies, lineup_knows, maker_of, resolve
from desim.episodes.prefix import open_decisions
from desim.episodes.trust import given_policies
from desim.errors import UsageError
from desim.faults import RAISED
from desim.schema import codec


def outcome(past: Past, arm: Arm, future: int | None) -> float:
    """Return the score of an episode that begins as on record and goes on otherwise.

    Decisions that were open together with a changed one keep their recorded answers: those who gave
    them could not know of the change. The policies of an arm observe what their roles observed
    before, unless they are fresh; what they would have decided then does not count.

    Args:
        past: The record.
        arm: The actions to take at the decision.
        future: The seed with which everything is drawn that no role can have observed when the
            decision is open (see `branch`), and the seed of the policies' seats; None means
            the true future, and the seed of the episode.

    Raises:
        PolicyFailed: A policy raised an exception.
        DesimError: Whatever else an episode raises.
    """
    header = past.header
    seed_globals(header.seed)
    futures = header.futures_of_branch(arm.at, future)
    run = Run(past.model, header.seed, [*header.policies], past.limits, futures)
    return Course.of(past, arm, future).play(run)


@frozen
class Course:
    """A course of an episode on record, with new policies.

    Attributes:
        past: The record.
        arm: The answers; its fresh roles include those of memoryless policies.
        policies: By role; empty where the arm has none.
    """

    past: Past
    arm: Arm
    policies: Mapping[str, Policy]

    @classmethod
    def of(cls, past: Past, arm: Arm, future: int | None) -> Self:
        """Return a course in a redrawn future, or in the true one; see `outcome`."""
        if arm.then is None:
            return cls(past, arm, {})
        made = new_policies(past, arm.then, past.header.seed if future is None else future)
        return cls(past, evolve(arm, fresh=arm.fresh | memoryless_roles(made)), made)

    def observe(self, t: int, decision: Decision) -> None:
        """Let the policy of its role observe a decision that was repeated for another course."""
        if self.arm.then is not None and decision.role not in self.arm.fresh:
            role, seen = decision.role, decision.observation
            decide_at_once(self.policies[role], role, t, seen, decision.narrowed)

    def play(self, run: Run[Any]) -> float:
        """Answer all decisions of a run from the open ones on, and return its score."""
        with rare_collections():
            for number, decision in enumerate(open_decisions(run), run.decisions):
                run.answer(decision, self._answer(number, decision), self._delay(number))
            return run.result().score

    def _delay(self, number: int) -> int | None:
        """Return the ticks that an answer took on record; None for the answer of a policy."""
        if self.arm.then is not None and known_answer(self.past, self.arm, number) is None:
            return None
        return self.past.moments[number].delay

    def _answer(self, number: int, decision: Decision) -> Any:
        """Return the answer to a decision."""
        arm, moments = self.arm, self.past.moments
        if arm.then is None:
            if number == arm.at and arm.action is not None:
                return arm.action
            if number < len(moments):
                return moments[number].action
            raise UsageError(f"the record was cut after {number} decisions, so it has no end")
        known = known_answer(self.past, arm, number)
        if known is not None and decision.role in arm.fresh:
            return known
        t, role = int(decision.env.now), decision.role
        seen, narrowed = decision.observation, decision.narrowed
        decided = decide_at_once(self.policies[role], role, t, seen, narrowed)
        return decided if known is None else known


def known_answer(past: Past, arm: Arm, number: int) -> Any:
    """Return the answer to a decision that no policy of an arm makes; None for the others."""
    if number == arm.at:
        return arm.action
    until = arm.at if arm.action is None else past.moments[arm.at].until
    # A record may be cut between decisions that were open together.
    return past.moments[number].action if number < min(until, len(past.moments)) else None


def players(past: Past, policies: Policies, *, redrawn: bool) -> dict[str, Any]:
    """Return by role the policies that a caller gives, checked: no host, no file, no foreknowledge.

    Args:
        past: The record.
        policies: One for all roles of the record, or by role.
        redrawn: Whether they play in redrawn futures, where a policy that knows hidden state or
            the true future is refused.

    Raises:
        UsageError: A policy does not exist, or cannot play here.
    """
    given = given_policies(past.header, past.model, policies)
    for role in given.keys() - past.header.policies.keys():
        roles = ", ".join(past.header.policies)
        raise UsageError(f"no policy plays {role!r} in the record; its roles are {roles}")
    for one in given.values():
        check_repeatable(label(one), maker_of(one, past.model), "branches", redrawn=redrawn)
    return given


def players_of_all(past: Past, then: Policies, *, redrawn: bool) -> dict[str, Any]:
    """Return by role the policies that play on, one for each role of the record.

    Raises:
        UsageError: See `players`; or a role has no policy.
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
    new_policies(past, given, past.header.seed)  # an error in a spec is raised before any other
    return given


def fresh_roles(past: Past, policies: Mapping[str, Any]) -> frozenset[str]:
    """Return the roles whose policies cannot follow decisions that they have not made.

    A rule with a memory of past demand can observe a game that another policy plays. One that asks
    a question and reads the reply in the next observation cannot: it raises an exception. Such a
    policy begins with its first decision after the changed one; see `play_branch`.

    Args:
        past: The record, with observations.
        policies: By role, of all roles of the record.
    """
    made = new_policies(past, policies, past.header.seed)
    fresh = set()
    for moment in past.moments:
        if moment.role not in fresh:
            try:
                policy = made[moment.role]
                policy.decide(*decide_arguments(policy, moment.observation, moment.narrowed))
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
        then: Policies of all roles; those that are not in *policies* are not used.

    Raises:
        PolicyFailed: A policy raised an exception.
        WrongAction: An answer is not in the role's schema.
    """
    every = {**then, **policies}
    fresh = fresh_roles(past, every)
    made = new_policies(past, every, past.header.seed)
    for moment in past.moments:
        role = moment.role
        if role not in policies:
            yield None
            continue
        asked = new_policies(past, every, past.header.seed) if role in fresh else made
        seen, narrowed = moment.observation, moment.narrowed
        answer = decide_at_once(asked[role], role, moment.t, seen, narrowed)
        yield codec(past.role_of(moment).action).take(answer)[0]


def new_policies(past: Past, policies: Mapping[str, Any], seed: int) -> Mapping[str, Policy]:
    """Return new policies of all roles."""
    # Copied, so that no other episode has played an instance; specs, classes and functions stay.
    given = {role: copy.deepcopy(one) for role, one in policies.items()}
    return resolve(past.model, given, seed).policies


def _baselines(model: Model[Any]) -> Iterator[str]:
    """Yield the specs that may play in redrawn futures."""
    for text in catalog.baselines(model):
        if not sees_more_than_rules(lineup_knows(model, read_policies((text,)))):
            yield text
