"""The part of a report on records with the conversation: the calls of language models.

Each text is on the page once, in the first call of its role that has it. Texts and calls beyond the
limits are left out, and the page says how many.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from desim import catalog
from desim.core.policy import OutsidePolicy, ReadReply
from desim.errors import BadRecord
from desim.records.conversation import RecordedCall, calls_of
from desim.reports.page import Given, Talk
from desim.reports.record.record_read import ReadRecord
from desim.show.labels import is_number, number_text

#: Characters of one text that are shown, and of all texts of a page; a text counts as a few more.
_MOST_TEXT, _MOST_TEXTS, _OF_TEXT = 8_000, 4_000_000, 200

#: From here on a number is not a figure of a call.
_HUGE = 1e15

#: Finish reasons of replies that are whole.
_WHOLE = ("", "stop", "tool_calls", "end_turn", "tool_use", "completed")

#: Numbers of a reply, and what they are.
_FIGURES = {
    "prompt_tokens": "tokens read",
    "cached_tokens": "of them cached",
    "completion_tokens": "tokens written",
    "reasoning_tokens": "of them reasoning",
    "seconds": "seconds",
    "reported_cost": "of cost as reported",
}


def is_of_call(entry: Any) -> bool:
    """Return whether an entry of a transcript belongs to a call of a language model."""
    match entry:
        case {"texts": dict()} | {"request": int()} | {"reply": dict()} | {"no_reply": str()}:
            return True
    return False


def conversation(each: Sequence[ReadRecord], *, whole: bool = False) -> Iterator[Given]:
    """Yield the calls of language models of each record.

    Args:
        each: The records of the page, which share its limits.
        whole: Whether all calls and texts are shown, however many.
    """
    for one in each:
        if not any(is_of_call(said.entry) for said in one.episode.transcript):
            continue
        if len(each) > 1:
            yield f"{one.name}:"
        try:
            yield from _calls(one.path, None if whole else _MOST_TEXTS // len(each))
        except BadRecord as fault:
            yield f"The conversation of {one.name} is shown up to here: {fault}."
        except RecursionError:
            yield f"The conversation of {one.name} is shown up to here: it is nested too deep."


def _calls(path: Path, room: int | None) -> Iterator[Given]:
    """Yield the calls of a record until so many characters are shown; None shows all."""
    known: set[tuple[str, str]] = set()
    left_out = 0
    for call in calls_of(path):
        if room is not None and room <= 0:
            left_out += 1
            continue
        texts: list[tuple[str, str]] = []
        for label, text in (*_sent(call), *_received(call)):
            if (call.role, text) in known and label != "answer":
                continue
            known.add((call.role, text))
            if room is not None:
                room -= min(_MOST_TEXT, len(text)) + _OF_TEXT
            texts.append((label, text if room is None else _cut(text)))
        yield Talk(_title(call), texts)
    if left_out:
        yield f"{left_out:,} further calls are left out; desim report --whole shows them."


def _cut(text: str) -> str:
    """Return a text, without its middle part if it is too long."""
    if len(text) <= _MOST_TEXT:
        return text
    half = _MOST_TEXT // 2
    left_out = f"[{len(text) - 2 * half:,} characters are left out; --whole shows them]"
    return f"{text[:half]}\n{left_out}\n{text[-half:]}"


def _title(call: RecordedCall) -> str:
    where = f"Decision {call.decision:,}" if call.decision else "After the last decision on record"
    phase = f" ({call.phase})" if call.phase != "step" else ""
    return f"{where}, {call.role}, call {call.number:,}{phase}: {', '.join(_facts(call))}"


def _facts(call: RecordedCall) -> Iterator[str]:
    """Yield the length of a request, and figures of its reply."""
    yield f"{len(call.messages):,} message{'' if len(call.messages) == 1 else 's'}"
    if call.reply is None:
        yield "no reply"
        return
    for name, head in _FIGURES.items():
        value: Any = call.reply.get(name)
        if is_number(value) and 0 < value < _HUGE:
            about = "about " * bool(call.reply.get("estimated") and head.startswith("tokens"))
            yield f"{about}{number_text(value)} {head}"
    if call.reply.get("served"):
        yield f"answered by {call.reply['served']}"
    finish = str(call.reply.get("finish", ""))
    if finish.lower() not in _WHOLE:
        yield f"ended by {finish}"


def _sent(call: RecordedCall) -> Iterator[tuple[str, str]]:
    """Yield the texts of a request with what they are."""
    if call.fields:
        yield "fields", _indented(call.fields)
    if call.tools:
        yield "tools", _indented(call.tools)
    for message in call.messages:
        yield str(message.get("role", "message")), _message_text(message)


def _received(call: RecordedCall) -> Iterator[tuple[str, str]]:
    """Yield reasoning and answer of a reply, or why there is none."""
    if call.reply is None:
        yield "no reply", call.failure or "The record ends before the reply."
        return
    read = _read_reply(call.reply)
    if read.thinking:
        yield "reasoning", read.thinking
    for label, text in (("refusal", call.reply.get("refusal")), ("not readable", read.fault)):
        if text:
            yield label, str(text)
    answer = _message_text({"content": read.answer, "tool_calls": call.reply.get("calls")})
    yield "answer", answer or "(empty)"


def _read_reply(reply: Mapping[str, Any]) -> ReadReply:
    """Return reasoning and answer of a reply, as the policies that call models read it."""
    for policy in catalog.policies().values():
        if issubclass(policy, OutsidePolicy):
            return policy.read_reply(reply)
    return OutsidePolicy.read_reply(reply)


def _message_text(message: Mapping[str, Any]) -> str:
    """Return the content of a message, its tool calls, and further fields as JSON."""
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, Iterable) and not isinstance(calls, str) else ()
    others = {
        key: value
        for key, value in message.items()
        if key not in ("role", "content", "tool_calls", "tool_call_id") and value
    }
    lines = [*_content_lines(message.get("content")), *map(_tool_call_text, calls)]
    return "\n".join([*lines, *([_indented(others)] if others else [])])


def _content_lines(content: Any) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content] if content else []:
        match part:
            case str(text) | {"text": str(text)}:
                yield text
            case _:
                yield _indented(part)


def _tool_call_text(call: Any) -> str:
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping):
        return _indented(call)
    return f"{inner.get('name')}({inner.get('arguments')})"


def _indented(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
