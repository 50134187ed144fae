"""The grade of an answer: extraction, and the scorer of the item's category."""

from collections.abc import Callable, Mapping

from attrs import frozen

from models.reasoning.item import Item
from models.reasoning.scoring import (
    formula_completion,
    short_answers,
)
from models.reasoning.scoring.extraction import extract
from models.reasoning.scoring.verdict import Rules, Verdict

#: The scorer of each category.
_SCORERS: Mapping[str, Callable[[Item, str, Rules], Verdict]] = {
    "program_synthesis": short_answers.judge_program,
    "quantity_extraction": short_answers.judge_quantity,
    "multiple_choice": short_answers.judge_choice,
    "formula_completion": formula_completion.judge,
    "tagging": short_answers.judge_tag,
    "formula_value": short_answers.judge_value,
}


@frozen
class Graded:
    """The grade of an answer.

    Attributes:
        correct: Whether it is right as a whole; None if the scorer raised an exception on it.
        extracted: The answer that was scored.
        predicted: The value read from it: a number, a label, or None if it has none.
        truth: The value compared with *predicted*.
        matched: Labels that match, of a tagging; else 1 or 0.
        labels: Labels that are right, of a tagging; else 1.
        error: The kind of the exception, such as ValueError; else empty.
    """

    correct: bool | None
    extracted: str
    predicted: float | str | None
    truth: float | str | None
    matched: int
    labels: int
    error: str = ""


def grade(item: Item, text: str, rules: Rules | None = None, *, extracts: bool = True) -> Graded:
    """Return the grade of a reply.

    Args:
        item: The item.
        text: A whole reply, from which the answer is extracted, or the answer itself.
        rules: Where paper and code differ; as in the code if left out.
        extracts: Whether *text* is a whole reply.
    """
    answer = extract(text) if extracts else text
    try:
        verdict = _SCORERS[item.category](item, answer, rules or Rules())
    except (ArithmeticError, ValueError) as fault:
        return Graded(None, answer, None, item.answer, 0, 1, type(fault).__name__)
    return Graded(
        verdict.correct,
        answer,
        verdict.predicted,
        verdict.truth,
        verdict.matched,
        verdict.labels,
    )
