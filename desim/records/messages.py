"""An episode as chat messages: what each policy received, wrote and decided.

Messages of language models are those of the record. Any other policy receives its observations as
JSON, and its actions are tool calls. A message is listed when it is first sent; a
request repeats those before it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from attrs import define, evolve, field, frozen

from desim.errors import BadRecord
from desim.records.conversation import RecordedCall, calls_of
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.schema.untrusted import decode_json

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


@frozen
class ToolCall:
    """A call of a tool, or an action that a policy took.

    Attributes:
        id: Unique within its message.
        name: The name of the tool or of the action.
        arguments: By name; empty where the model wrote no JSON object.
        raw: The arguments as the model wrote them, if they are not a JSON object.
        written: Whether a model wrote the call. Otherwise it is an action, read from a text or
            taken by another policy.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]
    raw: str = ""
    written: bool = True


@frozen(kw_only=True)
class ChatMessage:
    """A message of an episode.

    Attributes:
        source: The role of the message in a chat.
        text: The text.
        role: The role of the world that sent or received it.
        decision: The number of the decision before which it was sent, from 1.
        tool_calls: The calls of an assistant.
        answers: The call whose result a tool's message is.
        call: The call of the model whose reply, or failure, it is.
        reply: The reply, where there is one.
        step: The decision that it took.
        is_context: Whether it is an assistant's message of a request that no reply on record holds.
    """

    source: Literal["system", "user", "assistant", "tool"]
    text: str
    role: str
    decision: int
    tool_calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    call: RecordedCall | None = None
    reply: RecordedReply | None = None
    step: Step | None = None
    is_context: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the message in the form of chat completions, with its seat and decision."""
        calls = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.name, "arguments": one.raw or _json(one.arguments)},
            }
            for one in self.tool_calls
        ]
        optional = {
            "tool_calls": calls,
            "tool_call_id": self.answers,
            # Some servers send the reasoning before the answer in a field of its own.
            "reasoning": self.reply.thinking if self.reply else "",
        }
        return {
            "seat": self.role,
            "decision": self.decision,
            "role": self.source,
            "content": self.text,
            **{name: value for name, value in optional.items() if value},
        }


def messages_of(record: str | Path, episode: Episode) -> Iterator[ChatMessage]:
    """Yield the messages of a record, those of one decision together.

    Args:
        record: The file of the record.
        episode: The same record, read; it may have been cut.

    Raises:
        BadRecord: A line or an entry is not readable.
    """
    calls: dict[int | None, list[RecordedCall]] = defaultdict(list)
    for call in calls_of(record):
        calls[call.decision].append(call)
    seats: dict[str, _Seat] = defaultdict(_Seat)
    for number, step in enumerate(episode.steps, 1):
        yield from seats[step.role].decided(number, step, calls.pop(number, []))
    for call in calls.pop(None, []):
        yield from seats[call.role].called(len(episode.steps) + 1, call)


@define
class _Seat:
    """The conversation of a role so far.

    Attributes:
        sent: By the first message of a conversation, as JSON, how often its last request had each
            message.
        latest: The same of the last request.
        replies: The texts of the model's replies, and the identifiers of its calls.
        last: The last action, where the next observation is listed as its result.
    """

    sent: dict[bytes, Counter[bytes]] = field(factory=dict)
    latest: Counter[bytes] = field(factory=Counter)
    replies: list[str] = field(factory=list)
    last: ToolCall | None = None

    def decided(
        self, number: int, step: Step, calls: Sequence[RecordedCall]
    ) -> Iterator[ChatMessage]:
        """Yield the messages that led to a decision, the one that took it included."""
        if not any(call.messages for call in calls):
            yield self._observed(number, step)
        taken = _deciding(step, calls)
        for call in calls:
            *received, reply = self.called(number, call)
            yield from received
            yield self._with_action(reply, step) if call is taken else reply
        if taken is None:
            self.last = _action(number, step)
            yield _said(number, step.role, tool_calls=(self.last,), step=step)

    def called(self, number: int, call: RecordedCall) -> Iterator[ChatMessage]:
        """Yield the new messages of a request, and the reply to it."""
        for message in self._new(call):
            if message.role != "assistant":
                yield _received(number, call.role, message)
            elif not self._is_reply(message):
                calls = tuple(map(_tool_call, message.calls))
                yield _said(number, call.role, message.text, tool_calls=calls, is_context=True)
        reply = None if call.reply is None else converted(call.reply, RecordedReply, call)
        text = (reply.text or reply.refusal) if reply else ""
        calls = tuple(map(_tool_call, reply.calls if reply else ()))
        self.replies += [text, *(one.id for one in calls)]
        yield _said(number, call.role, text, tool_calls=calls, call=call, reply=reply)

    def _observed(self, number: int, step: Step) -> ChatMessage:
        """Return the observation as the result of the last action, if there is one."""
        last, self.last = self.last, None
        return ChatMessage(
            source="tool" if last else "user",
            text=step.observed.decode(),
            role=step.role,
            decision=number,
            answers=last.id if last else "",
        )

    def _with_action(self, reply: ChatMessage, step: Step) -> ChatMessage:
        """Return a reply with the decision that it took."""
        self.last = None
        if reply.tool_calls:
            return evolve(reply, step=step)
        action = _action(reply.decision, step)
        if not self.sent:  # the record holds no requests
            self.last = action
        return evolve(reply, step=step, tool_calls=(action,))

    def _new(self, call: RecordedCall) -> list[SentMessage]:
        """Return the messages that the request before did not have, or not so often.

        A method may have several conversations at once, which differ in their first messages. A new
        conversation is compared with the last request.
        """
        keys = [msgspec.json.encode(message) for message in call.messages]
        before = self.sent.get(keys[0], self.latest) if keys else self.latest
        self.latest = Counter[bytes]()
        found = []
        for key, message in zip(keys, call.messages, strict=True):
            self.latest[key] += 1
            if self.latest[key] > before[key]:
                found.append(converted(message, SentMessage, call))
        if keys:
            self.sent[keys[0]] = self.latest
        return found

    def _is_reply(self, message: SentMessage) -> bool:
        """Return whether an assistant's message repeats a reply, or its part after the reasoning.

        A request sends the calls of a reply under the same identifiers.
        """
        if message.calls:
            return any(one.id in self.replies for one in message.calls)
        return any(message.text in each for each in reversed(self.replies))


def _deciding(step: Step, calls: Sequence[RecordedCall]) -> RecordedCall | None:
    """Return the call whose reply took a decision; None for a default action or no call."""
    if "default_action" in (step.notes or {}):
        return None
    replied = [call for call in calls if call.reply is not None and call.phase == "step"]
    return replied[-1] if replied else None


#: Roles of messages that are not a user's or an assistant's; "developer" is OpenAI's newer name.
_SOURCES: dict[str, Literal["system", "tool"]] = {
    "system": "system",
    "developer": "system",
    "tool": "tool",
}


def _received(number: int, role: str, message: SentMessage) -> ChatMessage:
    return ChatMessage(
        source=_SOURCES.get(message.role, "user"),
        text=message.text,
        role=role,
        decision=number,
        answers=message.tool_call_id,
    )


def _said(number: int, role: str, text: str = "", **fields: Any) -> ChatMessage:
    return ChatMessage(source="assistant", text=text, role=role, decision=number, **fields)


def _action(number: int, step: Step) -> ToolCall:
    """Return the action of a decision as a call.

    Raises:
        BadRecord: The action has no name.
    """
    match step.action:
        case {"do": str(name), **arguments}:
            named = {str(key): value for key, value in arguments.items()}
            return ToolCall(f"decision-{number}", name, named, written=False)
    raise BadRecord(f"decision {number}: the action has no name")


def _tool_call(call: ReplyCall) -> ToolCall:
    try:
        arguments = decode_json(call.arguments)
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return ToolCall(call.id, call.name, arguments)
    return ToolCall(call.id, call.name, {}, raw=call.arguments)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
