"""One call of a model, `complete(request) -> reply`, in plain classes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

#: A chat message as the endpoint takes it.
Message = dict[str, Any]

#: The purpose of a call.
Phase = Literal["step", "judge", "memory", "label"]


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, so that a record can hold the text."""
    return text.encode("utf-8", "replace").decode()


@frozen
class Request:
    """One request to a model.

    Attributes:
        messages: The conversation.
        tools: Tools that the model may call; empty for an answer in text.
        schema: JSON Schema of the answer, where the answer must be JSON.
        temperature: The temperature that a method prefers; the user's own takes precedence. None
            for the server's.
        phase: What the call is for: a step of the decision, a judgement of other replies, the
            memory of a method, or a label for the router. Costs are summed by it; it is not sent.
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    schema: Mapping[str, Any] | None = None
    temperature: float | None = None
    phase: Phase = "step"

    def fields(self) -> dict[str, Any]:
        """Return the fields of the request as the chat completions API names them."""
        fields: dict[str, Any] = {"messages": list(self.messages)}
        if self.tools:
            fields |= {"tools": list(self.tools), "tool_choice": "auto"}
        if self.schema is not None:
            named = {"name": "answer", "strict": True, "schema": self.schema}
            fields["response_format"] = {"type": "json_schema", "json_schema": named}
        if self.temperature is not None:
            fields["temperature"] = self.temperature
        return fields


@frozen
class Call:
    """A tool call as the model wrote it.

    Attributes:
        id: The call's identifier, unique within its reply.
        name: The tool's name as the model wrote it; such a tool need not exist.
        arguments: A text that should be a JSON object; it may be anything.
    """

    id: str = field(converter=storable)
    name: str = field(converter=storable)
    arguments: str = field(converter=storable)


#: Finish reasons of replies that the server has cut, with the end of a sentence for the model.
_CUTS = {
    **dict.fromkeys(("length", "max_tokens"), "it ran into the limit of tokens"),
    "repetition": "it was stopped because it repeated itself",
    "content_filter": "it was stopped by a filter",
    # vLLM, OpenRouter, DeepSeek.
    **dict.fromkeys(
        ("abort", "error", "insufficient_system_resource"), "the server stopped it before its end"
    ),
}


@frozen
class ModelReply:
    """One reply of a model, and its cost.

    Attributes:
        text: The text of the reply without its tool calls; may be empty.
        calls: Tool calls in order.
        refusal: The model's reason for a refusal, where the server reports one.
        finish: The server's finish reason: stop, length, tool_calls, ...
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        estimated: Whether tokens were estimated from lengths, as the server did not report them.
        seconds: From the request to the last byte.
        cached_tokens: Those of the tokens read that the server had in a cache.
        reported_cost: Money that the server reports for the reply; None if it reports none.
        thinking: What the server sends as reasoning in a field of its own, or the whole text where
            reasoning was cut out of it. It is never read as an answer.
        malformed: What makes the reply unusable whatever it says, such as bytes that are not
            UTF-8; a sentence for the model, empty for a reply that can be read.
        id: The server's identifier of the reply; empty if it sends none.
        served: The model that answered, as the server names it; empty if it names none.
        reasoning_tokens: Those of the tokens written that are reasoning.
        cache_written_tokens: Those of the tokens read that the server wrote to its cache.
    """

    text: str = field(default="", converter=storable)
    calls: tuple[Call, ...] = ()
    refusal: str = field(default="", converter=storable)
    finish: str = field(default="", converter=storable)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0
    malformed: str = ""
    cached_tokens: int = 0
    reported_cost: float | None = None
    thinking: str = field(default="", converter=storable)
    id: str = field(default="", converter=storable)
    served: str = field(default="", converter=storable)
    reasoning_tokens: int = 0
    cache_written_tokens: int = 0

    @property
    def cut(self) -> str:
        """Why the reply may lack its end, such as "it ran into the limit of tokens"; else empty."""
        return _CUTS.get(self.finish.lower(), "")


class NoReply(Exception):
    """A request that brought no reply.

    Args:
        why: The end of a sentence that begins with the name of the model.
        final: Whether sending it again cannot help.
        wait: Seconds that the server asks to wait; None if it does not.
        busy: Whether the server has too much to do, so that no other request should be sent either.
    """

    def __init__(
        self, why: str, *, final: bool = False, wait: float | None = None, busy: bool = False
    ) -> None:
        super().__init__(why)
        self.final = final
        self.wait = wait
        self.busy = busy


#: One call of a model. A method (`methods/`) wraps one and is one.
Complete: TypeAlias = Callable[[Request], ModelReply]

#: One request to a server within some seconds, of which a call makes one or more; it raises
#: `NoReply`.
Send: TypeAlias = Callable[[Request, float], ModelReply]
