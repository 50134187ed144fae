"""The part of a report on records with the conversation: the calls of language models.

Each text is on the page once, in the first call of its role that has it. Texts and calls beyond the
limits are left out, and the page says how many.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import msgspec
from attrs import define, field

from desim import catalog
from desim.core.policy import OutsidePolicy, ReadReply
from desim.errors import BadRecord
from desim.records.conversation import RecordedCall, calls_of
from desim.reports.page import Given, Talk, cleaned
from desim.reports.record.record_read import ReadRecord
from desim.show.labels import is_number, number_text

#: Characters of one text that are shown, and of all texts of a page; a call counts as a few more.
_MOST_TEXT, _MOST_TEXTS, _OF_CALL = 8_000, 4_000_000, 400

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
    "reported_cost": "reported cost",
}


def is_of_call(entry: Any) -> bool:
    """Return whether an entry of a transcript belongs to a call of a language model."""
    match entry:
        case {"texts": dict()} | {"request": int()} | {"reply": dict()} | {"no_reply": str()}:
            return True
    return False


def conversation(each: Sequence[ReadRecord], *, whole: bool = False) -> Iterator[Given]:
    """Yield the calls of language models of each record, and their sums.

    Args:
        each: The records of the page, which share its limits.
        whole: Whether all calls and texts are shown, however many.
    """
    for one in each:
        if not any(is_of_call(said.entry) for said in one.episode.transcript):
            continue
        found = _Conversation(None if whole else _MOST_TEXTS // len(each))
        try:
            for call in calls_of(one.path):
                found.add(call)
            yield from found.blocks(one.name if len(each) > 1 else "")
        except BadRecord as fault:
            yield f"The conversation of {one.name} is not shown: {fault}."
        except RecursionError:
            yield f"The conversation of {one.name} is not shown: it is nested too deep."


@define
class _Conversation:
    """The calls of one record that are shown, and the sums over all.

    Attributes:
        room: Characters that it may still show; None for any number.
    """

    room: int | None
    _sums: dict[tuple[str, str], "Counter[str]"] = field(factory=dict, init=False)
    _known: set[tuple[str, str]] = field(factory=set, init=False)
    _shown: list[Talk] = field(factory=list, init=False)

    def add(self, call: RecordedCall) -> None:
        """Count a call, and show it if there is room."""
        figures = Counter({"calls": 1, "without reply": int(call.reply is None)})
        figures.update(_figures(call.reply or {}))
        self._sums.setdefault((call.role, call.phase), Counter()).update(figures)
        if self.room is None or self.room > 0:
            texts = [(label, self._cut(text)) for label, text in self._new(call)]
            self._shown.append(Talk(_title(call), texts))

    def _new(self, call: RecordedCall) -> Iterator[tuple[str, str]]:
        """Yield the texts of a call, with what they are, that no earlier call of its role has."""
        for label, text in (*_sent(call), *_received(call)):
            if (call.role, text) not in self._known or label == "answer":
                self._known.add((call.role, text))
                yield label, text

    def _cut(self, text: str) -> str:
        """Return a text, without its middle part if it is too long."""
        if self.room is None:
            return text
        most = min(_MOST_TEXT, max(0, self.room))
        self.room -= min(most, len(text)) + _OF_CALL
        if len(text) <= most:
            return text
        half = most // 2
        left_out = f"[{len(text) - 2 * half:,} characters are left out; --whole shows them]"
        return f"{text[:half]}\n{left_out}\n{text[len(text) - half :]}"

    def blocks(self, name: str) -> Iterator[Given]:
        """Yield the sums, and the calls; under a name if it is not empty."""
        heads = ["calls", "without reply", *_FIGURES.values()]
        used = [head for head in heads if any(figures[head] for figures in self._sums.values())]
        if name:
            yield f"{name}:"
        yield cleaned(
            ["role", "phase", *used],
            ([*who, *map(figures.get, used)] for who, figures in self._sums.items()),
            left=(0, 1),
        )
        yield from self._shown
        more = sum(figures["calls"] for figures in self._sums.values()) - len(self._shown)
        if more:
            yield f"{more:,} further calls are left out; desim report --whole shows them."


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
    figures = Counter(_figures(call.reply))
    about = "about " if call.reply.get("estimated") else ""
    for whole, part in (("read", "cached"), ("written", "reasoning")):
        if tokens := figures[f"tokens {whole}"]:
            inner = figures[f"of them {part}"]
            of = f" ({number_text(inner)} {part})" if inner else ""
            yield f"{about}{number_text(tokens)} tokens {whole}{of}"
    if figures["seconds"]:
        yield f"{figures['seconds']:,.3g} s"
    if figures["reported cost"]:
        yield f"cost {number_text(figures['reported cost'])}"
    if call.reply.get("served"):
        yield f"answered by {call.reply['served']}"
    finish = str(call.reply.get("finish", ""))
    if finish.lower() not in _WHOLE:
        yield f"ended by {finish}"


def _figures(reply: Mapping[str, Any]) -> dict[str, float]:
    found = {head: reply.get(name) for name, head in _FIGURES.items()}
    return {head: value for head, value in found.items() if _is_figure(value)}


def _is_figure(value: Any) -> TypeGuard[float]:
    return is_number(value) and abs(value) < _HUGE


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
