"""A look ahead from an episode at play: candidate actions are tried in redrawn futures.

A rollout is a run of its own. It repeats the decisions so far, redraws what no role can have
observed yet, answers the open question with a candidate, and lets policies play all seats from
there. It never continues in the episode's own future, and changes nothing in the episode.

Generators of processes cannot be copied within a process. Once repeating the decisions takes longer
than a fork, a rollout goes on from the episode's own run in a child process.
"""

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.core.model import Model
from desim.core.policy import (
    Policy,
    memoryless_roles,
)
from desim.core.run import Run
from desim.core.streams import future_seed, kept_globals, seed_globals
from desim.core.world import Decision
from desim.episodes.ahead.child_process import FasterWay, in_child
from desim.episodes.ahead.repeatable import check_repeatable, decide_at_once
from desim.episodes.lineup import Lineup, Policies, assign, resolve
from desim.episodes.prefix import move_on, open_decisions, repeat
from desim.errors import LimitReached, PolicyFailed, UsageError
from desim.faults import RAISED, fault_text
from desim.schema import encode_observation
from desim.short_repr import short_repr

if TYPE_CHECKING:  # numpy takes longer to import than all of desim
    from numpy import float64
    from numpy.typing import NDArray

#: Most decisions of one rollout after the open one; a rollout that goes on is an error.
MAX_DECISIONS = 100_000

#: Why a rollout ends that reaches its horizon.
CUT = "horizon of a rollout"

#: The rank of the horizon among the events of its tick: after those of models, parts and links.
_LAST = 2_000_000

#: The decisions of an episode that are answered, with their ticks, in the order of the answers.
Answers = list[tuple[int, Decision]]


def play_on(run: Run[Any], policies: Mapping[str, Policy], most: int = MAX_DECISIONS) -> None:
    """Let policies answer all questions of a run, from the open ones on, until it has ended.

    Args:
        run: A run with open decisions, some of which may be answered.
        policies: By role.
        most: The largest number of decisions.

    Raises:
        PolicyFailed: The run has more decisions than the limit.
        UsageError: A policy decides in a coroutine.
    """
    for number, decision in enumerate(open_decisions(run)):
        if number == most:
            raise PolicyFailed(f"it still asks at t={run.world.now}, after {most:,} decisions")
        run.answer(decision, _decided(policies, decision))


class Simulator:
    """Plays ahead from the present decision of one role; `LooksAhead` policies receive one.

    Args:
        run: The episode's run.
        role: The role that looks ahead.
        answers: The answers so far; those of the present instant may be among them.
        futures: Redraws that the episode has had, see `Run`.

    Attributes:
        model: The frozen parameters of the whole episode.
        role: The name of the role in the episode: `plant.retailer` of a part.
        roles: The names of all seats of the episode.
        rollouts: The number of rollouts played.
    """

    def __init__(
        self,
        run: Run[Any],
        role: str,
        answers: Answers,
        futures: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.model: Model[Any] = run.model
        self.role = role
        self.roles = tuple(name for name in run.roles if name in run.world.seats)
        self.rollouts = 0
        self._run = run
        self._answers = answers
        self._futures = tuple(futures)
        self._checked: Decision | None = None
        self._way = FasterWay()

    def lineup(self, policies: Policies, seed: int) -> Lineup:
        """Return new policies for all seats.

        Args:
            policies: See `play`. An instance is copied, so it must not have decided yet.
            seed: The seed of their seats. In a rollout it is that of the future, so that the draws
                of a rule differ from its draws in the episode.

        Raises:
            UsageError: A seat has no policy, or one that cannot play ahead: it opens files or
                contacts hosts, looks ahead itself, or knows more of the episode than rules.
        """
        given = assign(self.model, policies, self.roles)
        made = resolve(self.model, {role: copy.deepcopy(one) for role, one in given.items()}, seed)
        for role in self.roles:
            if role not in made.policies:
                raise UsageError(f"role {role!r} needs a policy in rollouts")
        for role, policy in made.policies.items():
            check_repeatable(made.labels[role], policy, "rollouts")
        return made

    def futures(self, samples: int) -> list[int]:
        """Return seeds of futures for the present decision.

        They depend on the episode's seed, the role, the number of the decision and the number of
        the sample alone, so that a second play of the episode has the same.
        """
        at, seed = self._run.decisions, self._run.world.seed
        return [future_seed(seed, self.role, at, sample) for sample in range(samples)]

    @kept_globals()
    def scores(
        self,
        observation: Any,
        actions: Sequence[Any],
        policies: Policies,
        *,
        futures: Sequence[int],
        ticks: int | None = None,
    ) -> "NDArray[float64]":
        """Return the scores of answering the present question with each of some actions.

        All actions meet the same futures, so that their scores are compared in pairs. The policies
        have observed what their roles have observed so far; what they would have decided then does
        not count. A question to another role at the same instant is answered by its policy, also
        where its answer is known here already.

        Args:
            observation: The role's present observation, as received by `decide`.
            actions: Candidates: instances or tagged objects.
            policies: For all seats after that, as `lineup` takes them.
            futures: A seed for each sample, such as `futures(16)`.
            ticks: Ticks of the episode's clock after which a rollout ends, with the model's score
                of a state that has not ended; None plays to the end.

        Returns:
            A row for each action, a column for each future.

        Raises:
            UsageError: A policy cannot play ahead, or *ticks* is not a whole number of at least 1.
            PolicyFailed: A rollout failed, or has too many decisions.
            LimitReached: The episode has used up its time.
        """
        from numpy import array

        if ticks is not None and (type(ticks) is not int or ticks < 1):
            raise UsageError(f"{short_repr(ticks)} ticks were given; it is a number of at least 1")
        place = self._place(observation)
        rows = [
            [self._score(_Rollout(place, action, policies, one, ticks)) for one in futures]
            for action in actions
        ]
        return array(rows, dtype=float).reshape(len(actions), len(futures))

    def _begun(self, policies: Mapping[str, Policy], future: int) -> Run[Any]:
        """Return a run that has repeated the decisions so far, in a redrawn future.

        Args:
            policies: Observe what their roles observe, unless they are memoryless; their answers
                are dropped.
            future: The seed of the future.

        Raises:
            PolicyFailed: The model opens other decisions than in the episode.
        """
        run = Run(self.model, self._run.world.seed, self.roles, futures=self._futures)
        without_past = memoryless_roles(policies)

        def follow(_run: Run[Any], _: int, decision: Decision, past: tuple[int, Decision]) -> None:
            t, answered = past
            if decision.role != answered.role or run.world.now != t:
                raise self._differs()
            if decision.role not in without_past:
                _decided(policies, decision)
            # Not `Run.answer`: the episode has checked the answer.
            decision.action, decision.wire = answered.action, answered.wire
            decision.delay = answered.delay

        repeat(run, self._answers[: self._run.decisions], follow)
        move_on(run)
        if [each.role for each in run.open] != [each.role for each in self._run.handed_out]:
            raise self._differs()
        run.redraw(future)
        return run

    def _score(self, rollout: "_Rollout") -> float:
        self.rollouts += 1
        if self._run.is_observed:  # an observer of the episode may not see what a child does
            return self._repeated(rollout)
        continued = partial(self._continued, rollout)
        return self._way.score(
            self._run.decisions, partial(self._repeated, rollout), partial(in_child, continued)
        )

    def _repeated(self, rollout: "_Rollout") -> float:
        """Return the score of a rollout that repeats the decisions so far."""
        seed_globals(rollout.future)
        made = self.lineup(rollout.policies, rollout.future).policies
        try:
            run = self._begun(made, rollout.future)
            self._check_same(rollout.place, run.open[rollout.place])
            return _ahead(run, made, rollout)
        except LimitReached:  # the episode's
            raise
        except RAISED as fault:
            raise PolicyFailed(
                f"a rollout of {self.role!r} at t={self._run.world.now} failed, with "
                f"{short_repr(rollout.action)} in future {rollout.future}: {fault_text(fault)}"
            ) from fault

    def _continued(self, rollout: "_Rollout") -> float:
        """Return the score of a rollout that goes on in the episode's run; for a child process."""
        run = self._run
        seed_globals(rollout.future)
        made = self.lineup(rollout.policies, rollout.future).policies
        without_past = memoryless_roles(made)
        for _, decision in self._answers[: run.decisions]:
            if decision.role not in without_past:
                _decided(made, decision)
        for decision in run.handed_out:
            decision.action, decision.wire, decision.delay = None, b"", 0
        run.redraw(rollout.future)
        return _ahead(run, made, rollout)

    def _place(self, observation: Any) -> int:
        """Return the place of the present question among those of its instant.

        Raises:
            UsageError: The role has no open decision.
        """
        own = [
            (at, decision)
            for at, decision in enumerate(self._run.handed_out)
            if decision.role == self.role
        ]
        for at, decision in own:
            if decision.observation is observation:
                return at
        # A policy around this one may have changed the observation: the first open question.
        for at, decision in own:
            if not decision.wire:
                return at
        raise UsageError(f"{self.role!r} has no open decision from which to play ahead")

    def _check_same(self, place: int, decision: Decision) -> None:
        """Compare the observation of a repeated question with the present one, once a question.

        Raises:
            PolicyFailed: It differs.
        """
        present = self._run.handed_out[place]
        if present is not self._checked:
            kind = self._run.roles[decision.role].observation
            again = encode_observation(decision.observation, kind)
            if again != encode_observation(present.observation, kind):
                raise self._differs()
            self._checked = present

    def _differs(self) -> PolicyFailed:
        return PolicyFailed(
            f"{type(self.model).__name__} does not repeat itself: the same seed and answers led to "
            "another question"
        )


@frozen
class _Rollout:
    """The answer and the policies of a rollout; see `Simulator.scores`.

    Attributes:
        place: That of the question among those of its instant.
    """

    place: int
    action: Any
    policies: Policies
    future: int
    ticks: int | None


def _ahead(run: Run[Any], policies: Mapping[str, Policy], rollout: _Rollout) -> float:
    """Answer an open question of a run, let policies play on, and return the score."""
    decision = run.open[rollout.place]
    # It observes the question too, like those before.
    _decided(policies, decision)
    run.answer(decision, rollout.action)
    if rollout.ticks is not None:
        _end_after(run, rollout.ticks)
    play_on(run, policies)
    return run.score()


def _decided(policies: Mapping[str, Policy], decision: Decision) -> Any:
    """Return what the policy of a role decides; errors as of `decide_at_once`."""
    role = decision.role
    now, seen = int(decision.env.now), decision.observation
    return decide_at_once(policies[role], role, now, seen, decision.narrowed)


def _end_after(run: Run[Any], ticks: int) -> None:
    """Let a run end when some ticks have passed, after everything else that happens then."""
    horizon = run.world.timeout(ticks, rank=_LAST)
    horizon.callbacks.append(lambda _: run.world.end(CUT))
