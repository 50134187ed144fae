"""Words, phrases, numbers and recommendations in a text, as the rules find them.

Two words are equal if their stems are, so "pricing" and "price", "competition" and "competitors".
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

_COMMON_TEXT = """
a about all also an and any are as at be been between but by can could do does each for from had
has have how i if in into is it its many may me more much my no not now of on one or other our
over per please should so some such tell than that the their them then there these they this those
to too two under us was we were what when where which who why will with would year years you your
"""

#: Stop words, which do not identify a topic.
_COMMON = frozenset(_COMMON_TEXT.split())

_WORD = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+")
_NUMBER = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s*(%|percent|thousand|million|billion|(?:k|m|mn|bn)(?![^\W\d_]))?",
    re.IGNORECASE,
)
_SCALES = {"%": 0.01, "p": 0.01, "k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}  # by first letter

_ENDINGS = ("ing", "ed", "es", "s", "e")  # removed where a stem is left
_SHORTEST = 3  # letters of what is left
_LETTERS = 6  # of a stem
_LONGEST = 40  # letters of a word from which a stem is made

_RECOMMENDS = frozenset(("recomm", "advis", "advic"))  # stems of "recommendation", "advice"
_NOT_YET = frozenset(("before", "until", "cannot", "later"))  # words that put one off

#: Stems of words that begin a reason.
_REASONS = frozenset(
    ("becaus", "since", "first", "second", "third", "reason", "driver", "given", "due")
)

_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)


def words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, numbers without their commas."""
    return [each.replace(",", "") for each in _WORD.findall(text.lower())]


def stem(word: str) -> str:
    """Return the stem that the forms of a word share; a number is returned unchanged."""
    # Cut, because the cache must not keep texts of a megabyte that are one word.
    return word if word[0].isdigit() else _stem(word[:_LONGEST])


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    if word.endswith("ies"):
        word = word[:-3] + "y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word.removesuffix(ending)
            break
    return word[:_LETTERS]


def stems(text: str) -> list[str]:
    """Return the stems of all words of a text in order."""
    return [stem(each) for each in words(text)]


def content(text: str) -> frozenset[str]:
    """Return the stems of a text's content words, and its numbers."""
    return frozenset(stem(each) for each in words(text) if each not in _COMMON)


def found(phrases: Sequence[str], text: str) -> list[str]:
    """Return those of the phrases whose words follow each other in a text, by their stems."""
    # Spaces around each word keep "cost" out of "accost"; `in` on text is faster than a window.
    inside = f" {' '.join(stems(text))} "
    return [each for each in phrases if f" {' '.join(stems(each))} " in inside]


def grams(text: str, size: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of *size* words of a text."""
    each = words(text)
    return zip(*(each[at:] for at in range(size)), strict=False)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text with their marks; a line break ends a sentence."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def numbers(text: str) -> list[float]:
    """Return all forms of the quantities of a text."""
    return [value for forms in quantities(text) for value in forms]


def quantities(text: str) -> list[tuple[float, ...]]:
    """Return the numbers of a text, each as written and, with a scale, also as meant.

    >>> quantities("1,200 units, 40% of 3 million")
    [(1200.0,), (40.0, 0.4), (3.0, 3000000.0)]
    """
    given: list[tuple[float, ...]] = []
    for digits, scale in _NUMBER.findall(text):
        value = float(digits.replace(",", ""))
        given.append((value, value * _SCALES[scale[0].lower()]) if scale else (value,))
    return given


# The interviewer looks at every answer again on each of its turns.
@lru_cache(maxsize=256)
def recommends(text: str) -> bool:
    """Return whether a message gives a recommendation, instead of asking or putting it off."""
    for sentence in sentences(text):
        if sentence.endswith("?") or not _NOT_YET.isdisjoint(words(sentence)):
            continue
        if not _RECOMMENDS.isdisjoint(stems(sentence)):
            return True
    return False


@lru_cache(maxsize=256)
def supports(text: str) -> int:
    """Return how many words that begin a reason and items of lists there are; numbers are one."""
    return len(set(stems(text)) & _REASONS) + len(_ITEM.findall(text)) + bool(numbers(text))
