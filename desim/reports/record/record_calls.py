"""The part of a report on records with the conversation: the calls of language models.

Each text is on the page once, in the first request that has it. Texts and calls beyond the limits
are left out, and the page says how many.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from attrs import define, evolve, field, frozen

from desim import catalog
from desim.core.policy import OutsidePolicy, ReadReply
from desim.errors import BadRecord
from desim.records.conversation import RecordedCall
from desim.records.lines import Step
from desim.reports.elements.model_calls import (
    CallTexts,
    DecisionCalls,
    ModelCalls,
    SaidText,
    SentParts,
    one_line,
)
from desim.reports.elements.page import Given
from desim.reports.record.kept_calls import (
    KeptCalls,
    call_figures,
    is_figure,
    is_of_call,
    sums_table,
)
from desim.reports.record.record_read import ReadRecord, readable
from desim.show.labels import number_text

#: Calls of all records of a page.
_MOST_CALLS = 1_200

#: Calls of one decision that are shown, always.
_MOST_CALLS_OF_DECISION = 300

#: Characters of one text that are shown, and of all texts of a page.
_MOST_TEXT, _MOST_TEXTS = 8_000, 4_000_000

#: Characters of an action on the line of its decision.
_ACTION = 160

#: Finish reasons of replies that are whole.
_WHOLE = ("", "stop", "tool_calls", "end_turn", "tool_use", "completed")


@frozen
class Conversations:
    """The conversations of records with language models.

    Attributes:
        blocks: What the page shows; nothing without calls.
        called: By record the numbers of the decisions whose calls are shown.
    """

    blocks: Sequence[Given]
    called: Mapping[str, Collection[int]]


def conversations(
    each: Sequence[ReadRecord], records: int, *, whole: bool = False
) -> Conversations:
    """Return the calls of language models of each record by decision.

    Args:
        each: The records of a section.
        records: The number of records of the page, which share its limits.
        whole: Whether all calls and texts are shown, however many.
    """
    blocks: list[Given] = []
    called: dict[str, Collection[int]] = {}
    for one in each:
        if not any(is_of_call(said.entry) for said in one.episode.transcript):
            continue
        room = _Room(None if whole else _MOST_TEXTS // records)
        name = one.name if len(each) > 1 else ""
        try:
            kept = KeptCalls.of(one, None if whole else _MOST_CALLS // records)
            blocks += [*_Conversation(one, room).blocks(kept, name=name)]
        except BadRecord as fault:
            blocks.append(f"The conversation of {one.name} is not shown: {fault}.")
        except RecursionError:
            blocks.append(f"The conversation of {one.name} is not shown: it is nested too deep.")
        else:
            called[one.name] = kept.numbers
    return Conversations(blocks, called)


@define
class _Room:
    """The characters of texts that a page still takes; None for any number."""

    left: int | None

    def most(self, text: str) -> int | None:
        """Return how many characters of a text are shown, and take them."""
        if self.left is None:
            return None
        most = min(_MOST_TEXT, self.left)
        self.left -= min(most, len(text))
        return most


@define
class _Conversation:
    """The blocks of the conversation of one record.

    Attributes:
        one: The record.
        room: The characters of texts that it may show.
    """

    one: ReadRecord
    room: _Room
    _prompts: list[SaidText] = field(factory=list, init=False)
    _anchors: dict[bytes, str] = field(factory=dict, init=False)
    _answers: dict[tuple[str, str], str] = field(factory=dict, init=False)
    _parts: dict[tuple[str, str], tuple[str, list[str]]] = field(factory=dict, init=False)
    _count: int = field(default=0, init=False)

    def blocks(self, kept: KeptCalls, name: str) -> Iterator[Given]:
        """Yield the sums, and the decisions with their calls, under a name if it is not empty."""
        decisions = [self._decision(*each) for each in (*kept.first, *kept.last)]
        text = (
            f"{kept.left_out:,} decisions between these are left out; desim report --whole shows "
            "them."
        )
        left_out = (len(kept.first), text) if kept.left_out else None
        yield sums_table(kept)
        yield ModelCalls(name, tuple(self._prompts), tuple(decisions), left_out)

    def _decision(
        self, step: Step | None, number: int | None, calls: Sequence[RecordedCall]
    ) -> DecisionCalls:
        usage, reason = _usage_and_default(step)
        title, action = "After the last decision on record", ""
        if step is not None:
            title = f"Decision {number:,}, {self.one.when(step)}, {step.role}"
            action = one_line(readable(step.action).replace("\n", "; "), _ACTION)
        figures = sum((Counter(call_figures(call)) for call in calls), Counter[str]())
        is_bad = bool(usage.get("bad_replies"))
        shown = tuple(self._calls(calls[:_MOST_CALLS_OF_DECISION], is_repaired=is_bad))
        count = f"{len(calls):,} call{'s' if len(calls) > 1 else ''}"
        if len(shown) < len(calls):
            count += f", the first {len(shown):,} shown"
        return DecisionCalls(
            anchor=self.one.anchor("d", number or 0),
            title=title,
            action=action,
            marks=("default action",) * bool(reason) + _marks_of(shown),
            facts=(count, *_tokens(figures), *_cost(usage.get("cost"))),
            reason=reason,
            row=self.one.anchor("row", number) if number and self.one.shows(number) else "",
            calls=shown,
        )

    def _calls(self, calls: Iterable[RecordedCall], *, is_repaired: bool) -> Iterator[CallTexts]:
        """Yield the calls of a decision, some without an answer if *is_repaired*."""
        seen = set[tuple[str, str]]()
        for call in calls:
            has_earlier = (call.role, call.phase) in seen
            yield self._call(call, is_repair=is_repaired and has_earlier and self._continues(call))
            seen.add((call.role, call.phase))

    def _call(self, call: RecordedCall, *, is_repair: bool) -> CallTexts:
        sent, parts = self._request(call)
        reply = call.reply or {}
        phase = (call.phase,) * (call.phase != "step")
        finish = str(reply.get("finish", ""))
        return CallTexts(
            title=f"Call {call.number:,}",
            marks=(
                *map(one_line, phase),
                *("repair",) * is_repair,
                *("no reply",) * (call.reply is None),
                *(one_line(f"ended by {finish}"),) * (finish.lower() not in _WHOLE),
            ),
            facts=_call_facts(call),
            sent=tuple(sent),
            parts=parts,
            received=tuple(self._received(call)),
        )

    def _continues(self, call: RecordedCall) -> bool:
        """Return whether a request is the one before it with a message about its reply."""
        _, before = self._parts.get((call.role, call.phase), ("", []))
        known = [self._anchors.get(_key(call.role, part)) for _, _, part in _parts_of(call)]
        return len(known) > len(before) > 0 and known[: len(before)] == before

    def _request(self, call: RecordedCall) -> tuple[list[SaidText], SentParts | None]:
        """Return the new texts of a request, and the request as a list of anchors."""
        if not call.digest:
            return [], None
        anchors: list[str] = []
        sent: list[SaidText] = []
        for kind, label, part in _parts_of(call):
            key = _key(call.role, part)
            if (anchor := self._anchors.get(key) or self._echoed(call, part)) is None:
                anchor = self._next_anchor("m")
                said = self._said(kind, label, _part_text(kind, part), anchor)
                if kind in ("system", "tools"):
                    self._prompts.append(evolve(said, is_open=False))
                else:
                    sent.append(said)
            self._anchors[key] = anchor
            anchors.append(anchor)
        before, earlier = self._parts.get((call.role, call.phase), ("", []))
        shared = next(
            (at for at, pair in enumerate(zip(earlier, anchors, strict=False)) if len({*pair}) > 1),
            min(len(earlier), len(anchors)),
        )
        own = self._next_anchor("q")
        self._parts[call.role, call.phase] = own, anchors
        count = len(call.messages)
        return sent, SentParts(own, before, shared, tuple(anchors[shared:]), count)

    def _echoed(self, call: RecordedCall, part: Any) -> str | None:
        """Return the anchor of the reply that a message repeats."""
        if not isinstance(part, Mapping) or part.get("role") != "assistant":
            return None
        return self._answers.get((call.role, _message_text(part)))

    def _received(self, call: RecordedCall) -> Iterator[SaidText]:
        if call.reply is None:
            why = call.failure or "The record ends before the reply."
            yield self._said("other", "no reply", why)
            return
        read = _read_reply(call.reply)
        if read.thinking:
            yield self._said("reasoning", "reasoning", read.thinking)
        for label, text in (("refusal", call.reply.get("refusal")), ("not readable", read.fault)):
            if text:
                yield self._said("other", label, str(text))
        anchor = self._next_anchor("r")
        text = _message_text({"content": read.answer, "tool_calls": call.reply.get("calls")})
        self._answers[call.role, text] = anchor
        yield self._said("answer", "answer", text or "(empty)", anchor)

    def _said(self, kind: str, label: str, text: str, anchor: str = "") -> SaidText:
        return SaidText.of(kind, label, text, anchor, self.room.most(text))

    def _next_anchor(self, kind: str) -> str:
        self._count += 1
        return self.one.anchor(kind, self._count)


def _usage_and_default(step: Step | None) -> tuple[Mapping[str, Any], str]:
    """Return what a decision used, and why it was the default action; empty if it was not."""
    notes = (step.notes if step else None) or {}
    usage = notes.get("usage")
    return usage if isinstance(usage, Mapping) else {}, str(notes.get("default_action") or "")


def _marks_of(calls: Iterable[CallTexts]) -> tuple[str, ...]:
    """Return the marks of calls, each once."""
    return tuple(dict.fromkeys(mark for call in calls for mark in call.marks))


def _call_facts(call: RecordedCall) -> tuple[str, ...]:
    figures, reply = Counter(call_figures(call)), call.reply or {}
    seconds = figures["seconds"]
    return (
        *_tokens(figures, "about " if reply.get("estimated") else ""),
        *(f"{seconds:,.3g} s",) * bool(seconds),
        *_cost(reply.get("reported_cost")),
        *(
            one_line(f"{what} {reply[name]}")
            for name, what in (("served", "answered by"), ("id", "reply"))
            if reply.get(name)
        ),
    )


def _tokens(figures: "Counter[str]", about: str = "") -> Iterator[str]:
    for whole, part, what, of in (
        ("tokens read", "of them cached", "read", "cached"),
        ("tokens written", "of them reasoning", "written", "reasoning"),
    ):
        if figures[whole]:
            inner = f" ({number_text(figures[part])} {of})" if figures[part] else ""
            yield f"{about}{number_text(figures[whole])} tokens {what}{inner}"


def _cost(value: Any) -> Iterator[str]:
    if value and is_figure(value):
        yield f"cost {number_text(value)}"


def _parts_of(call: RecordedCall) -> Iterator[tuple[str, str, Any]]:
    """Yield kind, label and value of each part of a request."""
    if call.fields:
        yield "fields", f"fields: {', '.join(map(str, call.fields))}", call.fields
    if call.tools:
        yield "tools", f"tools of {call.role}: {', '.join(map(_tool_name, call.tools))}", call.tools
    for message in call.messages:
        role = str(message.get("role", "message"))
        kind = role if role in ("system", "user", "assistant", "tool") else "user"
        yield kind, f"system prompt of {call.role}" if kind == "system" else role, message


def _tool_name(tool: Mapping[str, Any]) -> str:
    function = tool.get("function", tool)
    return str(function.get("name", "tool")) if isinstance(function, Mapping) else "tool"


def _key(role: str, part: Any) -> bytes:
    return role.encode("utf-8", "replace") + b"\0" + msgspec.json.encode(part, order="sorted")


def _part_text(kind: str, part: Any) -> str:
    if kind in ("fields", "tools"):
        return _indented(part)
    return _message_text(part)


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
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            yield part["text"]
        else:
            yield _indented(part)


def _tool_call_text(call: Any) -> str:
    inner = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping):
        return _indented(call)
    return f"{inner.get('name')}({inner.get('arguments')})"


def _indented(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
