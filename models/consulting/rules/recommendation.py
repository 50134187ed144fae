"""Detection of a recommendation in a message, and the number of its supports."""

import re
from functools import lru_cache

from models.consulting.rules.words import numbers, sentences, stems, words

#: Supporting drivers with which a recommendation is complete.
SUPPORTS = 2

#: Stems of "recommend", "recommendation"; "advise", "advice".
_RECOMMENDS = frozenset(("recomm", "advis", "advic"))

#: A sentence with one of these puts the recommendation off.
_NOT_YET = frozenset(("before", "until", "cannot", "later"))

#: Stems of words that begin a reason.
_REASONS = frozenset(
    ("becaus", "since", "first", "second", "third", "reason", "driver", "given", "due")
)

_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s", re.MULTILINE)


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
    """Return the estimated number of reasons in a message.

    It counts the different words that begin a reason, the items of lists, and, as one, numbers.
    """
    return len(set(stems(text)) & _REASONS) + len(_ITEM.findall(text)) + bool(numbers(text))
