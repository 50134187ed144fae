"""The requests and replies of a seat in the transcript of its record: each text once, and digests.

`desim.records.conversation` describes the entries and reads them.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from os.path import commonprefix
from typing import Any, Self

from attrs import define, field, frozen

from desim.errors import BadRecord
from desim.records.conversation import RequestEntry, canonical_json, digest_of, text_id
from desim.schema import from_plain
from desim.short_repr import short_repr
from policies.llm.wires.completion import MAX_COST, MAX_TOKENS
from policies.llm.wires.wire import ModelReply, NoReply, Request

#: Characters shown before the first that differs.
_BEFORE = 20

#: Tokens that a reply reports.
_COUNTS = ("prompt_tokens", "completion_tokens", "cache_written_tokens", "reasoning_tokens")


@frozen
class SentRequest:
    """A request as it is sent, in the form of the transcript.

    Attributes:
        digest: The SHA-256 of all fields.
        messages: The identifiers of the messages.
        tools: The identifier of the list of tools; empty without tools.
        fields: The other fields.
        phase: What the call is for.
        texts: Messages and tools by identifier.
    """

    digest: str
    messages: list[str]
    tools: str
    fields: dict[str, Any]
    phase: str
    texts: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, request: Request, fields: Mapping[str, Any]) -> Self:
        """Return a request that is sent with these fields."""
        messages = [text_id(one) for one in request.messages]
        texts: dict[str, Any] = dict(zip(messages, request.messages, strict=True))
        tools = text_id(fields["tools"]) if "tools" in fields else ""
        if tools:
            texts[tools] = fields["tools"]
        rest = {name: value for name, value in fields.items() if name not in ("messages", "tools")}
        return cls(digest_of(fields), messages, tools, rest, request.phase, texts)

    def entry(self, number: int) -> dict[str, Any]:
        """Return the transcript entry of the request."""
        entry = {"request": number, "digest": self.digest, "messages": self.messages}
        tools = {"tools": self.tools} if self.tools else {}
        phase = {"phase": self.phase} if self.phase != "step" else {}
        return entry | tools | {"fields": self.fields} | phase


@define
class RequestLines:
    """The messages and lists of tools that the record of an episode holds, by identifier."""

    texts: dict[str, Any] = field(factory=dict)

    def entries(self, sent: SentRequest, number: int) -> Iterator[dict[str, Any]]:
        """Yield the entries of the request of a number: its new texts, if there are any, and it."""
        new = {key: text for key, text in sent.texts.items() if key not in self.texts}
        if new:
            yield {"texts": new}
            self.texts |= new
        yield sent.entry(number)

    def check(self, recorded: RequestEntry, sent: SentRequest) -> None:
        """Check that a recorded request is sent again as it was.

        Raises:
            BadRecord: The request differs; the text names the first difference.
        """
        if recorded.digest != sent.digest:
            raise BadRecord(
                f"request {recorded.request} is not the one on record: "
                f"{self._difference(recorded, sent)}; go on with the prompt and the arguments of "
                "the record, or play again"
            )

    def _difference(self, recorded: RequestEntry, sent: SentRequest) -> str:
        for number, (old, new) in enumerate(zip_longest(recorded.messages, sent.messages), 1):
            if old != new:
                was, now = self.texts.get(old), sent.texts.get(new)
                role = short_repr((now or {}).get("role"))
                return f"message {number} ({role}) {_first_change(was, now)}"
        if recorded.tools != sent.tools:
            then, now = self.texts.get(recorded.tools, []), sent.texts.get(sent.tools, [])
            return f"the list of tools {_first_change(then, now)}"
        return f"the fields {_first_change(recorded.fields, sent.fields)}"


def _first_change(old: Any, new: Any) -> str:
    texts = [canonical_json(each).decode() for each in (old, new)]
    start = max(0, len(commonprefix(texts)) - _BEFORE)  # noqa: RUF071 (texts, not paths)
    was, now = (short_repr(text[start:]) for text in texts)
    return f"had {was} and has {now} now"


@define
class RecordedReplies:
    """A `send` that returns the replies of records in their order, without a connection.

    Attributes:
        outcomes: What each request brought: a reply, or the text of an error.
    """

    outcomes: deque[ModelReply | str]

    @classmethod
    def of(cls, entries: Iterable[Mapping[str, Any]]) -> Self:
        """Return the replies among the transcript entries of records."""
        outcomes: deque[ModelReply | str] = deque()
        for entry in entries:
            if not isinstance(entry, Mapping):
                raise BadRecord("a transcript entry of a language model is no object")
            if "reply" in entry:
                outcomes.append(recorded_reply(entry["reply"]))
            elif "no_reply" in entry:
                outcomes.append(str(entry["no_reply"]))
        return cls(outcomes)

    def __call__(self, _: Request, __: float) -> ModelReply:
        """Return the next reply.

        Raises:
            NoReply: The request brought none; another follows at once.
            BadRecord: The records hold no further reply.
        """
        if not self.outcomes:
            raise BadRecord("the policy makes a request that is not on record")
        outcome = self.outcomes.popleft()
        if isinstance(outcome, str):
            raise NoReply(outcome, wait=0.0)
        return outcome


def recorded_reply(plain: Any) -> ModelReply:
    """Return a reply of a record, checked against a server's bounds: a record may be altered."""
    reply: ModelReply = from_plain(plain, ModelReply, "$.entry.reply")
    most: dict[str, float] = dict.fromkeys(_COUNTS, MAX_TOKENS)
    most |= {"cached_tokens": reply.prompt_tokens, "reported_cost": MAX_COST, "seconds": math.inf}
    for name, bound in most.items():
        value = getattr(reply, name) or 0
        if not 0 <= value <= bound:
            raise BadRecord(f"a reply of the transcript has {name} = {value:g}")
    return reply
