"""An episode whose caller receives rewards and texts, and which ends early at a limit."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from desim.core.events import Decision
from desim.core.model import Model
from desim.core.reported import Rows
from desim.core.result import Result
from desim.core.roles import Option
from desim.core.run import Run
from desim.episodes.driver import CallerSession
from desim.errors import ModelFailed, UsageError, possible
from desim.records.episode import Episode
from desim.schema import TAG, plain_observation, tag, to_plain

#: The name of the model's score among the metrics.
SCORE = "score"

#: The end of an episode that a limit of the adapter has cut.
TRUNCATED = "truncated"


class SteppedSession(CallerSession):
    """A `CallerSession` with rewards, limits, options, tables and texts, as adapters need it.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: The caller's roles, or by role the caller's name in the record.
        rewards: By seat "score" or a metric, see `reward_values`.
        max_decisions: Answers of the seats after which the episode is truncated; those before its
            start in another record do not count.
        options: Further arguments of `CallerSession`.

    Attributes:
        repeated: Decisions of the seats before the episode's start in another record.
        truncated: Whether a limit was reached before the world's own end. The open decisions then
            show the effects of the last answers, and take no answer.
    """

    def __init__(
        self,
        model: Model[Any],
        seed: int = 0,
        *,
        seats: Sequence[str] | Mapping[str, str],
        rewards: Mapping[str, str] | None = None,
        max_decisions: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model, seed, seats=seats, **options)
        try:
            self._aims = rewards or dict.fromkeys(seats, SCORE)
            self._values = reward_values(self.run, self._aims.values())
        except BaseException:
            self.close()
            raise
        self._max = max_decisions
        self.repeated = _before_start(options.get("past"), seats)
        self.truncated = False

    @property
    def done(self) -> bool:
        """Whether the episode has ended or is truncated."""
        return self.episode is not None or self.truncated

    @property
    def result(self) -> Result | None:
        """The result of the episode; None before its end and if it was truncated."""
        return self.episode.result if self.episode else None

    @property
    def tick(self) -> int:
        """The present tick of the clock."""
        return self.run.world.now

    def rewards(self) -> dict[str, float]:
        """Return by seat the change of its score or metric since the last call.

        The rewards of an episode add up to the value at its end less that at the world's begin:
        changes before the first decision are part of the first reward.
        """
        before, now = self._values, reward_values(self.run, self._aims.values())
        self._values = now
        changes = {name: now[name] - before[name] for name in now}
        return {
            seat: -changes[aim[1:]] if aim[:1] == "-" else changes[aim]
            for seat, aim in self._aims.items()
        }

    def answer(self, decision: Decision, action: Any) -> None:
        """Answer an open decision of the caller's; otherwise as `CallerSession.answer`."""
        if self.truncated:
            raise UsageError(f"the episode is truncated after {self.answered:,} decisions")
        super().answer(decision, action)

    def answer_default(self, decision: Decision) -> dict[str, Any]:
        """Answer an open decision by its role's default action, and return its tagged object."""
        action = decision.spec.default_for(decision.observation)
        name = tag(type(action))  # type: ignore[arg-type] # classes do hash
        plain = {TAG: name, **to_plain(action)}
        self.answer(decision, plain)
        return plain

    def _move(self) -> Sequence[Decision]:
        decisions = super()._move()
        beyond = self._max is not None and self.answered - self.repeated >= self._max
        self.truncated = bool(self.open) and beyond
        return () if self.truncated else decisions

    def options(self, decision: Decision) -> Sequence[Option]:
        """Return the options that a role offers at a decision; empty for a role without options."""
        offered = decision.spec.options
        return offered(decision.observation) if offered else ()

    def tables(self, seat: str) -> Mapping[str, Rows]:
        """Return the tables that the world lets a seat look up."""
        return self.model.tables(self.run.state, seat) if self.model.tables else {}

    # -- plain values and texts --------------------------------------------------------------------

    def seen(self, decision: Decision) -> Any:
        """Return the observation of a decision as JSON values."""
        return plain_observation(decision.observation, self.model.roles[decision.role].observation)

    def end_facts(self) -> dict[str, Any]:
        """Return the facts of the end as plain values: score, reason, metrics, ledger digest.

        For a truncated episode they hold the score so far, and nothing else that its seats could
        not observe.
        """
        result = self.result
        if result is None:
            return {"ended": TRUNCATED if self.truncated else "", "score": self.run.score()}
        return {
            "ended": result.ended,
            "score": result.score,
            "decisions": result.decisions,
            "ledger_digest": result.ledger_digest,
            "metrics": to_plain(dict(result.metrics)),
        }

    def text(self) -> str:
        """Return the first open observation as JSON, or the sentence that the episode is over.

        A second line names the actions of a question that takes some of the role's alone.
        """
        if self.done:
            return f"The episode is over. {as_json(self.end_facts())}"
        decision = self.open[0]
        named = ", ".join(decision.possible)
        return as_json(self.seen(decision)) + (f"\nPossible now: {named}." if named else "")


def reward_values(run: Run[Any], aims: Iterable[str]) -> dict[str, float]:
    """Return the present values of the score or metrics whose change is a reward, by name.

    A metric that is not known yet counts as 0.

    Args:
        run: The episode's run.
        aims: "score" or a metric's name; a minus before it is dropped.

    Raises:
        UsageError: The world has no such metric, or it is no number.
        ModelFailed: The number is not finite.
    """
    names, score = {aim.removeprefix("-") for aim in aims}, run.score()
    metrics = {} if names == {SCORE} else run.model.metrics(run.state)
    return {name: score if name == SCORE else _number(metrics, name) for name in names}


def _before_start(past: Episode | None, seats: Collection[str]) -> int:
    """Return how many decisions of the seats were repeated from another record."""
    at = max(past.header.starts.values(), default=0) if past else 0
    return sum(step.role in seats for step in past.steps[:at]) if past and at else 0


def _number(metrics: Mapping[str, Any], name: str) -> float:
    if name not in metrics:
        raise UsageError(f"reward {name!r} was given; {possible(name, [SCORE, *metrics])}")
    value = metrics[name]
    if value is None:
        return 0.0
    if not isinstance(value, int | float):
        raise UsageError(f"metric {name!r} is {value!r}; a reward is the change of a number")
    if not math.isfinite(value):
        raise ModelFailed(f"metric {name!r} is {value}; a reward is a finite number")
    return float(value)


def as_json(value: Any) -> str:
    """Return plain values, or a frozen class, as one line of JSON."""
    return json.dumps(to_plain(value), ensure_ascii=False)
