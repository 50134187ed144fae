"""The grade of an answer: extraction, and the scorer of the item's category."""

from collections.abc import Callable, Mapping

from models.reasoning.item import Item
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded, formula_completion, short_answers
from models.reasoning.scoring.extraction import extract

#: The scorer of each category.
_SCORERS: Mapping[str, Callable[[Item, str, ReasoningParams], Graded]] = {
    "program_synthesis": short_answers.judge_program,
    "quantity_extraction": short_answers.judge_quantity,
    "multiple_choice": short_answers.judge_choice,
    "formula_completion": formula_completion.judge,
    "tagging": short_answers.judge_tag,
    "formula_value": short_answers.judge_value,
}


def grade(
    item: Item, text: str, rules: ReasoningParams | None = None, *, extracts: bool = True
) -> Graded:
    """Return the grade of a whole reply; with *extracts* off, of the answer itself."""
    answer = extract(text) if extracts else text
    try:
        return _SCORERS[item.category](item, answer, rules or ReasoningParams())
    except (ArithmeticError, ValueError) as fault:
        return Graded(answer, None, None, item.answer, error=type(fault).__name__)
