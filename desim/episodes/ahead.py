"""An episode goes on from one of its decisions: `Course`, for looks ahead and for records.

A rollout repeats the decisions so far in a run of its own, as generators of processes cannot be
copied; after many decisions it continues the episode's own run in a forked child process.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from desim.core.events import Decision
from desim.core.model import Model
from desim.core.policy import Policy, as_policy, decide_as, knows, sees_more_than_rules
from desim.core.roles import Role
from desim.core.run import Run
from desim.core.streams import future_seed, kept_globals, seed_globals
from desim.episodes.child import can_fork, in_child
from desim.episodes.lineup import Lineup, Policies, assign, is_coroutine, resolve
from desim.episodes.replay import move_on, open_decisions, paired
from desim.errors import DesimError, LimitReached, PolicyFailed, UsageError
from desim.faults import RAISED, fault_text
from desim.schema import encode_observation
from desim.short_repr import short_repr

if TYPE_CHECKING:  # numpy takes longer to import than all of desim
    from numpy import float64
    from numpy.typing import NDArray

#: Most decisions of policies in one course; a course that goes on is an error.
MAX_DECISIONS = 100_000

#: Decisions of the past from which on a rollout is played in a forked process. A fork and the pages
#: that a child copies take 1 to 6 ms, more in a large process.
FORKS_FROM = 100

#: Why a rollout ends that reaches its horizon.
CUT = "horizon of a rollout"

#: The rank of the horizon among the events of its tick: after those of models, parts and links.
_LAST = 2_000_000


@frozen
class Course:
    """Given answers to some decisions of an episode, and policies for the others.

    Attributes:
        policies: By role; each also observes the decisions of its role whose answer is given,
            unless it is memoryless.
        given: Answers by the number of the decision, from 0, and the ticks until each takes effect
            (None: the latency of the role).
        fresh: Roles whose policies observe nothing before they decide.
    """

    policies: Mapping[str, Policy]
    given: Mapping[int, tuple[Any, int | None]] = field(factory=dict)
    fresh: frozenset[str] = frozenset()

    def observe(self, decision: Decision) -> None:
        """Let the policy of a role observe a decision whose answer is given."""
        if decision.role not in self.fresh and not self.policies[decision.role].memoryless:
            self._decided(decision)

    def play(self, run: Run[Any]) -> None:
        """Answer all questions of a run, from the open ones on, until it has ended."""
        decided = 0
        for number, decision in enumerate(open_decisions(run), run.decisions):
            if number in self.given:
                self.observe(decision)
                run.answer(decision, *self.given[number])
                continue
            if decided == MAX_DECISIONS:
                still = f"it still asks at t={run.world.now}"
                raise PolicyFailed(f"{still}, after {MAX_DECISIONS:,} decisions")
            run.answer(decision, self._decided(decision))
            decided += 1

    def _decided(self, decision: Decision) -> Any:
        role, t = decision.role, int(decision.env.now)
        return decide_at_once(self.policies[role], role, t, decision.spec, decision.observation)


def decide_at_once(policy: Policy, role: str, t: int, spec: Role, observation: Any) -> Any:
    """Return what a policy decides in a branch or a rollout, where nothing is awaited."""
    try:
        return decide_as(policy, spec, observation)
    except DesimError:
        raise
    except RAISED as fault:
        raise PolicyFailed(
            f"the policy of {role!r} failed at t={t} of a branch, after actions that were not all "
            f"its own: {fault_text(fault)}"
        ) from fault


def new_lineup(model: Model[Any], given: Mapping[str, Any], seed: int) -> Lineup:
    """Return new policies; an instance is copied, so that no other course has played it."""
    return resolve(model, {role: copy.deepcopy(one) for role, one in given.items()}, seed)


def check_repeatable(name: str, policy: Any, use: str, *, redrawn: bool = True) -> None:
    """Check that a policy, or its class, can play many courses of one episode."""
    why, policy = "", as_policy(policy)
    if policy.reaches:
        why = "opens files or contacts a host, and would do so in each"
    elif policy.looks_ahead:
        why = "looks ahead itself"
    elif is_coroutine(policy):
        why = "is a coroutine, which nothing awaits there"
    elif redrawn and sees_more_than_rules(knows(policy)):
        why = "knows hidden state or the true future, which is redrawn"
    if why:
        raise UsageError(f"policy {name!r} cannot play in {use}: it {why}")


class Simulator:
    """Plays ahead from the present decision of one role; policies that look ahead receive one.

    Attributes:
        model: The frozen parameters of the whole episode.
        role: The name of the role in the episode: `plant.retailer` of a part.
        roles: The names of all seats of the episode.
    """

    def __init__(
        self,
        run: Run[Any],
        role: str,
        answers: list[Decision],  # of the episode; those of the present instant may be among them
        futures: Sequence[tuple[int, int]] = (),  # the redraws that the episode has had
    ) -> None:
        self.model: Model[Any] = run.model
        self.role = role
        self.roles = tuple(name for name in run.roles if name in run.world.seats)
        self._run = run
        self._answers = answers
        self._futures = tuple(futures)

    def lineup(self, policies: Policies, seed: int) -> Lineup:
        """Return new policies for all seats, whose own draws begin with this seed.

        A `UsageError` if a seat has no policy, or one that `check_repeatable` refuses.
        """
        made = new_lineup(self.model, assign(self.model, policies, self.roles), seed)
        for role in self.roles:
            if role not in made.policies:
                raise UsageError(f"role {role!r} needs a policy in rollouts")
        for role, policy in made.policies.items():
            check_repeatable(made.labels[role], policy, "rollouts")
        return made

    def futures(self, samples: int) -> list[int]:
        """Return seeds of futures for the present decision, the same whenever it is played."""
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
        have observed what their roles have observed so far. A question to another role at the same
        instant is answered by its policy, also where its answer is known here already.

        Args:
            observation: The role's present observation, as received by `decide`.
            actions: Candidates: instances or tagged objects.
            policies: For all seats after that.
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
            [self._score(place, action, policies, future, ticks) for future in futures]
            for action in actions
        ]
        return array(rows, dtype=float).reshape(len(actions), len(futures))

    def _score(
        self, place: int, action: Any, policies: Policies, future: int, ticks: int | None
    ) -> float:
        seed_globals(future)
        made = self.lineup(policies, future).policies
        answer = {self._run.decisions + place: (action, None)}
        course = Course(made, answer)

        def score(run: Run[Any]) -> float:
            run.redraw(future)
            if ticks is not None:  # after everything else that happens then
                horizon = run.world.timeout(ticks, rank=_LAST)
                horizon.callbacks.append(lambda _: run.world.end(CUT))
            course.play(run)
            return run.score()

        # An observer of the episode may not see what a child does.
        if self._run.decisions >= FORKS_FROM and not self._run.is_observed and can_fork():
            found = in_child(lambda: score(self._reopened(course)))
            if found is not None:
                return found
        try:
            return score(self._repeated(course, place))
        except LimitReached:  # the episode's
            raise
        except RAISED as fault:
            raise PolicyFailed(
                f"a rollout of {self.role!r} at t={self._run.world.now} failed, with "
                f"{short_repr(action)} in future {future}: {fault_text(fault)}"
            ) from fault

    def _reopened(self, course: Course) -> Run[Any]:
        """Return the episode's own run, in a child, without answers to the open questions."""
        for decision in self._answers[: self._run.decisions]:
            course.observe(decision)
        for decision in self._run.handed_out:
            decision.action, decision.wire, decision.delay = None, b"", 0
        return self._run

    def _repeated(self, course: Course, place: int) -> Run[Any]:
        """Return a run that has repeated the decisions so far, and leads to the same question."""
        run = Run(self.model, self._run.world.seed, self.roles, futures=self._futures)
        for _, decision, answered in paired(run, self._answers[: self._run.decisions]):
            course.observe(decision)
            # Not `Run.answer`: the episode has checked the answer.
            decision.action, decision.wire = answered.action, answered.wire
            decision.delay = answered.delay
        move_on(run)
        kind, present = self._run.roles[self.role].observation, self._run.handed_out[place]
        again = run.open[place] if place < len(run.open) else None
        if again and again.role == self.role:
            seen = (encode_observation(one.observation, kind) for one in (present, again))
            if len({*seen}) == 1:
                return run
        raise PolicyFailed(
            f"{type(self.model).__name__} does not repeat itself: the same seed and answers led to "
            "another question"
        )

    def _place(self, observation: Any) -> int:
        """Return the place of the present question among those of its instant."""
        own = [(at, d) for at, d in enumerate(self._run.handed_out) if d.role == self.role]
        same = [at for at, decision in own if decision.observation is observation]
        # A policy around this one may have changed the observation: the first open question.
        for at in same or [at for at, decision in own if not decision.wire]:
            return at
        raise UsageError(f"{self.role!r} has no open decision from which to play ahead")
