"""An episode as chat messages: what each policy received, wrote and decided.

Messages of language models are those of the record: each when it is first sent, because a request
repeats those before it, and each reply; an assistant's message in a request is taken for a reply.
Any other policy receives its observations as JSON, and its actions are tool calls.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field

from desim.errors import BadRecord
from desim.records.conversation import RecordedCall, calls_of
from desim.records.episode import Episode
from desim.records.lines import Step

Message = dict[str, Any]


class _ReplyCall(msgspec.Struct):
    id: str = ""
    name: str = ""
    arguments: str = ""


class _Reply(msgspec.Struct):
    text: str = ""
    refusal: str = ""
    thinking: str = ""
    calls: tuple[_ReplyCall, ...] = ()


def messages_of(record: str | Path, episode: Episode) -> Iterator[Message]:
    """Yield the messages of a record in the form of chat completions, those of a decision together.

    Each has `seat`, the role of the world, `decision`, the number of the decision before which it
    was sent (from 1), `role` and `content`, and where it has them `tool_calls`, `tool_call_id` and
    `reasoning`. *episode* is the same record, read; it may have been cut.
    """
    calls: dict[int | None, list[RecordedCall]] = defaultdict(list)
    for call in calls_of(record):
        calls[call.decision].append(call)
    seats: dict[str, _Seat] = defaultdict(_Seat)
    for number, step in enumerate(episode.steps, 1):
        for message in seats[step.role].decided(number, step, calls.pop(number, [])):
            yield {"seat": step.role, "decision": number, **message}
    for call in calls.pop(None, []):
        for message in seats[call.role].called(call):
            yield {"seat": call.role, "decision": len(episode.steps) + 1, **message}


@define
class _Seat:
    """The conversation of a role so far.

    Attributes:
        sent: By the first message of a conversation, as JSON, how often its last request had each
            message; under the empty key that of the last request.
        last: The identifier of the last action, if the next observation is its result.
    """

    sent: dict[bytes, Counter[bytes]] = field(factory=lambda: {b"": Counter()})
    last: str = ""

    def decided(self, number: int, step: Step, calls: list[RecordedCall]) -> Iterator[Message]:
        """Yield the messages that led to a decision, and the one that took it."""
        if not any(call.messages for call in calls):
            yield _message("tool" if self.last else "user", step.observed.decode(), self.last)
        self.last = ""
        action = _action(number, step)
        taken = _deciding(step, calls)
        for call in calls:
            *received, reply = self.called(call)
            yield from received
            yield {"tool_calls": [action], **reply} if call is taken else reply
        if taken is None:
            self.last = action["id"]
            yield _message("assistant", calls=[action])

    def called(self, call: RecordedCall) -> Iterator[Message]:
        """Yield the new messages of a request, and the reply to it."""
        for sent in self._new(call.messages):
            if sent.get("role") != "assistant":
                linked = {key: sent[key] for key in ("tool_calls", "tool_call_id") if sent.get(key)}
                yield {"role": sent.get("role"), "content": sent.get("content"), **linked}
        try:
            reply = msgspec.convert(call.reply or {}, _Reply)
        except msgspec.ValidationError as fault:
            what = f"call {call.number} of {call.role}"
            raise BadRecord(f"{what} is not readable: {fault}") from None
        calls = [_tool_call(one.id, one.name, one.arguments) for one in reply.calls]
        text = reply.text or reply.refusal
        yield _message("assistant", text, calls=calls, reasoning=reply.thinking)

    def _new(self, messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the messages that the last request of the same conversation did not have so often.

        Conversations of one seat differ in the first message; a new one follows the last request.
        """
        keys = [msgspec.json.encode(message) for message in messages]
        before = self.sent.get(keys[0], self.sent[b""]) if keys else Counter[bytes]()
        self.sent[b""] = self.sent[keys[0] if keys else b""] = now = Counter[bytes]()
        for key, message in zip(keys, messages, strict=True):
            now[key] += 1
            if now[key] > before[key]:
                yield message


def _message(
    role: str, content: str = "", answers: str = "", calls: object = (), reasoning: str = ""
) -> Message:
    # Some servers send the reasoning before the answer in a field of its own.
    optional = {"tool_calls": calls, "tool_call_id": answers, "reasoning": reasoning}
    return {"role": role, "content": content, **{n: v for n, v in optional.items() if v}}


def _deciding(step: Step, calls: Sequence[RecordedCall]) -> RecordedCall | None:
    replied = [call for call in calls if call.reply is not None and call.phase == "step"]
    return replied[-1] if replied and "default_action" not in (step.notes or {}) else None


def _action(number: int, step: Step) -> Message:
    match step.action:
        case {"do": str(name), **arguments}:
            text = msgspec.json.encode(arguments).decode()
            return _tool_call(f"decision-{number}", name, text)
    raise BadRecord(f"decision {number}: the action has no name")


def _tool_call(key: str, name: str, arguments: str) -> Message:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}
