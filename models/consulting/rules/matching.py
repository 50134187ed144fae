"""The gated facts that a question asks for, and those that a message tells."""

from collections import Counter
from functools import lru_cache

from models.consulting.case import Case, Fact
from models.consulting.rules.words import content, found

#: The share of a topic's words that a question must hold.
MATCHED = 0.5

#: The share of a fact's own words that a message must hold.
TOLD = 0.5


def topics(case: Case, text: str) -> tuple[Fact, ...]:
    """Return the gated facts about whose topics a text is, the best match first.

    A match holds at least half of the words of the topic; equal matches are in the case's order.
    """
    given = content(text)
    shares = [(_share(wanted, given), fact) for fact, wanted in _topic_words(case)]
    matched = [each for each in shares if each[0] >= MATCHED]
    return tuple(fact for _, fact in sorted(matched, key=lambda each: -each[0]))


# The words of a case are the same in every episode and at every question.
@lru_cache(maxsize=64)
def _topic_words(case: Case) -> tuple[tuple[Fact, frozenset[str]], ...]:
    return tuple((fact, content(fact.topic)) for fact in case.gated)


@lru_cache(maxsize=64)
def fact_finder(case: Case) -> "FactFinder":
    """Return the finder of a case, made once."""
    return FactFinder(case)


def _share(wanted: frozenset[str], given: frozenset[str]) -> float:
    return len(wanted & given) / len(wanted) if wanted else 0.0


class FactFinder:
    """Finds the gated facts of a case in messages, also in other words.

    A message tells a fact if it holds at least half of the words and numbers that are the fact's
    own: those in neither the open text, nor any topic, nor another fact. A message
    tells a fact without such words if it repeats it word for word.

    Args:
        case: The case.
    """

    def __init__(self, case: Case) -> None:
        known = content(" ".join([case.public, *(fact.topic for fact in case.gated)]))
        told = [content(fact.fact) for fact in case.gated]
        uses = Counter(word for each in told for word in each)
        shared = known.union(word for word, count in uses.items() if count > 1)
        self._own = [(fact, each - shared) for fact, each in zip(case.gated, told, strict=True)]

    def told(self, text: str) -> list[Fact]:
        """Return the facts that a message tells, in the case's order."""
        given = content(text)
        return [
            fact
            for fact, own in self._own
            if (_share(own, given) >= TOLD if own else found([fact.fact], text))
        ]
