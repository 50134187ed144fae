"""The analyst's observation: one question, and the outcomes of the window before.

The rules of the reasoning tasks in words, for the analyst.
"""

from collections.abc import Mapping
from typing import ClassVar

from attrs import frozen

from desim.core.reported import SeatBriefing
from desim.show.column import Column


@frozen
class Feedback:
    """The outcome of an item that has been answered.

    Attributes:
        id: The item.
        correct: Whether the answer was right; null if its scorer failed on it.
        answer: The right answer.
    """

    id: str
    correct: bool | None
    answer: str


@frozen
class Question:
    """One item without its answer.

    Attributes:
        id: The item.
        task: The data set that it is from, or its category.
        category: program_synthesis, quantity_extraction, multiple_choice, formula_completion,
            tagging or formula_value.
        question: What is asked; may be empty where the context holds everything.
        context: The document or the table that it is about, with a reference program if there is
            one.
        options: The texts behind the letters A, B, ... of a multiple choice.
        number: The item's place in the episode, from 1.
        of: Items in the episode.
        instruction: The form of the answer; empty where the context states it.
        feedback: The outcomes of the window of items before this one; empty in a world that gives
            none.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "options": Column(label="Choices"),
        "number": Column(label="Question number", kind="tick", of=("of",)),
    }

    id: str
    task: str
    category: str
    question: str
    context: str
    options: tuple[str, ...]
    number: int
    of: int
    instruction: str = ""
    feedback: tuple[Feedback, ...] = ()


RULES = (
    "You are an analyst. You get one question at a time, and before it the document that it is "
    "about, if there is one; no question depends on another."
)


def told(question: Question) -> str:
    """Return the outcome of the answer before a question; empty if the analyst does not see it."""
    graded = question.feedback
    if not graded:
        return "Your answer counts; whether answers are right is told at the end."
    right = sum(bool(each.correct) for each in graded)
    return f"Of the {len(graded)} questions that were graded last, you had {right} right."


def briefing(questions: int) -> SeatBriefing:
    """Return the rules for the analyst in five answers.

    Args:
        questions: How many are asked.
    """
    return SeatBriefing(
        title="The analyst's questions",
        you_are="An analyst who answers questions on reports, tables and formulas.",
        you_want="Right answers, in the form that the question asks for.",
        it_costs="A wrong answer earns nothing, and there is no second try.",
        it_ends=f"After {questions} questions.",
        score="The share of right answers, from 0 to 1.",
    )
