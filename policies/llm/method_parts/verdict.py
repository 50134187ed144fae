"""Whether a review approves of an answer: by its flag, or by a word where it has none."""

import re

from policies.llm.chat.parse import objects

#: Keys of the verdict, the first one present counts.
_FLAGS = ("is_correct", "is_valid")

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


def approves(review: str, *, as_published: bool = False) -> bool:
    """Return whether a review approves of the answer.

    Args:
        review: The review, with or without a JSON verdict.
        as_published: Whether an approving word counts wherever it stands, as in the published
            code; otherwise it does not beside a complaint.
    """
    for verdict in objects(review):
        for name in _FLAGS:
            if isinstance(flag := verdict.get(name), bool):
                return flag
    return praises(review, as_published=as_published)


def praises(review: str, *, as_published: bool = False) -> bool:
    """Return whether a review in free text finds no fault; for `as_published` see `approves`."""
    if not as_published and _COMPLAINING.search(review):
        return False
    return bool(_APPROVING.search(review))


def feedback_of(review: str) -> str:
    """Return the feedback of a JSON verdict; empty if the review contains no feedback."""
    for verdict in objects(review):
        if isinstance(feedback := verdict.get("feedback"), str):
            return feedback
    return ""
