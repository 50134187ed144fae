"""Replies on record: read within a server's bounds, and returned in place of a server's."""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Self

from attrs import define

from desim.errors import BadRecord
from desim.schema import from_plain
from policies.llm.wires.completion import MAX_COST, MAX_TOKENS
from policies.llm.wires.wire import ModelReply, NoReply, Request


@define
class RecordedReplies:
    """A `send` that returns the replies of records in their order, without a connection.

    Attributes:
        outcomes: What each request brought: a reply, or the text of an error.
    """

    outcomes: deque[ModelReply | str]

    @classmethod
    def of(cls, entries: Iterable[Mapping[str, Any]]) -> Self:
        """Return the replies among the transcript entries of records.

        Raises:
            BadRecord: An entry is not an object, or not a valid reply.
        """
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
    bounds = (
        ("prompt_tokens", reply.prompt_tokens, MAX_TOKENS),
        ("completion_tokens", reply.completion_tokens, MAX_TOKENS),
        ("cached_tokens", reply.cached_tokens, reply.prompt_tokens),
        ("cache_written_tokens", reply.cache_written_tokens, MAX_TOKENS),
        ("reasoning_tokens", reply.reasoning_tokens, MAX_TOKENS),
        ("reported_cost", reply.reported_cost or 0.0, MAX_COST),
        ("seconds", reply.seconds, math.inf),
    )
    for name, value, most in bounds:
        if not 0 <= value <= most:
            raise BadRecord(f"a reply of the transcript has {name} = {value:g}")
    return reply
