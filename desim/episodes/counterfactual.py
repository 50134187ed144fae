"""Counterfactuals: an episode on record is played again with one decision changed.

Policies that the caller names play on, after the recorded action as after any other.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen
from msgspec.structs import replace

from desim.catalog.policy_spec import label
from desim.collector import rare_collections
from desim.core.limits import Limits
from desim.core.model import Model
from desim.core.policy import Policy, decide_as
from desim.core.roles import Role
from desim.core.run import Run
from desim.core.streams import seed_globals
from desim.episodes.ahead import Course, check_repeatable, decide_at_once, new_lineup
from desim.episodes.lineup import Policies, maker_of
from desim.episodes.replay import given_policies, naming, repeating, run_of, trusted_model
from desim.errors import UsageError
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.records.lines import Header, Step
from desim.schema import codec
from desim.short_repr import short_repr


@frozen
class Past:
    """A record whose decisions were all repeated and found the same.

    Attributes:
        moments: The decisions, with observations and actions of the model's classes.
        until: By decision the number, from 0, of the first one that was handed out later: those
            between were open together, so none of them depends on another's answer.
        limits: The limits of each episode that is played from here.
    """

    model: Model[Any]
    header: Header
    moments: tuple[Step, ...] = field(repr=False)
    until: tuple[int, ...] = field(repr=False)
    limits: Limits | None = None

    @classmethod
    def read(
        cls,
        record: str | Path | Episode,
        limits: Limits | None = None,
        *,
        trust: bool = False,
    ) -> "Past":
        """Read a record, build its model, and repeat its decisions; no policy of it is built."""
        path = "the episode" if isinstance(record, Episode) else record
        episode = record if isinstance(record, Episode) else Episode.read(record, whole=False)
        model = trusted_model(path, episode.header, trust=trust)
        with naming(path), rare_collections():
            found = [*_repeated(model, episode, limits)]
        moments, until = tuple(one for one, _ in found), tuple(end for _, end in found)
        return cls(model, episode.header, moments, until, limits)

    def moment(self, number: int) -> Step:
        """Return a decision by its number, from 1."""
        most = len(self.moments)
        if type(number) is not int or not 1 <= number <= most:
            possible = f"1 to {most} are possible" if most else "there is none to change"
            raise UsageError(
                f"decision {short_repr(number)} was given; the record has {most} decisions: "
                f"{possible}"
            )
        return self.moments[number - 1]

    def asked(self, moment: Step) -> Role:
        """Return the role of a decision, with the actions that the question takes."""
        return self.model.roles[moment.role].of_tags(moment.possible)


def _repeated(
    model: Model[Any], episode: Episode, limits: Limits | None
) -> Iterator[tuple[Step, int]]:
    """Yield the decisions of a record as a run asks them, each with the end of its instant."""
    run = run_of(episode.header, model, limits=limits)
    for decision, step in repeating(run, episode.header, episode.steps):
        seen, action = decision.observation, decision.action
        made = replace(step, observation=seen, action=action, notes=None)
        yield made, run.decisions + len(run.handed_out)


def outcome(
    past: Past,
    at: int,
    action: Any,
    then: Mapping[str, Any],
    future: int | None = None,
    fresh: frozenset[str] = frozenset(),
) -> float:
    """Return the score of an episode that begins as on record and goes on otherwise.

    Decisions that were open together with the changed one keep their recorded answers: those who
    gave them could not know of the change.

    Args:
        past: The record.
        at: The number of decisions that are repeated from it.
        action: Answers the next one.
        then: Policies of all roles, who answer the others.
        future: That of `branch`, and the seed of the policies' seats; None means the true future,
            and the seed of the episode.
        fresh: Roles whose policies observe nothing before they decide, see `fresh_roles`.
    """
    header, known = past.header, past.moments[: past.until[at]]
    seed_globals(header.seed)
    futures = header.futures_of_branch(at, future)
    run = Run(past.model, header.seed, [*header.policies], past.limits, futures)
    made = new_lineup(past.model, then, header.seed if future is None else future).policies
    given = {number: (moment.action, moment.delay) for number, moment in enumerate(known)}
    given[at] = action, past.moments[at].delay
    with rare_collections():
        Course(made, given, fresh).play(run)
        return run.result().score


def players(past: Past, policies: Policies, *, redrawn: bool) -> dict[str, Any]:
    """Return by role the policies that a caller gives, checked: no host, no file, no foreknowledge.

    In redrawn futures a policy that knows hidden state or the true future is refused.
    """
    given = given_policies(past.header, past.model, policies)
    for role in given.keys() - past.header.policies.keys():
        roles = ", ".join(past.header.policies)
        raise UsageError(f"no policy plays {role!r} in the record; its roles are {roles}")
    for one in given.values():
        check_repeatable(label(one), maker_of(one, past.model), "branches", redrawn=redrawn)
    return given


def players_of_all(past: Past, then: Policies, *, redrawn: bool) -> dict[str, Any]:
    """Return by role the policies that play on, one for each role of the record."""
    if then is None:
        raise UsageError(
            "the recorded players cannot be asked again: say who plays on after the decision, in "
            "every case alike, with --then SPEC (then= in Python)"
        )
    given = players(past, then, redrawn=redrawn)
    for role in past.header.policies:
        if role not in given:
            raise UsageError(f"no policy plays on as {role!r}; name one for every role (--then)")
    _new(past, given)  # an error in a spec is raised before any other
    return given


def _new(past: Past, policies: Mapping[str, Any]) -> Mapping[str, Policy]:
    return new_lineup(past.model, policies, past.header.seed).policies


def fresh_roles(past: Past, policies: Mapping[str, Any]) -> frozenset[str]:
    """Return the roles whose policies raise an exception where they have not made the decisions.

    One that asks a question and reads the reply in the next observation does. Such a policy begins
    with its first decision after the changed one.
    """
    made = _new(past, policies)
    fresh = set()
    for moment in past.moments:
        if moment.role not in fresh:
            try:
                decide_as(made[moment.role], past.asked(moment), moment.observation)
            except RAISED:
                fresh.add(moment.role)
    return frozenset(fresh)


def decided_at(past: Past, policies: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[Any]:
    """Yield for each decision what a policy of its role would answer; None for *then* alone.

    A policy observes what its role observed, from the beginning. One that cannot follow
    (`fresh_roles`) decides each time as if it was its first decision.
    """
    every = {**then, **policies}
    fresh = fresh_roles(past, every)
    made = _new(past, every)
    for moment in past.moments:
        role = moment.role
        if role not in policies:
            yield None
            continue
        asked = _new(past, every) if role in fresh else made
        spec = past.asked(moment)
        answer = decide_at_once(asked[role], role, moment.t, spec, moment.observation)
        yield codec(spec.action).take(answer)[0]
