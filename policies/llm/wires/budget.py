"""Limits and sums: requests, tokens, money; and no reply is paid for twice.

Every request is written to the record's transcript before it is sent, and every reply before it is
used. For a resumed record the same requests are counted again, and the same replies returned in
order, before another request is sent.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from attrs import define, field, frozen

from desim.episodes.usage import CommandBudget
from desim.errors import BadRecord, UsageError
from desim.schema import from_plain, to_plain
from desim.schema.validators import not_negative
from policies.llm.replies.answer import answer_only
from policies.llm.wires.completion import MAX_COST, MAX_TOKENS
from policies.llm.wires.wire import ModelReply, NoReply, Request, Send

#: Prices are for a million tokens.
_MILLION = 1_000_000


class Spent(Exception):
    """A limit is reached, so no request was sent. The argument names the limit."""


@frozen(kw_only=True)
class CallLimits:
    """Limits of one seat in one episode; None stands for no limit.

    A limit is checked before a request: the one that reaches `max_tokens` or `max_cost` may exceed
    it, and the next is not sent.

    Attributes:
        max_calls: Limit of requests sent for a seat in an episode, those without a reply included;
            then the default action is taken. None for no limit.
        max_tokens: Limit of tokens, read and written; likewise.
        max_cost: Limit of money, in the unit of the prices; likewise.
        price_in: Money for a million tokens read, at least 0.
        price_out: Money for a million tokens written, at least 0.
        price_cached: Money for a million tokens read from the server's cache; None for price_in.
        reported_cost: Whether every request asks the server for its cost (OpenRouter's
            `usage: {"include": true}`).
    """

    max_calls: int | None = field(default=None, validator=not_negative)
    max_tokens: int | None = field(default=None, validator=not_negative)
    max_cost: float | None = field(default=None, validator=not_negative)
    price_in: float = field(default=0.0, validator=not_negative)
    price_out: float = field(default=0.0, validator=not_negative)
    price_cached: float | None = field(default=None, validator=not_negative)
    reported_cost: bool = False

    def __attrs_post_init__(self) -> None:
        if self.max_cost is not None:
            self.need_prices("max_cost")

    def need_prices(self, limit: str) -> None:
        """Check that there is a price; without one a limit of money is never reached.

        Raises:
            UsageError: No price is given and the server does not report its cost; the text names
                the limit.
        """
        if not self.price_in + self.price_out and not self.reported_cost:
            raise UsageError(f"{limit} needs prices; give price_in and price_out a million tokens")

    def reached(self, used: "Used") -> str:
        """Return which limit is reached; an empty text if none is."""
        for name, limit, value in (
            ("max_calls", self.max_calls, used.calls),
            ("max_tokens", self.max_tokens, used.tokens),
            ("max_cost", self.max_cost, used.cost),
        ):
            if limit is not None and value >= limit:
                return f"{name}={limit:g} reached for this seat and episode"
        return ""

    def cost(self, reply: ModelReply) -> float:
        """Return the price of a reply, or what the server reports where that is more."""
        cached = min(reply.cached_tokens, reply.prompt_tokens)
        price_cached = self.price_in if self.price_cached is None else self.price_cached
        millionths = (
            (reply.prompt_tokens - cached) * self.price_in
            + cached * price_cached
            + reply.completion_tokens * self.price_out
        )
        return max(millionths / _MILLION, reply.reported_cost or 0.0)


@define
class Used:
    """Sums over requests and replies.

    Attributes:
        calls: Requests sent.
        replies: Requests that brought a reply, valid or not.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        estimated: Replies whose tokens were estimated from lengths.
        seconds: Time waited for replies.
        cost: Money: by the prices, or as the server reports where that is more.
        cached_tokens: Those of the tokens read that the server had in a cache.
        reported_cost: Money as the server reports it, over the replies for which it does.
    """

    calls: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    cached_tokens: int = 0
    reported_cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, reply: ModelReply, cost: float) -> None:
        """Count a reply."""
        self.replies += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.estimated += reply.estimated
        self.seconds += reply.seconds
        self.cost += cost
        self.cached_tokens += reply.cached_tokens
        self.reported_cost += reply.reported_cost or 0.0


@define
class Metered:
    """Sends requests, checks limits before each, counts, and writes them to the record.

    Attributes:
        send: Sends one request.
        limits: Limits of one episode.
        command: What all policies of the command may use together.
        transcript: Writes a plain value to the record, if the episode has one.
        episode: Sums of the episode so far.
        decision: Sums of the present decision so far.
    """

    send: Send
    limits: CallLimits
    command: CommandBudget = field(factory=CommandBudget)
    transcript: Callable[[Any], None] = lambda _: None
    episode: Used = field(factory=Used)
    decision: Used = field(factory=Used)
    _recorded: deque[ModelReply | None] = field(factory=deque, init=False)

    def __call__(self, request: Request, timeout: float = math.inf) -> ModelReply:
        """Return the next reply of a resumed record, or send a request if none is left.

        Reasoning is cut out of the reply; see `replies.answer`.

        Raises:
            Spent: A limit of the seat is reached.
            LimitReached: A limit of the command is reached.
            NoReply: The request brought no reply.
        """
        # After the record, which keeps what the server sent.
        return answer_only(self._metered(self.send, request, timeout))

    def through(self, send: Send) -> Send:
        """Return a sender of other requests that shares limits, sums and record with this one."""
        return partial(self._metered, send)

    def _metered(self, send: Send, request: Request, timeout: float) -> ModelReply:
        """Return a recorded reply, or send a request and write it and its outcome to the record."""
        while True:
            if reason := self.limits.reached(self.episode):
                raise Spent(reason)
            if not self._recorded:
                break
            self._count_request()
            # A recorded request without a reply is counted; then the call goes on.
            if (reply := self._recorded.popleft()) is not None:
                self._count(reply)
                return reply
        self.command.check()
        self._count_request()
        self.command.calls += 1
        self.transcript({"request": self.episode.calls})
        try:
            reply = send(request, timeout)
        except NoReply as fault:
            self.transcript({"no_reply": str(fault)})
            raise
        self.transcript({"reply": to_plain(reply)})
        self.command.cost += self._count(reply)
        return reply

    def restore(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take the requests and replies among the transcript entries of a cut record.

        Raises:
            BadRecord: An entry is not a valid reply, or reports figures out of range.
        """
        for entry in entries:
            if "request" in entry:
                self._recorded.append(None)
            elif "reply" in entry:
                reply = _recorded_reply(entry["reply"])
                # It belongs to the last request, if there is one.
                if self._recorded and self._recorded[-1] is None:
                    self._recorded.pop()
                self._recorded.append(reply)

    def begin_episode(self) -> None:
        """Set the sums of the episode to zero and drop the remaining replies of a record."""
        self.episode = Used()
        self._recorded.clear()

    def _count_request(self) -> None:
        for used in (self.decision, self.episode):
            used.calls += 1

    def _count(self, reply: ModelReply) -> float:
        """Count a reply and return its price."""
        cost = self.limits.cost(reply)
        for used in (self.decision, self.episode):
            used.add(reply, cost)
        return cost


def _recorded_reply(plain: Any) -> ModelReply:
    """Return a reply of a record, checked against a server's bounds: a record may be altered."""
    reply: ModelReply = from_plain(plain, ModelReply, "$.entry.reply")
    bounds = (
        ("prompt_tokens", reply.prompt_tokens, MAX_TOKENS),
        ("completion_tokens", reply.completion_tokens, MAX_TOKENS),
        ("cached_tokens", reply.cached_tokens, reply.prompt_tokens),
        ("reported_cost", reply.reported_cost or 0.0, MAX_COST),
        ("seconds", reply.seconds, math.inf),
    )
    for name, value, most in bounds:
        if not 0 <= value <= most:
            raise BadRecord(f"a reply of the transcript has {name} = {value:g}")
    return reply
