"""A reply without its reasoning: what conversations, methods and the router read.

Reasoning is not an answer, whatever it holds. It comes in fields of a message, which `completion`
takes apart, and in the text, from which it is cut here: channels first, then spans.

Source: reference `wires.md`, section 5. The markers of channels are those of harmony
(`<|channel|>final`), of Muse (`to=user<|message|>`), and what is left of harmony where a server has
removed special tokens (`analysis...assistantfinal...`). A span is named by its marker: `<think>`,
`<seed:think>`, `[THINK]`, `<|START_THINKING|>`, `<|channel>thought`. Only a closing marker of its
own kind ends it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, frozen

from desim.core.policy import ReadReply
from policies.llm.replies.objects import LONGEST
from policies.llm.wires.wire import Call, ModelReply

#: Tags that Kimi K3 writes with special tokens, such as `<|open|>think<|sep|>`.
_SEPARATED = re.compile(r"<\|(open|close)\|>\s*([^<>|]{1,200}?)\s*<\|sep\|>")


def answer_only(reply: ModelReply) -> ModelReply:
    """Return a reply with its reasoning moved from the text to `thinking`.

    A reply whose reasoning does not end, or which has no final channel, is malformed, and its text
    is empty.
    """
    text = _SEPARATED.sub(_as_tag, reply.text)
    try:
        text = _answer(text, called=bool(reply.calls))
    except _Unclosed as span:
        return _malformed(reply, f"your reasoning was not closed: {span} has no end")
    except _NoAnswer:
        return _malformed(reply, "your reply holds reasoning and no final answer")
    if text == reply.text:
        return reply
    return evolve(reply, text=text.strip(), thinking=reply.thinking or reply.text)


def read_recorded(reply: Mapping[str, Any]) -> ReadReply:
    """Return reasoning and answer of a reply as a record holds it; values may be of any type."""
    calls = (Call("", "", ""),) if reply.get("calls") else ()
    text, thinking, fault = (
        str(reply.get(name) or "") for name in ("text", "thinking", "malformed")
    )
    read = answer_only(ModelReply(text, calls, thinking=thinking, malformed=fault))
    # Where the reasoning was cut out of the text, it is the whole text.
    reasoning = read.thinking.rstrip()
    if not thinking:
        reasoning = reasoning.removesuffix(read.text)
    return ReadReply(reasoning, read.text, read.malformed)


def _answer(text: str, *, called: bool) -> str:
    try:
        within = _answer_in_channels(text[:LONGEST])
    except _NoAnswer:
        if not called:
            raise
        within = ""
    return without_spans(text if within is None else within)


def _malformed(reply: ModelReply, why: str) -> ModelReply:
    thinking, malformed = reply.thinking or reply.text, reply.malformed or why
    return evolve(reply, text="", thinking=thinking, malformed=malformed)


def _as_tag(found: re.Match[str]) -> str:
    return f"<{'/' if found[1] == 'close' else ''}{found[2]}>"


# -- channels --------------------------------------------------------------------------------------

#: Tokens that separate messages.
_SEPARATOR = re.compile(r"<\|(?:start|end|return|call|eom|eot)\|>")

_MESSAGE = "<|message|>"

_TO = re.compile(r"\bto=([\w.\-]+)")

_CHANNEL = re.compile(r"(?:<\|channel\|>\s*|^\s*(?:assistant)?\s*)(analysis|commentary|final)\b")

#: Recipients other than tools. Muse's commentary is part of what the user reads.
_READERS, _SELF = ("user", "commentary", "all"), "self"

#: Harmony without its special tokens: the word of a channel, and the next word right behind it.
#: The recipient of a call is before the channel or after it.
_STRIPPED = re.compile(r"\s*(?:assistant)?(analysis|commentary)(?=[\w\"'{(\[<*`]| to=)")
_STRIPPED_PART = re.compile(r"assistant(?: to=([\w.\-]+?))?(analysis|commentary|final)")
_STRIPPED_CALL = re.compile(
    r"\s*(?:to=([\w.\-]+?))?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?=\{)"
)


class _NoAnswer(Exception):
    """Channels of reasoning without a final one."""


@frozen
class _Part:
    """One message: its channel, the tool that it calls, its text."""

    channel: str
    tool: str
    text: str


def _answer_in_channels(text: str) -> str | None:
    """Return the text of the final channel and of calls; None if the text has no channels.

    Calls of tools are written as `<tool_call>{"name": ..., "arguments": ...}</tool_call>`.
    """
    if _MESSAGE in text or "<|channel|>" in text:
        parts = list(_parts(text))
    elif _STRIPPED.match(text) or _STRIPPED_PART.search(text):
        parts = list(_stripped_parts(text))
    else:
        return None
    answers = [_written(each) for each in parts if each.tool or each.channel == "final"]
    if not answers:
        raise _NoAnswer
    return "\n".join(answers)


def _parts(text: str) -> Iterator[_Part]:
    for piece in _SEPARATOR.split(text):
        header, marked, content = piece.partition(_MESSAGE)
        if not marked:
            continue
        to, channel = _TO.search(header), _CHANNEL.search(header)
        recipient = to[1] if to else ""
        named = channel[1] if channel else ""
        if recipient in _READERS:
            yield _Part("final" if named in ("", "final") else named, "", content)
        elif recipient == _SELF:
            yield _Part("analysis", "", content)
        else:
            yield _Part(named, recipient if named != "analysis" else "", content)


def _stripped_parts(text: str) -> Iterator[_Part]:
    start = _STRIPPED.match(text)
    pieces = _STRIPPED_PART.split(text[start.end() :] if start else text)
    recipients, channels = ["", *pieces[1::3]], [start[1] if start else "analysis", *pieces[2::3]]
    for recipient, channel, content in zip(recipients, channels, pieces[0::3], strict=True):
        call = _STRIPPED_CALL.match(content) if channel == "commentary" else None
        tool = recipient or (call and call[1]) or ""
        yield _Part(channel, tool, content[call.end() :] if call and tool else content)


def _written(part: _Part) -> str:
    if not part.tool:
        return part.text
    name = part.tool.rpartition(".")[2]
    return f'<tool_call>{{"name": "{name}", "arguments": {part.text.strip() or "{}"}}}</tool_call>'


# -- spans -----------------------------------------------------------------------------------------

#: Words of a marker that make it one of reasoning.
_REASONING = frozenset(
    """think thinking thought thoughts reason reasoning reflect reflection analysis scratchpad
    rationale cot monologue deliberation inner""".split()  # noqa: SIM905 (shorter than a list)
)

#: Words of a marker that say on which side of the span it is.
_BEGIN = frozenset(("begin", "start", "open", "of", "prefix"))
_END = frozenset(("end", "stop", "close", "suffix"))

#: A marker in one of the four kinds of brackets; attributes may follow its name.
_MARKER = re.compile(
    r"(?P<left><[|\uff5c]?|\[|◁)\s*(?P<slash>/?)\s*[|\uff5c]?"
    r"(?P<name>[A-Za-z][\w:|\u2581.\-]{0,60})"
    r"(?:\s[^<>\[\]◁▷]{0,200})?"
    r"(?P<right>[|\uff5c]?>|\]|▷)"
)

#: Other spans by kind: their beginnings, and their ends. The end of a content is not one of a span
#: that began with the text.
_CONTENT = "content"
_PAIRS = {
    "sentence": (
        re.compile(r"\bhere(?:['\u2019]s| is) my thought process:", re.IGNORECASE),
        re.compile(r"\bhere(?:['\u2019]s| is) my response:", re.IGNORECASE),
    ),
    "channel": (
        re.compile(r"<\|channel>\s*(?:thought|thinking|analysis)\b"),
        re.compile(r"<channel\|>"),
    ),
    "turn": (
        re.compile(r"<\|im_start\|>\s*(?:think|reason)\w*"),
        re.compile(r"<\|im_start\|>\s*(?:answer|assistant)\b"),
    ),
    _CONTENT: (re.compile(r"<\|content_thinking\|>"), re.compile(r"<\|end_message\|>")),
}

#: In square brackets only these words are markers; the others are headings.
_BRACKETED = frozenset(("think", "thinking"))

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W_]+")


class _Unclosed(Exception):
    """A span of reasoning without its end; the argument is its opening marker."""


@frozen
class _Marker:
    """One end of a span.

    Attributes:
        kind: The name or sign that both ends of a span share.
        start: Position of the marker.
        end: Position after it.
        opens: Whether the span begins here.
        lone: Whether, as a closing marker, it ends a span that began with the text.
    """

    kind: tuple[str, ...]
    start: int
    end: int
    opens: bool
    lone: bool = True


def without_spans(text: str) -> str:
    """Return a text without its spans of reasoning.

    A closing marker without an opening one ends a span that began with the text; of nested spans
    the last closing marker counts.

    Raises:
        _Unclosed: A span does not end.

    >>> without_spans("<think>9?</think>6")
    '6'
    >>> without_spans("9?</think>6")
    '6'
    """
    kept: list[str] = []
    at = 0
    markers = iter(sorted(_markers(text), key=lambda each: each.start))
    for marker in markers:
        if marker.start < at:
            continue
        if marker.opens:
            kept.append(text[at : marker.start])
            at = _end_of_span(text, marker, markers)
        elif marker.lone:
            kept.clear()
            at = marker.end
    return "".join([*kept, text[at:]])


def _end_of_span(text: str, opening: _Marker, markers: Iterator[_Marker]) -> int:
    """Return the position after a span; the markers within it are taken."""
    depth = 1
    for marker in markers:
        if marker.kind == opening.kind:
            depth += 1 if marker.opens else -1
        if depth == 0:
            return marker.end
    raise _Unclosed(text[opening.start : opening.end])


def _markers(text: str) -> Iterator[_Marker]:
    """Yield the markers of a text, those of one form after those of another."""
    for found in _MARKER.finditer(text):
        if marker := _bracketed(found):
            yield marker
    for kind, (begins, ends) in _PAIRS.items():
        for found in begins.finditer(text):
            yield _Marker((kind,), found.start(), found.end(), opens=True)
        for found in ends.finditer(text):
            lone = kind != _CONTENT
            yield _Marker((kind,), found.start(), found.end(), opens=False, lone=lone)


def _bracketed(found: re.Match[str]) -> _Marker | None:
    """Return the marker that a bracketed name is; None for another name."""
    words = [word.lower() for word in _WORDS.findall(found["name"])]
    shape = found["left"][0]
    reasoning = _REASONING if shape != "[" else _BRACKETED
    if reasoning.isdisjoint(words) or words[0] == "content" or not _fits(shape, found["right"]):
        return None
    if found[0].endswith("/>"):  # an empty span
        return None
    closes = bool(found["slash"]) or not _END.isdisjoint(words)
    bars = "|" if found["left"] != shape else ""
    kind = (shape + bars, *(word for word in words if word not in _BEGIN | _END))
    return _Marker(kind, found.start(), found.end(), opens=not closes)


def _fits(left: str, right: str) -> bool:
    return right[-1] == {"<": ">", "[": "]", "◁": "▷"}[left]
