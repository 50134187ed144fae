"""Answers that are reviewed and rewritten: the rounds, and whether a review approves."""

import re
from typing import ClassVar

from attrs import define

from policies.llm.method_parts.items import Item
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.setting import per_task
from policies.llm.replies import objects
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply

#: Keys of the verdict, the first one present counts, and a verdict written as text.
_FLAGS = ("is_correct", "is_valid")
_AS_TEXT = {"true": True, "yes": True, "false": False, "no": False}

_APPROVING = re.compile(r"\b(correct|no issues|looks good)\b", re.IGNORECASE)

#: Words of a complaint. The published test does not look for them, so that "not correct" and "the
#: correct order is 5" approve there.
_COMPLAINING = re.compile(
    r"\b(incorrect|wrong|not|isn't|but|however|should|instead|error|mistake|correct (\w+ )?is)\b",
    re.IGNORECASE,
)

#: JSON Schema of a verdict.
VERDICT = {
    "type": "object",
    "properties": {"is_correct": {"type": "boolean"}, "feedback": {"type": "string"}},
    "required": ["is_correct", "feedback"],
    "additionalProperties": False,
}


@define(eq=False, kw_only=True)
class Reviewed(Method):
    """The base of methods that rewrite an answer until a review approves it."""

    ROUNDS: ClassVar[int] = 2
    TEMPERATURES = per_task(0.0)

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return an answer, rewritten until a review approves it or the rounds are used up."""
        answer = self.act(item, temperature, self.advice())
        reviews: list[str] = []
        try:
            for _ in range(self.times):
                reviews.append(self.review(item, answer))
                if self.approved(reviews[-1]):
                    break
                answer = self.rewritten(item, answer, reviews)
        except Spent:
            return answer
        return answer

    def advice(self) -> str:
        """Return the advice for the first answer."""
        return ""

    def review(self, item: Item, answer: ModelReply) -> str:
        """Return a review of an answer, by a call of the model."""
        raise NotImplementedError

    def approved(self, review: str) -> bool:
        """Return whether a review approves of the answer."""
        return approves(review, as_published=self.as_published)

    def rewritten(self, item: Item, answer: ModelReply, reviews: list[str]) -> ModelReply:
        """Return an answer rewritten after the last of some reviews."""
        raise NotImplementedError


def approves(review: str, *, as_published: bool = False) -> bool:
    """Return whether a review approves of the answer, by its flag or by a word.

    Args:
        review: The review, with or without a JSON verdict.
        as_published: Whether an approving word counts wherever it stands, as in the published
            code; otherwise it does not beside a complaint.
    """
    for verdict in objects(review):
        for name in _FLAGS:
            flag = verdict.get(name)
            if isinstance(flag, str):
                flag = _AS_TEXT.get(flag.strip().lower())
            if isinstance(flag, bool):
                return flag
    return praises(review, as_published=as_published)


def praises(review: str, *, as_published: bool = False) -> bool:
    """Return whether a review in free text finds no fault; for `as_published` see `approves`."""
    if not as_published and _COMPLAINING.search(review):
        return False
    return bool(_APPROVING.search(review))


def feedback_of(review: str) -> str:
    """Return the feedback of a JSON verdict; empty if the review contains no feedback."""
    found = (verdict.get("feedback") for verdict in objects(review))
    return next((feedback for feedback in found if isinstance(feedback, str)), "")
