"""Baselines of the reasoning tasks: answers without reading, and the stored answers.

A method that does not exceed the first two has not shown that it understands the questions.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from desim import Policy, Seat
from desim.errors import UsageError
from models.reasoning.item import Item
from models.reasoning.params import ReasoningParams
from models.reasoning.seat import Answer, Question

_LETTERS = "ABCDEF"

#: The answer where a question offers nothing to choose from.
_NOTHING = "0"

#: A number as a document writes it: a sign, thousands by commas, decimals.
_NUMBER = re.compile(r"[-+]?\d(?:[\d,]*\d)?(?:\.\d+)?")

#: Characters of a text that are searched for a number.
_SEARCHED = 200_000


def baselines(_: ReasoningParams) -> tuple[str, ...]:
    """Return the policy specs, the last one the ceiling; `random` joins roles with options."""
    return ("first_number", "majority", "reference")


@frozen
class FirstNumber(Policy):
    """Answer by the first number of the context; of the question if the context has none."""

    def decide(self, question: Question) -> Answer:
        """Return the number as it is written; 0 if the question and its context have no number."""
        for text in (question.context, question.question):
            if found := _NUMBER.search(text[:_SEARCHED]):
                return Answer(found[0])
        return Answer(_NOTHING)


@define
class Majority(Policy):
    """Answer by what is right most often among the training items of the same category.

    The first of equally frequent answers counts. Without training items of the category the answer
    is the letter A, or 0 for a question without options.
    """

    # The right answers of training items, which an analyst is not shown.
    knows = "rules"

    _counts: dict[str, Counter[str]] = field(factory=dict, init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Count the right answers of the items for training."""
        for item in _items(seat, "majority"):
            if item.split == "train":
                self._counts.setdefault(item.category, Counter())[_as_letter(item)] += 1

    def decide(self, question: Question) -> Answer:
        """Return the answer of the question's category."""
        if counts := self._counts.get(question.category):
            return Answer(counts.most_common(1)[0][0])
        return Answer(_LETTERS[0] if question.options else _NOTHING)


@define
class Reference(Policy):
    """Answer by the stored answer of the item, which the analyst cannot see."""

    knows = "state"

    #: By the item's id.
    _answers: Mapping[str, str] = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Take the answers of an episode's items."""
        self._answers = {item.id: item.answer for item in _items(seat, "reference")}

    def decide(self, question: Question) -> Answer:
        """Return the stored answer."""
        return Answer(self._answers[question.id])


def _items(seat: Seat, policy: str) -> Sequence[Item]:
    if not isinstance(seat.model, ReasoningParams):
        raise UsageError(f"{policy} reads the reasoning tasks' items and plays no other world")
    return seat.model.loaded_items


def _as_letter(item: Item) -> str:
    """Return an answer; the letter of an option that it names by its text or by its number."""
    given = item.answer.strip()
    texts = [option.strip().lower() for option in item.options]
    if given.isdecimal() and int(given) < len(texts):
        return _LETTERS[int(given)]
    return _LETTERS[texts.index(given.lower())] if given.lower() in texts else item.answer
