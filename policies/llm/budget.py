"""What an episode may take and what it took: calls, tokens, money; and nothing paid for twice.

Every reply is put on record as soon as it is here. Those of a record that is resumed are given
again, in order, before anybody is asked.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
from attrs import define, field, frozen

from desim.errors import UsageError
from desim.schema import from_plain, to_plain
from policies.llm.wire import Complete, Message, Reply

__all__ = ["Limits", "Metered", "Spent", "Used"]

_MILLION = 1_000_000


class Spent(Exception):
    """A limit is reached: no call is made any more. The argument names the limit."""


@frozen(kw_only=True)
class Limits:
    """What one episode may take; none stands for no limit.

    A limit is looked at before a call: the call that reaches `max_tokens` or `max_cost` may go
    beyond it, the next is not made.

    Attributes:
        max_calls: Replies.
        max_tokens: Tokens read and written.
        max_cost: Money, in the unit of the prices.
        price_in: Money for a million tokens read.
        price_out: Money for a million tokens written.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            if value is not None and value < 0:
                raise UsageError(f"{name}={value:g} was given; it is at least 0")
        if self.max_cost is not None and not self.price_in + self.price_out:
            raise UsageError("max_cost needs prices; give price_in and price_out a million tokens")

    def reached(self, used: "Used") -> str:
        """Name the limit that is reached; an empty text if none is."""
        for name in ("calls", "tokens", "cost"):
            limit = getattr(self, f"max_{name}")
            if limit is not None and getattr(used, name) >= limit:
                return f"max_{name}={limit:g} reached"
        return ""

    def cost(self, reply: Reply) -> float:
        """Return what a reply costs."""
        told = reply.prompt_tokens * self.price_in + reply.completion_tokens * self.price_out
        return told / _MILLION


@define
class Used:
    """Sums over replies.

    Attributes:
        calls: Replies.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        estimated: Replies whose tokens were reckoned from lengths.
        seconds: Time waited.
        retries: Requests beyond one a reply.
        cost: Money.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    seconds: float = 0.0
    retries: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, reply: Reply, cost: float) -> None:
        """Count a reply."""
        self.calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.estimated += reply.estimated
        self.seconds += reply.seconds
        self.retries += reply.retries
        self.cost += cost


def _unheard(_: Any) -> None:
    """Keep nothing: nobody records."""


@define
class Metered:
    """A `complete` that keeps to limits, counts, and puts replies on record.

    Attributes:
        complete: Who is asked.
        limits: For one episode.
        journal: Puts a plain value on record.
        episode: What the episode took so far.
        decision: What the present decision took so far.
    """

    complete: Complete
    limits: Limits
    journal: Callable[[Any], None] = _unheard
    episode: Used = field(factory=Used)
    decision: Used = field(factory=Used)
    _known: deque[Reply] = field(factory=deque)

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        *,
        temperature: float | None = None,
    ) -> Reply:
        """Answer from the record as long as it lasts, then ask.

        Raises:
            Spent: A limit is reached.
        """
        if reason := self.limits.reached(self.episode):
            raise Spent(reason)
        if self._known:
            reply = self._known.popleft()
        else:
            reply = self.complete(messages, tools, schema, temperature=temperature)
            self.journal({"reply": to_plain(reply)})
        cost = self.limits.cost(reply)
        self.episode.add(reply, cost)
        self.decision.add(reply, cost)
        return reply

    def hear_again(self, said: Iterable[Mapping[str, Any]]) -> None:
        """Take back the replies of a record."""
        self._known.extend(from_plain(one["reply"], Reply) for one in said if "reply" in one)

    def begin_decision(self) -> None:
        """Count anew for the next decision."""
        self.decision = Used()

    def begin_episode(self) -> None:
        """Count anew for the next episode."""
        self.episode = Used()
        self._known.clear()
