"""The stored answers: the ceiling of every scorer."""

from collections.abc import Mapping

from attrs import define, field

from desim import Policy, Seat
from models.reasoning.seat import Answer, Question
from policies.heuristics.reasoning.guesses import parameters


@define
class Reference(Policy):
    """Answer by the stored answer of the item, which the analyst cannot see."""

    knows = "state"

    #: By the item's id.
    _answers: Mapping[str, str] = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Take the answers of an episode's items."""
        items = parameters(seat.model, "reference").loaded_items
        self._answers = {item.id: item.answer for item in items}

    def decide(self, question: Question) -> Answer:
        """Return the stored answer."""
        return Answer(self._answers[question.id])
