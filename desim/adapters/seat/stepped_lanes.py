"""Lanes whose caller plays one seat: what `SteppedSession` is for one episode."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SCORE, TRUNCATED, Rewards
from desim.adapters.seat.tool_session import only_seat
from desim.core.run import Run
from desim.episodes.driver import CallerSeat
from desim.episodes.lineup import resolve
from desim.errors import ModelFailed, UsageError
from desim.lanes import Array, Columns, NoLanes, all_answers, answers_all, lanes_of
from desim.schema import to_plain

#: The end of errors: a vector environment that plays every world.
INSTEAD = 'give vectorization_mode="sync", Gymnasium\'s SyncVectorEnv, instead'


class SteppedLanes:
    """Episodes of a setup with one seat, one a seed, that begin together and are played as lanes.

    Args:
        setup: The world, its seat, and policies of other roles, which answer all lanes.
        seeds: The seeds.

    Attributes:
        lanes: The lanes.
        seen: The last observations of the seat.
        ended: Whether the world has ended, by lane.
        truncated: Whether `max_decisions` were made before the world's own end, by lane.
        going: Whether no episode has ended or is truncated.

    Raises:
        NoLanes: The world has no lanes, a policy cannot answer all lanes, or the setup has a limit
            in days.
        UsageError: An episode has no decision of the seat.
    """

    def __init__(self, setup: Setup, seeds: Sequence[int]) -> None:
        self._setup, self._seat = setup, only_seat(setup)
        self._policies = _policies(setup, seeds[0])
        roles = [self._seat, *self._policies]
        self.lanes = _lanes(setup, roles, seeds)
        opening = Rewards(Run(setup.model, seeds[0], frozenset(roles)), setup.rewards)
        name = setup.rewards[self._seat]
        self._sign, self._name = -1.0 if name[:1] == "-" else 1.0, name.removeprefix("-")
        self._last: Array = opening.last[self._name]
        self._answered = np.zeros(len(seeds), np.int64)
        self.ended, self.truncated = np.zeros((2, len(seeds)), bool)
        self.going = True
        self._others: dict[str, Any] = {}
        self.seen = Columns(setup.model.roles[self._seat].observation, {})
        self._ask(self.lanes.reset())
        if not np.all(self.asked):
            seed = seeds[int(np.argmin(self.asked))]
            raise UsageError(f"no decision of {self._seat!r} in the episode of seed {seed}")

    @property
    def live(self) -> Array:
        """Whether the episode has neither ended nor is truncated, by lane or of all lanes."""
        return True if self.going else ~(self.truncated | self.ended)

    @property
    def asked(self) -> Array:
        """Whether `seen` has the observation of an open decision, by lane or of all lanes."""
        return True if self.going else ~self.ended

    def step(self, actions: Columns | Mapping[str, Array]) -> Array:
        """Answer the seat's open decisions, move to its next ones, and return the rewards.

        Raises:
            WrongAction: An action does not fit; nothing has changed.
            NoLanes: A figure would leave the range in which lanes are exact; nothing has changed.
        """
        asked, most = self.asked, self._setup.max_decisions
        self._ask(self.lanes.step({self._seat: actions, **self._others}))
        if most is not None:
            self._answered += asked
            self.truncated = (self._answered >= most) & ~self.ended
            self.going = self.going and not self.truncated.any()
        return self._rewards()

    def end_facts(self, over: Array) -> dict[str, Any]:
        """Return the facts of the ends of some lanes as columns, except ledger digests.

        Args:
            over: The numbers of lanes that have ended, or of lanes that are truncated.
        """
        score = np.array(self.lanes.score(), np.float64)[over]
        if self.truncated[over].any():
            return {"ended": [TRUNCATED] * len(over), "score": score}
        reasons = self.lanes.end_reasons()
        return {
            "ended": [reasons[lane] for lane in over],
            "score": score,
            "decisions": np.asarray(self.lanes.decisions)[over],
            "metrics": _rows(self.lanes.metrics(), over),
        }

    def _ask(self, questions: Mapping[str, Columns]) -> None:
        """Let other roles answer until the seat has a decision, and keep their last answers."""
        while questions and self._seat not in questions:
            questions = self.lanes.step(self._answers(questions))
        self.seen = questions.get(self._seat, self.seen)
        self.ended = np.asarray(self.lanes.ended)
        self.going = self.going and not self.ended.any()
        # They are kept, because a policy remembers what it has answered once.
        self._others = self._answers(questions)

    def _answers(self, questions: Mapping[str, Columns]) -> dict[str, Any]:
        return {
            role: all_answers(self._policies[role], columns)
            for role, columns in questions.items()
            if role != self._seat
        }

    def _rewards(self) -> Array:
        value = self._metric() if self._name != SCORE else np.array(self.lanes.score(), np.float64)
        change = self._sign * (value - self._last)
        self._last = value
        return change

    def _metric(self) -> Array:
        metrics = self.lanes.metrics()
        column = [0.0 if one is None else float(one) for one in metrics[self._name]]
        if not all(map(math.isfinite, column)):
            raise ModelFailed(f"metric {self._name!r} is not finite; a reward is a finite number")
        return np.array(column)


def _lanes(setup: Setup, roles: Sequence[str], seeds: Sequence[int]) -> Any:
    try:
        return lanes_of(setup.model, roles, seeds)
    except NoLanes as fault:
        raise NoLanes(f"{fault}; {INSTEAD}") from None


def _policies(setup: Setup, seed: int) -> dict[str, Any]:
    """Return new policies of the other roles."""
    if setup.max_days is not None:
        raise NoLanes(f"max_days was given; lanes have max_decisions: {INSTEAD}")
    if setup.starts is not None:
        raise NoLanes(f"starts were given; lanes begin at the world's begin: {INSTEAD}")
    seats = dict.fromkeys(setup.seats, CallerSeat())
    policies = resolve(setup.model, {**seats, **setup.others}, seed).policies
    others = {role: policy for role, policy in policies.items() if role not in seats}
    for role, policy in others.items():
        if not answers_all(policy):
            name = type(policy).__name__
            raise NoLanes(f"{name}, the policy of {role!r}, does not answer all lanes; {INSTEAD}")
    return others


def _rows(metrics: Mapping[str, Any], lanes: Array) -> dict[str, Any]:
    """Return some rows of metrics, which may be nested."""
    return {
        name: _rows(column, lanes)
        if isinstance(column, Mapping)
        else [to_plain(column[lane]) for lane in lanes]
        for name, column in metrics.items()
    }
