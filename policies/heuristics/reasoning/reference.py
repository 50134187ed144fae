"""The stored answers: the ceiling of every scorer."""

from collections.abc import Mapping
from typing import Self

from attrs import frozen

from desim import Policy, Seat
from models.reasoning.actions import Answer
from models.reasoning.observation import Question
from policies.heuristics.reasoning.guesses import parameters


@frozen
class Reference(Policy):
    """Answer by the stored answer of the item, which the analyst cannot see.

    Attributes:
        answers: By the item's id.
    """

    knows = "state"

    answers: Mapping[str, str]

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Return the policy for the items of an episode."""
        items = parameters(seat.model, "reference").loaded_items
        return cls({item.id: item.answer for item in items})

    def decide(self, question: Question) -> Answer:
        """Return the stored answer."""
        return Answer(self.answers[question.id])
