"""The wire: one narrow call, `complete(messages, tools, schema) -> Reply`, in plain classes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

__all__ = ["Call", "Complete", "Message", "Reply"]

#: A chat message as the endpoint takes it.
Message = dict[str, Any]


def _storable(text: str) -> str:
    """Return a text without what UTF-8 cannot hold, so that every record can."""
    return text.encode("utf-8", "replace").decode()


@frozen
class Call:
    """A tool call as the model wrote it.

    Attributes:
        id: The server's name for it, one of its own within a reply.
        name: The tool's name; perhaps there is none of that name.
        arguments: JSON as text; perhaps it is none.
    """

    id: str = field(converter=_storable)
    name: str = field(converter=_storable)
    arguments: str = field(converter=_storable)


@frozen
class Reply:
    """What the model answered, and what that took.

    Attributes:
        text: What it wrote beside tool calls; empty if nothing.
        calls: Tool calls in order.
        refusal: Why it refuses, where the server tells.
        finish: The server's finish reason: stop, length, tool_calls, ...
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        estimated: Whether the tokens were reckoned from lengths, as the server did not tell them.
        seconds: From the first request to the last byte, waits included.
        retries: Requests beyond the first.
    """

    text: str = field(default="", converter=_storable)
    calls: tuple[Call, ...] = ()
    refusal: str = field(default="", converter=_storable)
    finish: str = field(default="", converter=_storable)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    retries: int = 0


class Complete(Protocol):
    """The narrow call; strategies wrap one and are one."""

    def __call__(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        *,
        temperature: float | None = None,
    ) -> Reply:
        """Ask the model once.

        Args:
            messages: The conversation.
            tools: Tools it may call; none for an answer in text.
            schema: JSON Schema of the answer, where it must be JSON.
            temperature: What a strategy wishes; the user's own comes first.
        """
        ...
