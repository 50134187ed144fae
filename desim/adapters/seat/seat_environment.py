"""An episode whose caller receives rewards, and which ends early at a limit."""

from collections.abc import Mapping, Sequence
from typing import Any

from desim.adapters.seat.reward import SCORE, Rewards
from desim.core.model_protocols import Model, Rows, offers
from desim.core.reported import HasSeries, HasTables
from desim.core.result import Result, Series, read_series
from desim.core.roles import Option
from desim.core.world import Decision
from desim.episodes.caller import CallerSession
from desim.errors import UsageError
from desim.schema import TAG, tag, to_plain


class SteppedSession(CallerSession):
    """A `CallerSession` with rewards, limits, options and tables, as adapters need it.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: The caller's roles, or by role the caller's name in the record.
        rewards: See `Rewards`; by seat.
        max_decisions: Answers of the seats after which the episode is truncated.
        last_tick: The last tick at which the caller decides; the episode is truncated at its first
            decision after it.
        options: Further arguments of `CallerSession`.

    Raises:
        UsageError: A reward or another argument is wrong.
        ModelFailed: The model raised an exception.

    Attributes:
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
        last_tick: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(model, seed, seats=seats, **options)
        try:
            self._rewards = Rewards(self.run, rewards or dict.fromkeys(seats, SCORE))
        except BaseException:
            self.close()
            raise
        self._max, self._last_tick = max_decisions, last_tick
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

    @property
    def score(self) -> float:
        """The world's score of the present state."""
        return self.run.score()

    def rewards(self) -> dict[str, float]:
        """Return by seat the change of its score or metric since the last call."""
        return self._rewards.changes()

    def answer(self, decision: Decision, action: Any) -> None:
        """Answer an open decision of the caller's; otherwise as `CallerSession.answer`.

        Raises:
            WrongAction: The action does not fit the role's schema; nothing changes.
            UsageError: The decision is not open, or the episode is truncated.
        """
        if self.truncated:
            raise UsageError(f"the episode is truncated after {self.answered:,} decisions")
        super().answer(decision, action)

    def answer_default(self, decision: Decision) -> dict[str, Any]:
        """Answer an open decision by its role's default action, and return its tagged object.

        Raises:
            UsageError: The role has neither a default action nor options, the decision is not open,
                or the episode is truncated.
        """
        action = self.model.roles[decision.role].default_for(decision.observation)
        name = tag(type(action))  # type: ignore[arg-type] # classes do hash
        plain = {TAG: name, **to_plain(action)}
        self.answer(decision, plain)
        return plain

    def step(self, action: Any) -> list[Decision]:
        """Answer the one open decision and advance.

        Raises:
            WrongAction: The action does not fit the role's schema; nothing changes.
            UsageError: The episode is over, or several decisions are open.
        """
        if self.done or len(self.open) != 1:
            state = "the episode is over" if self.done else f"{len(self.open)} decisions are open"
            raise UsageError(f"{state}; a step answers one open decision")
        self.answer(self.open[0], action)
        return self.advance()

    def options(self, decision: Decision) -> Sequence[Option]:
        """Return the options that a role offers at a decision; empty for a role without options."""
        offered = self.model.roles[decision.role].options
        return offered(decision.observation) if offered else ()

    def tables(self, seat: str) -> Mapping[str, Rows]:
        """Return the tables that the world lets a seat look up."""
        return self.model.tables(self.run.state, seat) if offers(self.model, HasTables) else {}

    def series(self) -> Series:
        """Return the world's series so far; empty for a world that reports none.

        For people who watch: they may hold facts that no role observes.
        """
        offered = offers(self.model, HasSeries)
        return read_series(self.model, self.run.state) if offered else {}

    def _move(self) -> None:
        super()._move()
        self.truncated = bool(self.open) and self._is_beyond_limit()

    def _is_beyond_limit(self) -> bool:
        if self._max is not None and self.answered >= self._max:
            return True
        return self._last_tick is not None and self.tick > self._last_tick
