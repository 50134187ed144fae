"""Answers without reading: the first number, and the most frequent right answer.

A method that does not exceed these has not shown that it understands the questions.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import define, field, frozen

from desim import Policy, Seat
from desim.errors import UsageError
from models.reasoning.item import Item
from models.reasoning.params import ReasoningParams
from models.reasoning.seat import Answer, Question

LETTERS = "ABCDEF"

#: The answer where a question offers nothing to choose from.
_NOTHING = "0"

#: A number as a document writes it: a sign, thousands by commas, decimals.
_NUMBER = re.compile(r"[-+]?\d(?:[\d,]*\d)?(?:\.\d+)?")

#: Characters of a text that are searched for numbers.
_SEARCHED = 200_000


def parameters(model: object, policy: str) -> ReasoningParams:
    """Return reasoning tasks as their parameters; UsageError for another model names the policy."""
    if not isinstance(model, ReasoningParams):
        raise UsageError(f"{policy} reads the reasoning tasks' items and plays no other world")
    return model


@frozen
class FirstNumber(Policy):
    """Answer by the first number of the context; of the question if the context has none."""

    def decide(self, question: Question) -> Answer:
        """Return the number as it is written; 0 if the question and its context have no number."""
        return Answer(next(iter(_numbers(question)), _NOTHING))


@define
class Majority(Policy):
    """Answer by what is right most often among the training items of the same category.

    The first of equally frequent answers counts. Without training items of the category the answer
    is the letter A, or 0 for a question without options.
    """

    # The right answers of training items, which an analyst is not shown.
    knows = "rules"

    #: By category.
    _answers: Mapping[str, str] = field(factory=dict, init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Count the right answers of the items for training."""
        items = parameters(seat.model, "majority").loaded_items
        self._answers = _most_frequent(item for item in items if item.split == "train")

    def decide(self, question: Question) -> Answer:
        """Return the answer of the question's category."""
        other = LETTERS[0] if question.options else _NOTHING
        return Answer(self._answers.get(question.category, other))


def _most_frequent(items: Iterable[Item]) -> dict[str, str]:
    counts: dict[str, Counter[str]] = {}
    for item in items:
        counts.setdefault(item.category, Counter())[_as_letter(item)] += 1
    return {category: found.most_common(1)[0][0] for category, found in counts.items()}


def _as_letter(item: Item) -> str:
    """Return an answer; the letter of an option that it names by its text or by its number."""
    given = item.answer.strip()
    texts = [option.strip().lower() for option in item.options]
    if given.isdecimal() and int(given) < len(texts):
        return LETTERS[int(given)]
    return LETTERS[texts.index(given.lower())] if given.lower() in texts else item.answer


def _numbers(question: Question) -> list[str]:
    """Return the numbers of the context, as written; those of the question if it has none."""
    for text in (question.context, question.question):
        if found := _NUMBER.findall(text[:_SEARCHED]):
            return found
    return []
