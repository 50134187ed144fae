"""The forms of replies and of messages in the calls that a record holds."""

from typing import Any, TypeVar

import msgspec

from desim.errors import BadRecord
from desim.records.conversation import RecordedCall

T = TypeVar("T")


class ReplyCall(msgspec.Struct, frozen=True):
    """A tool call as a model wrote it; the arguments should be a JSON object."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class RecordedReply(msgspec.Struct, frozen=True):
    """A reply on record: the fields that the formats have a place for.

    `prompt_tokens` include `cached_tokens`, and `completion_tokens` include `reasoning_tokens`.
    """

    text: str = ""
    refusal: str = ""
    thinking: str = ""
    calls: tuple[ReplyCall, ...] = ()
    finish: str = ""
    served: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cache_written_tokens: int = 0
    reported_cost: float | None = None
    seconds: float = 0.0
    estimated: bool = False


class _SentCall(msgspec.Struct, frozen=True):
    """A tool call in an assistant's message of a request."""

    id: str = ""
    function: ReplyCall = ReplyCall()


class SentMessage(msgspec.Struct, frozen=True):
    """A message of a request; the content is a text, parts, or nothing."""

    role: str
    content: Any = None
    tool_calls: tuple[_SentCall, ...] | None = None
    tool_call_id: str = ""

    @property
    def text(self) -> str:
        """The text of its content."""
        if isinstance(self.content, list):
            parts = (part.get("text") for part in self.content if isinstance(part, dict))
            return "\n".join(str(part) for part in parts if part)
        return self.content if isinstance(self.content, str) else ""

    @property
    def calls(self) -> tuple[ReplyCall, ...]:
        """Its calls as those of a reply."""
        found = self.tool_calls or ()
        return tuple(msgspec.structs.replace(one.function, id=one.id) for one in found)


def converted(plain: Any, form: type[T], call: RecordedCall) -> T:
    """Return a part of a call in its form.

    Raises:
        BadRecord: It has another form; a record may come from a stranger.
    """
    try:
        return msgspec.convert(plain, form)
    except msgspec.ValidationError as fault:
        raise BadRecord(f"call {call.number} of {call.role} is not readable: {fault}") from None
