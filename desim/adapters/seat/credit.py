"""Rewards of decisions by their own merit: advantages over redrawn futures."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from attrs import frozen

from desim.adapters.seat.starts import started_at
from desim.adapters.seat.stepped_session import SCORE, SteppedSession
from desim.catalog.policy_spec import label
from desim.core.model_protocols import Model
from desim.episodes.ahead.repeatable import check_repeatable
from desim.episodes.lineup import assign, maker_of
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.short_repr import short_repr

#: Futures of each decision, at most.
_MOST_FUTURES = 10_000


@frozen
class Credit:
    """The policy and the futures with which the decisions of a seat are judged.

    Attributes:
        then: The policies of all roles, which play on after each decision; that of the seat is also
            the one whose actions the decisions are compared with.
        futures: The number of redrawn futures over which each decision is judged.
    """

    then: Mapping[str, Any]
    futures: int

    @classmethod
    def of(
        cls,
        model: Model[Any],
        rewards: Mapping[str, str],
        others: Mapping[str, Any],
        policy: Any,
        futures: int,
    ) -> Self:
        """Return checked credits.

        Args:
            model: The world.
            rewards: By seat, the value whose change is its reward.
            others: The policies of the other roles.
            policy: The policy with which decisions are compared.
            futures: See the attribute.

        Raises:
            UsageError: A policy does not exist or cannot play in redrawn futures, there are several
                seats, the reward is not the score, or *futures* is not a number from 2 to 10,000.
        """
        if type(futures) is not int or not 1 < futures <= _MOST_FUTURES:
            raise UsageError(
                f"credit_futures={short_repr(futures)} was given; it is a whole number from 2 to "
                f"{_MOST_FUTURES:,}"
            )
        if list(rewards.values()) != [SCORE]:
            raise UsageError("credit is for one seat, whose reward is the score")
        (seat,) = rewards
        then = {**assign(model, {seat: policy}), **others}
        for one in then.values():
            check_repeatable(label(one), maker_of(one, model), "branches", redrawn=True)
        return cls(then, futures)

    def advantages(self, session: SteppedSession, seat: str) -> Sequence[float]:
        """Return the advantage of each decision of the seat, to the world's own end.

        Raises:
            DesimError: The model or a policy failed, or a policy cannot play in redrawn futures.
        """
        from desim.studies.decisions.advantages import advantages  # takes a while to import

        played = session.session
        episode = Episode(played.header, tuple(played.steps), None)
        if not session.answered - session.repeated:
            return ()
        begun = slice(started_at(episode), None)
        found = advantages(
            episode, self.then, role=seat, futures=self.futures, decisions=begun, trust=True
        )
        return [line.mean for line in found.lines]
