"""Scores ahead of an episode, played on lanes that follow it.

An episode is played once more as a single lane, which takes a step with each of its decisions.
Rollouts are copies of that lane, so that the past is never repeated.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

from desim.core.model_protocols import Model
from desim.core.policy_protocols import Policy
from desim.episodes.ahead.lane_by_lane import LaneByLane, decides_lane_by_lane
from desim.errors import LimitReached
from desim.faults import RAISED
from desim.lanes.lane_columns import Array, Columns
from desim.lanes.lane_protocols import DecidesAll, HasPeriod, Lanes, NoLanes
from desim.lanes.play_lanes import MOST_LANES, all_answers, answers_all, lanes_of

#: Returns role and action of a decision of the episode, by its number from 0.
Decided = Callable[[int], tuple[str, Any]]

#: The actions of roles at one instant; the policies of other roles decide.
Given = Mapping[str, Any]

#: A row for each candidate, with a score for each future; None for one that lanes cannot play.
Scores = list[list[float] | None]


class LaneMirrors:
    """The lanes that follow one episode, one for each line-up that is played ahead.

    Args:
        model: The frozen parameters.
        seed: The episode's seed; its future has not been redrawn.
    """

    def __init__(self, model: Model[Any], seed: int) -> None:
        self._model, self._seed = model, seed
        self._kept: list[tuple[Any, LaneMirror | None]] = []

    def scores(
        self,
        policies: Any,
        make: Callable[[], Mapping[str, Policy]],
        past: int,
        decided: Decided,
        score: "Callable[[LaneMirror], Scores]",
    ) -> Scores | None:
        """Return what a function returns for the lane that has followed the past.

        Args:
            policies: Those of all seats, as they were given; equal ones share a lane.
            make: Makes new ones of them.
            past: The number of decisions of the episode before the present instant.
            decided: Returns one of them.
            score: Plays ahead from the lane.

        Returns:
            The scores; None if lanes cannot play them, or raise an exception. A caller then plays
            in another way, which raises what it raises.
        """
        mirror: LaneMirror | None = None
        try:
            place = next((n for n, (one, _) in enumerate(self._kept) if one == policies), None)
            if place is not None:
                _, mirror = self._kept.pop(place)
            if place is None or (mirror is not None and mirror.decided > past):
                mirror = LaneMirror(self._model, self._seed, make())
            if mirror is None:
                return None
            followed, mirror = mirror, None  # one that cannot follow is of no use any more
            followed.follow(past, decided)
            mirror = followed
            return score(mirror)
        except LimitReached:  # the episode's
            raise
        except NoLanes:
            return None
        except RAISED:
            mirror = None
            return None
        finally:
            self._kept.append((policies, mirror))


class LaneMirror:
    """A lane that follows an episode, and policies that observe it.

    Args:
        model: The frozen parameters.
        seed: The episode's seed.
        policies: New policies of all seats.

    Raises:
        NoLanes: The model has no lanes, or a policy cannot answer them.

    Attributes:
        decided: The number of decisions that it has followed.
    """

    def __init__(self, model: Model[Any], seed: int, policies: Mapping[str, Policy]) -> None:
        self._lanes = lanes_of(model, [*policies], [seed])
        self._actions = {role: model.roles[role].action for role in policies}
        self._policies = {role: self._answering(role, one) for role, one in policies.items()}
        self._asked = self._lanes.reset()
        self._ahead: tuple[Any, Lanes] = None, self._lanes
        self.decided = 0

    def _answering(self, role: str, policy: Policy) -> DecidesAll:
        if answers_all(policy):
            return policy
        if decides_lane_by_lane(policy):
            return LaneByLane(policy, self._actions[role], self._lanes.texts)
        raise NoLanes(f"the policy of {role!r} does not answer all lanes")

    def follow(self, past: int, decided: Decided) -> None:
        """Answer the questions of all instants as in the episode; the policies observe them.

        Args:
            past: The number of decisions that are answered then.
            decided: Returns one of them.

        Raises:
            NoLanes: The episode had other questions.
        """
        while self.decided < past:
            asked = [role for role, seen in self._asked.items() if _asks(seen)]
            given = dict(map(decided, range(self.decided, self.decided + len(asked))))
            if given.keys() != {*asked}:
                raise NoLanes(f"the lane asks {', '.join(asked)}, and the episode {[*given]}")
            answers = self._answers(self._policies, [given])
            self._asked = self._lanes.step(answers)
            self.decided += len(asked)

    def check(self, role: str, observation: Any) -> None:
        """Compare the present question to a role with that of the episode.

        Raises:
            NoLanes: It differs.
        """
        if self._asked[role].row(0, self._lanes.texts) != observation:
            raise NoLanes(f"the lane asks {role!r} another question than the episode")

    def scores(
        self,
        candidates: Sequence[Given],
        futures: Sequence[int | None],
        ticks: int | None = None,
    ) -> Scores:
        """Return the scores of some answers to the present questions.

        Args:
            candidates: Answers of the same roles.
            futures: Seeds of redrawn futures; None is the true one.
            ticks: Ticks after which a rollout ends; None plays to the end.

        Raises:
            NoLanes: No candidate has lanes, a figure would leave the exact range, steps of the
                lanes take other times, or a score is not finite.
        """
        steps = self._steps(ticks)
        try:
            return [*self._rows(candidates, futures, steps)]
        except NoLanes:
            taken = [self._takes(given) for given in candidates]
            if all(taken) or not any(taken):
                raise
        rows = iter(self._rows([*compress(candidates, taken)], futures, steps))
        return [next(rows) if one else None for one in taken]

    def _takes(self, given: Given) -> bool:
        """Return whether lanes take an answer."""
        try:
            self._played(self._lanes, [given], 1, 1)
        except NoLanes:
            return False
        return True

    def _rows(
        self, candidates: Sequence[Given], futures: Sequence[int | None], steps: float
    ) -> list[list[float]]:
        """Return the scores of each candidate, played in as many parts as memory takes."""
        rows: list[list[float]] = [[] for _ in candidates]
        each = max(1, MOST_LANES // len(candidates))
        for first in range(0, len(futures), each):
            part = futures[first : first + each]
            scores = self._played(self._redrawn(part), candidates, len(part), steps)
            for place, row in enumerate(rows):
                row.extend(scores[place * len(part) : (place + 1) * len(part)])
        return rows

    def _redrawn(self, futures: Sequence[int | None]) -> Lanes:
        """Return lanes that continue the episode, one in each future."""
        key = self.decided, tuple(futures)
        if key != self._ahead[0]:  # drawing may take longer than playing
            lanes = self._lanes.fork([0] * len(futures))
            if seeds := [future for future in futures if future is not None]:
                lanes.redraw(seeds)
            self._ahead = key, lanes
        return self._ahead[1]

    def _steps(self, ticks: int | None) -> float:
        """Return after how many steps a rollout ends."""
        if ticks is None:
            return math.inf
        if not isinstance(self._lanes, HasPeriod) or ticks % self._lanes.period:
            raise NoLanes(f"no number of steps of the lanes takes {ticks} ticks")
        return ticks // self._lanes.period

    def _played(
        self, futures: Lanes, candidates: Sequence[Given], each: int, most: float
    ) -> list[float]:
        """Return the scores of rollouts, each a lane of its own: all of a candidate, then the next.

        Args:
            futures: A lane for each future.
            candidates: The answers.
            each: The number of futures.
            most: Steps after which a rollout ends.
        """
        lanes = futures.fork([*range(each)] * len(candidates))
        policies, steps = copy.deepcopy(self._policies), 1
        given = [one for one in candidates for _ in range(each)]
        asked = lanes.step(self._answers(policies, given))
        while asked and steps < most:
            asked = lanes.step({r: all_answers(policies[r], seen) for r, seen in asked.items()})
            steps += 1
        scores = [float(one) for one in lanes.score()]
        if not all(map(math.isfinite, scores)):
            raise NoLanes("a score is not finite")
        return scores

    def _answers(
        self, policies: Mapping[str, DecidesAll], given: Sequence[Given]
    ) -> dict[str, Mapping[str, Array]]:
        """Return the answers to the present questions, one for each lane that goes on from here.

        All policies with a memory observe the questions; the answers that are given count.
        """
        found: dict[str, Mapping[str, Array]] = {}
        for role, seen in self._asked.items():
            policy, kind = policies[role], self._actions[role]
            if role not in given[0]:
                found[role] = _repeated(all_answers(policy, seen), kind, len(given))
                continue
            if not isinstance(policy, LaneByLane):
                all_answers(policy, seen)
            actions = [each[role] for each in given]
            found[role] = Columns.of(kind, actions, self._lanes.texts)
        return found


def _asks(seen: Columns) -> bool:
    return seen.asks is None or bool(seen.asks[0])


def _repeated(answer: Mapping[str, Array], kind: Any, times: int) -> Columns:
    """Return the answer of a single lane for as many lanes."""
    from numpy import ndim, repeat

    arrays = {name: repeat(one, times) if ndim(one) else one for name, one in answer.items()}
    return Columns(answer.kind if isinstance(answer, Columns) else kind, arrays)
