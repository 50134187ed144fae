"""Limits and sums: requests, tokens, money; and no reply is paid for twice.

Every request is written to the record before it is sent, and every reply before it is used. Those
of a resumed record are counted again, in order, before another request is sent.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import msgspec
from attrs import define, field, frozen

from desim.engine.budget import CommandBudget
from desim.errors import UsageError
from desim.records.conversation import RequestEntry, request_entry
from desim.schema import from_plain, to_plain
from desim.schema.validators import not_negative
from policies.llm.replies import answer_only
from policies.llm.wires.transcript import (
    RecordedReplies,
    RequestLines,
    SentRequest,
    recorded_reply,
)
from policies.llm.wires.wire import ModelReply, NoReply, Phase, Request, Send

#: A request on record, with its reply if it has one.
_Recorded: TypeAlias = tuple[RequestEntry, ModelReply | None]

#: Held while an entry is written to a record.
_WRITING = threading.Lock()

#: Prices are for a million tokens.
_MILLION = 1_000_000

#: What decisions and episodes have used before any request: `calls` (requests sent), `replies`
#: (those that brought one, valid or not), `prompt_tokens` and `completion_tokens` (read and
#: written), `estimated` (replies whose tokens were estimated from lengths), `seconds` (waited for
#: replies), `cost` (money by the prices, or as the server reports where that is more),
#: `cached_tokens` (read from the server's cache), `reported_cost` (money as the server reports it).
#: Where they are not 0 there are `reasoning_tokens` (a part of those written),
#: `cache_written_tokens` (a part of those read), and for each phase other than "step" the sums
#: `_BY_PHASE`, such as `judge_calls`.
NOTHING: dict[str, float] = {
    "calls": 0,
    "replies": 0,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "estimated": 0,
    "seconds": 0.0,
    "cost": 0.0,
    "cached_tokens": 0,
    "reported_cost": 0.0,
}

_BY_PHASE = ("calls", "prompt_tokens", "completion_tokens", "cost")


class Spent(Exception):
    """A limit is reached, so no request was sent. The argument names the limit."""


@frozen(kw_only=True)
class CallLimits:
    """Limits of one seat in one episode; None stands for no limit.

    A limit is checked before a request. One that can cost more than `max_cost` leaves is not sent;
    where its cost has no bound, and with `max_tokens`, the one that reaches the limit may exceed
    it.

    Attributes:
        max_calls: Limit of requests sent for a seat in an episode, those without a reply included;
            then the default action is taken. None for no limit.
        max_tokens: Limit of tokens, read and written; likewise.
        max_cost: Limit of money, in the unit of the prices; likewise.
        price_in: Money for a million tokens read, at least 0.
        price_out: Money for a million tokens written, at least 0.
        price_cached: Money for a million tokens read from the server's cache; None for price_in.
        reported_cost: Whether the server reports the cost of every reply, as OpenRouter does, so
            that limits of money need no prices.
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

    def reached(self, sums: Mapping[str, float], call: float = 0.0) -> str:
        """Return which limit is reached, or leaves less than a call can cost; else empty."""
        place, cost = "reached for this seat and episode", sums["cost"]
        for name, limit, value in (
            ("max_calls", self.max_calls, sums["calls"]),
            ("max_tokens", self.max_tokens, sums["prompt_tokens"] + sums["completion_tokens"]),
            ("max_cost", self.max_cost, cost),
        ):
            if limit is not None and value >= limit:
                return f"{name}={limit:g} {place}"
        if self.max_cost is not None and self.max_cost < cost + call < math.inf:
            left = f"but for {self.max_cost - cost:g}, and a call can cost {call:g}"
            return f"max_cost={self.max_cost:g} {place} {left}"
        return ""

    def most(self, fields: Mapping[str, Any]) -> float:
        """Return the most that a request can cost; infinite where nothing limits its reply.

        A token is read for every two bytes that are sent, and `reply_tokens` are written.
        """
        if not self.price_in + self.price_out and self.reported_cost:
            return math.inf
        millionths = -(-len(msgspec.json.encode(fields)) // 2) * max(
            self.price_in, self.price_cached or 0.0
        )
        if self.price_out:
            sent = {**fields, **fields.get("extra_body", {})}
            limits = [sent.get(name) for name in ("max_completion_tokens", "max_tokens")]
            written = max((each for each in limits if isinstance(each, int)), default=math.inf)
            millionths += written * self.price_out
        return millionths / _MILLION

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
class Metered:
    """Sends requests, checks limits before each, counts, and writes them to the record.

    Attributes:
        send: Sends one request.
        limits: Limits of one episode.
        command: What all policies of the command may use together.
        fields: Returns the fields of a request as it is sent, without key and address.
        transcript: Writes a plain value to the record, if the episode has one.
        episode: Sums of the episode so far.
        decision: Sums of the present decision so far.
    """

    send: Send
    limits: CallLimits
    command: CommandBudget = field(factory=CommandBudget)
    fields: Callable[[Request], Mapping[str, Any]] = Request.fields
    transcript: Callable[[Any], None] = lambda _: None
    episode: dict[str, float] = field(factory=NOTHING.copy)
    decision: dict[str, float] = field(factory=NOTHING.copy)
    _lines: RequestLines = field(factory=RequestLines, init=False)
    _recorded: deque[_Recorded] = field(factory=deque, init=False)
    _earlier: dict[str, deque[ModelReply]] = field(factory=dict, init=False)

    def __call__(self, request: Request, timeout: float = math.inf) -> ModelReply:
        """Return the next reply of a resumed record, or send a request if none is left.

        Reasoning is cut out of the reply; see `replies`.

        Raises:
            Spent: A limit of the seat is reached.
            LimitReached: A limit of the command is reached.
            NoReply: The request brought no reply.
            BadRecord: A request of the resumed record differs from the present one.
        """
        # After the record, which keeps what the server sent.
        return answer_only(self._metered(request, timeout))

    def reserved(self, request: Request) -> AbstractContextManager[None]:
        """Reserve the most that a call can cost while it is under way; for a recorded one nothing.

        Waits while other calls have reserved what it needs.

        Raises:
            Spent: The seat's limit leaves less than the call can cost.
            LimitReached: A limit of the command does.
        """
        limited = self.command.shared or self.limits.max_cost is not None
        if not limited or self._is_recorded(request):
            return nullcontext()
        most = self.limits.most(self.fields(request))
        if reason := self.limits.reached(self.episode, most):
            raise Spent(reason)
        return self.command.reserved(most)

    def _sent(self, request: Request) -> SentRequest:
        return SentRequest.of(request, self.fields(request))

    def _is_recorded(self, request: Request) -> bool:
        if any(reply for _, reply in self._recorded):
            return True
        return bool(self._earlier and self._earlier.get(self._sent(request).digest))

    def write(self, entry: Any) -> None:
        """Write an entry to the record, which the threads of several seats may share."""
        with _WRITING:
            self.transcript(entry)

    def _metered(self, request: Request, timeout: float) -> ModelReply:
        """Return a recorded reply, or send a request and write it and its outcome to the record."""
        sent = self._sent(request)
        while True:
            if reason := self.limits.reached(self.episode):
                raise Spent(reason)
            if not self._recorded:
                break
            entry, reply = self._recorded.popleft()
            self._lines.check(entry, sent)
            self._count({"calls": 1}, request.phase)
            # A recorded request without a reply is counted; then the call goes on.
            if reply is not None:
                self._earlier_reply(sent)  # each is used once
                self._count_reply(reply, request.phase)
                return reply
        earlier = self._earlier_reply(sent)
        if earlier is None:
            self.command.count_call()
        self._count({"calls": 1}, request.phase)
        for line in self._lines.entries(sent, int(self.episode["calls"])):
            self.write(line)
        reply = earlier or self._received(request, timeout)
        self.write({"reply": to_plain(reply)})
        self._count_reply(reply, request.phase)
        if earlier is None:
            self.command.count_cost(self.limits.cost(reply))
        return reply

    def _received(self, request: Request, timeout: float) -> ModelReply:
        try:
            return self.send(request, timeout)
        except NoReply as fault:
            self.write({"no_reply": str(fault)})
            raise

    def _earlier_reply(self, sent: SentRequest) -> ModelReply | None:
        replies = self._earlier.get(sent.digest)
        return replies.popleft() if replies else None

    def restore(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Take the texts, requests and replies of a cut record.

        Raises:
            BadRecord: An entry is not a valid request or reply, or reports figures out of range.
        """
        for entry in entries:
            if "texts" in entry:
                self._lines.texts |= from_plain(entry["texts"], dict[str, Any], "$.entry.texts")
        self._recorded.extend(_requests_in(entries))

    def reuse(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take replies of earlier records, each for the same request; BadRecord as in `restore`."""
        for entry, reply in _requests_in(entries):
            if reply is not None:
                self._earlier.setdefault(entry.digest, deque()).append(reply)

    def rehearse(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Take replies of whole records in place of a server's; BadRecord as in `restore`."""
        self.send = RecordedReplies.of(entries)

    def begin_episode(self) -> None:
        """Set the sums of the episode to zero, and forget the record of the last one."""
        self.episode = NOTHING.copy()
        self._lines = RequestLines()
        self._recorded.clear()

    def _count_reply(self, reply: ModelReply, phase: Phase) -> None:
        figures = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "replies": 1,
            "estimated": reply.estimated,
            "seconds": reply.seconds,
            "cost": self.limits.cost(reply),
            "cached_tokens": reply.cached_tokens,
            "reported_cost": reply.reported_cost or 0.0,
            "reasoning_tokens": min(reply.reasoning_tokens, reply.completion_tokens),
            "cache_written_tokens": min(reply.cache_written_tokens, reply.prompt_tokens),
        }
        self._count(figures, phase)

    def _count(self, figures: Mapping[str, float], phase: Phase) -> None:
        of_phase = {f"{phase}_{name}": figures.get(name, 0) for name in _BY_PHASE}
        counted = {**figures, **(of_phase if phase != "step" else {})}
        for sums in (self.decision, self.episode):
            for name, value in counted.items():
                if value:
                    sums[name] = sums.get(name, 0) + value


def _requests_in(entries: Iterable[Mapping[str, Any]]) -> list[_Recorded]:
    """Return the requests among transcript entries, with their replies."""
    found: list[_Recorded] = []
    for entry in entries:
        if "request" in entry:
            found.append((request_entry(entry), None))
        elif "reply" in entry:
            # It belongs to the last request, if there is one.
            open_ = found and found[-1][1] is None
            request = found.pop()[0] if open_ else RequestEntry()
            found.append((request, recorded_reply(entry["reply"])))
    return found
