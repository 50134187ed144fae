"""Chat messages: how they are built, and how many of them a conversation keeps."""

import json
import re
from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from policies.llm.chat.parse import BadReply
from policies.llm.wires.wire import Message, ModelReply

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")

#: Characters of a function's name that OpenAI's API accepts at most.
_LONGEST_NAME = 64


@frozen
class Rounds:
    """The rounds of a conversation, each the messages from one user message to the next.

    Attributes:
        keep: The largest number of rounds kept.
    """

    keep: int
    rounds: list[list[Message]] = field(factory=list)

    def add(self, *messages: Message) -> None:
        """Add a round and drop the oldest beyond `keep`."""
        self.rounds.append(list(messages))
        del self.rounds[: max(0, len(self.rounds) - self.keep)]

    def messages(self) -> list[Message]:
        """Return the messages kept."""
        return [message for each in self.rounds for message in each]


def user(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def system(text: str) -> Message:
    """Return a system message."""
    return {"role": "system", "content": text}


def assistant_message(reply: ModelReply) -> Message:
    """Return a reply as a message of the conversation, in a form that every server accepts."""
    if not reply.calls:
        return {"role": "assistant", "content": reply.text or reply.refusal or "(nothing)"}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": _name(call.name), "arguments": _object(call.arguments)},
        }
        for call in reply.calls
    ]
    return {"role": "assistant", "content": reply.text, "tool_calls": calls}


def tool_results(reply: ModelReply, texts: Sequence[str]) -> list[Message]:
    """Return one tool message for each tool call of a reply; an empty list without calls."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": text}
        for call, text in zip(reply.calls, texts, strict=True)
    ]


def corrected(reply: ModelReply, bad: BadReply) -> list[Message]:
    """Return an invalid reply and the message that asks for another."""
    why = f"That was not understood: {bad}. Nothing has been done; answer again."
    if reply.calls:
        return [assistant_message(reply), *tool_results(reply, [why] * len(reply.calls))]
    return [assistant_message(reply), user(why)]


def as_json(value: Any) -> str:
    """Write a plain value as JSON, characters beyond ASCII unescaped."""
    return json.dumps(value, ensure_ascii=False)


def _name(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name)[:_LONGEST_NAME] or "unknown"


def _object(arguments: str) -> str:
    """Return the arguments if they are a JSON object, else `{}`.

    Some servers parse the arguments of the calls that are sent back to them.
    """
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments if isinstance(decoded, dict) else "{}"
