"""Spans of reasoning in a text: where they begin and end, and the text without them.

Source: reference `wires.md`, section 5. A span is named by its marker: `<think>`, `<seed:think>`,
`[THINK]`, `<|START_THINKING|>`, `<|channel>thought`. Only a closing marker of its own kind ends it.
"""

import re
from collections.abc import Iterator

from attrs import frozen

#: Words of a marker that make it one of reasoning.
_REASONING = frozenset(
    """think thinking thought thoughts reason reasoning reflect reflection analysis scratchpad
    rationale cot monologue deliberation""".split()  # noqa: SIM905 (shorter than a list)
)

#: Words of a marker that say on which side of the span it is.
_BEGIN, _END = frozenset(("begin", "start", "open", "of")), frozenset(("end", "stop", "close"))

#: A marker in one of the four kinds of brackets; attributes may follow its name.
_MARKER = re.compile(
    r"(?P<left><[|\uff5c]?|\[|◁)\s*(?P<slash>/?)\s*[|\uff5c]?"
    r"(?P<name>[A-Za-z][\w:|\u2581.\-]{0,60})"
    r"(?:\s[^<>\[\]◁▷]{0,200})?"
    r"(?P<right>[|\uff5c]?>|\]|▷)"
)

_SENTENCE_BEGINS = re.compile(r"\bhere(?:['\u2019]s| is) my thought process:", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"\bhere(?:['\u2019]s| is) my response:", re.IGNORECASE)

_CHANNEL_BEGINS = re.compile(r"<\|channel>\s*(?:thought|thinking|analysis)\b")
_CHANNEL_ENDS = re.compile(r"<channel\|>")

_CONTENT_BEGINS = re.compile(r"<\|content_thinking\|>")
_CONTENT_ENDS = re.compile(r"<\|end_message\|>")

#: In square brackets only these words are markers; the others are headings.
_BRACKETED = frozenset(("think", "thinking"))

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W_]+")


class Unclosed(Exception):
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
        Unclosed: A span does not end.

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
    """Return the position after a span; the markers within it are taken.

    Raises:
        Unclosed: The span does not end.
    """
    depth = 1
    for marker in markers:
        if marker.kind == opening.kind:
            depth += 1 if marker.opens else -1
        if depth == 0:
            return marker.end
    raise Unclosed(text[opening.start : opening.end])


def _markers(text: str) -> Iterator[_Marker]:
    """Yield the markers of a text, those of one form after those of another."""
    for found in _MARKER.finditer(text):
        if marker := _bracketed(found):
            yield marker
    yield from _pairs(text, "sentence", _SENTENCE_BEGINS, _SENTENCE_ENDS)
    yield from _pairs(text, "channel", _CHANNEL_BEGINS, _CHANNEL_ENDS)
    yield from _pairs(text, "content", _CONTENT_BEGINS, _CONTENT_ENDS, lone=False)


def _bracketed(found: re.Match[str]) -> _Marker | None:
    """Return the marker that a bracketed name is; None for another name."""
    words = [word.lower() for word in _WORDS.findall(found["name"])]
    shape = found["left"][0]
    reasoning = _REASONING if shape != "[" else _BRACKETED
    if reasoning.isdisjoint(words) or words[0] == "content" or not _fits(shape, found["right"]):
        return None
    closes = bool(found["slash"]) or not _END.isdisjoint(words)
    bars = "|" if found["left"] != shape else ""
    kind = (shape + bars, *(word for word in words if word not in _BEGIN | _END))
    return _Marker(kind, found.start(), found.end(), opens=not closes)


def _fits(left: str, right: str) -> bool:
    return right[-1] == {"<": ">", "[": "]", "◁": "▷"}[left]


def _pairs(
    text: str, kind: str, begins: re.Pattern[str], ends: re.Pattern[str], *, lone: bool = True
) -> Iterator[_Marker]:
    for found in begins.finditer(text):
        yield _Marker((kind,), found.start(), found.end(), opens=True)
    for found in ends.finditer(text):
        yield _Marker((kind,), found.start(), found.end(), opens=False, lone=lone)
