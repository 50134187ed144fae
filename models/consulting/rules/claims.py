"""The numbers that a candidate states: worked out, quoted from the case, wrong, or unfounded.

Every number in an answer is a claim. It is right if it is a figure of the rubric and its sentence
says of what, by at least a third of the content words of the figure's name. It is founded if the
case has stated it before, or if it follows by one operation from two known numbers of its sentence.
A number that is neither is wrong where its sentence names a figure, else unfounded.
"""

from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from models.consulting.case import Case, Figure
from models.consulting.observation import Message
from models.consulting.rules.words import content, quantities, sentences

#: The share of the words of a figure's name that a sentence must hold to be about it.
NAMED = 1 / 3

#: The relative error within which a number follows from two others, or quotes one.
_ROUNDED = 0.01


@frozen
class Claims:
    """The numbers that a candidate stated, by kind.

    Attributes:
        right: Names of the figures of the rubric that were worked out.
        founded: Numbers that the case had stated, or that follow from such in their sentence.
        wrong: Numbers in sentences that name a figure and give none.
        unfounded: All other numbers.
    """

    right: frozenset[str]
    founded: int
    wrong: int
    unfounded: int


def claims(figures: Sequence[Figure], case: Case, dialogue: Sequence[Message]) -> Claims:
    """Return the claims of a dialogue, each number judged by what was known when it was said."""
    counted = _Counted(figures, _values(case.opening))
    for message in dialogue:
        if message.role == "interviewer":
            counted.known += _values(message.text)
        else:
            for sentence in sentences(message.text):
                counted.add(sentence)
    return Claims(frozenset(counted.right), counted.founded, counted.wrong, counted.unfounded)


@define
class _Counted:
    """The claims so far, and the numbers that are known."""

    figures: Sequence[Figure]
    known: list[float]
    right: set[str] = field(factory=set)
    founded: int = 0
    wrong: int = 0
    unfounded: int = 0

    def add(self, sentence: str) -> None:
        """Count the numbers of a sentence."""
        if not (said := quantities(sentence)):
            return
        topics = content(sentence)
        named = [each for each in self.figures if _is_about(topics, each)]
        right = [each for each in named if any(_is_right(each, forms) for forms in said)]
        results = [forms for forms in said if any(_is_right(each, forms) for each in named)]
        others = [forms for forms in said if forms not in results]
        known = [forms[-1] for forms in others if self._is_known(forms)]
        self.right.update(each.name for each in right)
        self.founded += len(known)
        for forms in others:
            if self._is_known(forms):
                continue
            if _follows(forms, known):
                self.founded += 1
                self.known.append(forms[-1])
            elif named and not right:
                self.wrong += 1
            else:
                self.unfounded += 1
        self.known += [forms[-1] for forms in results]

    def _is_known(self, forms: Sequence[float]) -> bool:
        return any(_close(one, each) for one in forms for each in self.known)


def _values(text: str) -> list[float]:
    """Return every number of a text, as written and as meant."""
    return [value for forms in quantities(text) for value in forms]


def _is_about(topics: frozenset[str], figure: Figure) -> bool:
    wanted = frozenset(word for word in content(figure.name) if word[1:] and word.isalpha())
    return not wanted or len(wanted & topics) >= NAMED * len(wanted)


def _is_right(figure: Figure, forms: Sequence[float]) -> bool:
    # A loss is often written without its sign, so only the size is compared.
    size = abs(figure.value)
    return any(abs(one - size) <= figure.tolerance * size for one in forms)


def _follows(forms: Sequence[float], known: Sequence[float]) -> bool:
    """Return whether a number is the sum, difference, product or ratio of two known ones."""
    return any(_close(one, result) for one in forms for result in _results(known))


def _results(known: Sequence[float]) -> Iterator[float]:
    for place, a in enumerate(known):
        for b in known[:place]:
            yield from (a + b, abs(a - b), a * b)
            if a and b:
                yield from (a / b, b / a)


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= _ROUNDED * abs(other)
