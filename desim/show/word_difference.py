"""The difference of two texts by words."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from attrs import frozen

#: A word, or another character, with the space behind it.
_WORD = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")

#: Words of each text that are compared behind their equal beginning; the rest counts as replaced.
_MOST_WORDS = 2_000

#: Equal words that are kept on both sides of a difference.
_CONTEXT = 10

#: Characters of one word or run of words that are kept.
_LONGEST = 600


@frozen
class TextPiece:
    """A part of two texts.

    Attributes:
        kind: "same", "a" or "b" for a part of one text alone, or "left out".
        text: The part; of one that is left out the number of its words.
    """

    kind: str
    text: str


def word_difference(a: str, b: str) -> Iterator[TextPiece]:
    """Yield the parts of two texts in which they differ, with a few equal words around each.

    >>> [(each.kind, each.text) for each in word_difference("Stock 12 left", "Stock 7 left")]
    [('same', 'Stock '), ('a', '12 '), ('b', '7 '), ('same', 'left')]
    """
    before, after = _WORD.findall(a), _WORD.findall(b)
    keys = [[word.rstrip() for word in words] for words in (before, after)]
    if keys[0] == keys[1]:  # only spaces differ
        keys = [before, after]
    start = _shared(*keys)
    end = _shared(*(words[start:][::-1] for words in keys))
    stops = [len(words) - end for words in keys]
    yield from _context(after[:start], first=True)
    inner = [words[start:stop] for words, stop in zip(keys, stops, strict=True)]
    yield from _inner(before[start : stops[0]], after[start : stops[1]], *inner)
    yield from _context(after[stops[1] :], last=True)


def _shared(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the number of first words that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _inner(
    a: Sequence[str], b: Sequence[str], keys_a: Sequence[str], keys_b: Sequence[str]
) -> Iterator[TextPiece]:
    """Yield the parts of words between an equal beginning and an equal end, compared by keys."""
    matcher = SequenceMatcher(None, keys_a[:_MOST_WORDS], keys_b[:_MOST_WORDS])
    for kind, from_a, to_a, from_b, to_b in matcher.get_opcodes():
        if kind == "equal":
            yield from _context(b[from_b:to_b])
        else:
            yield from _of_one("a", a[from_a:to_a])
            yield from _of_one("b", b[from_b:to_b])
    yield from _of_one("a", a[_MOST_WORDS:])
    yield from _of_one("b", b[_MOST_WORDS:])


def _of_one(kind: str, words: Sequence[str]) -> Iterator[TextPiece]:
    text = "".join(words)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\u2026 ({len(text):,} characters)"
    if text:
        yield TextPiece(kind, text)


def _context(
    words: Sequence[str], *, first: bool = False, last: bool = False
) -> Iterator[TextPiece]:
    """Yield equal words, without those that are far from a difference."""
    head = 0 if first else _CONTEXT
    tail = 0 if last else _CONTEXT
    left_out = len(words) - head - tail
    if left_out <= 1:
        yield from _of_one("same", words)
        return
    yield from _of_one("same", words[:head])
    yield TextPiece("left out", f"{left_out:,} words")
    yield from _of_one("same", words[len(words) - tail :] if tail else ())
