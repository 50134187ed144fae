"""The analyst's seat: the question, the answers, the options and the rules."""

import re
from collections.abc import Mapping
from typing import ClassVar

from attrs import field, frozen

from desim import Option
from desim.core.reported import SeatBriefing
from desim.schema.validators import long_text
from desim.show.column import Column
from models.reasoning.item import LETTERS

#: The only role.
ANALYST = "analyst"

#: Answers that are offered at most, and characters of the text in which they are looked for.
_MOST, _READ = 8, 20_000

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?%?")
_LABEL = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")


@frozen
class Answer:
    """Give the answer to the question and nothing else, in the form that the instruction names.

    Attributes:
        text: The answer alone: no explanation before or after it; at most 100,000 characters.
    """

    text: str = field(validator=long_text)


@frozen
class Reply:
    """Give a whole reply, such as a language model's, from which the answer is extracted.

    Extraction looks for the field final_answer of a JSON object, then for "Finish[...]", then for
    "The final answer is ..."; a reply that has none of these has no answer.

    Attributes:
        text: The reply with its reasoning and its answer; at most 100,000 characters.
    """

    text: str = field(validator=long_text)


Command = Answer | Reply


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
        context: The document or the table that it is about, with a reference program if it has one.
        options: The texts behind the letters A, B, ... of a multiple choice.
        number: The item's place in the episode, from 1.
        of: Items in the episode.
        instruction: The form of the answer; empty where the context states it.
        feedback: The outcomes of the window of items before; empty in a world that gives none.
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


def options(seen: Question) -> list[Option]:
    """Return answers that fit the form, all of value 0; an empty one if there are none."""
    if seen.category == "multiple_choice":
        lettered = zip(LETTERS, seen.options, strict=False)
        found = [(f"[[{letter}]]", text) for letter, text in lettered]
    elif seen.category == "formula_completion":
        found = [("```python\nreturn 0\n```", "nothing computed")]
    else:
        text = f"{seen.context[:_READ]}\n{seen.question[:_READ]}"
        pattern = _LABEL if seen.category == "tagging" else _NUMBER
        texts = dict.fromkeys(each.replace(",", "") for each in pattern.findall(text))
        form = "{}" if seen.category in ("tagging", "formula_value") else "[[{}]]"
        found = [(form.format(each), "") for each in [*texts][:_MOST]]
    return [Option(Answer(text), 0.0, note=note) for text, note in found or [("", "no answer")]]


RULES = (
    "You are an analyst. You get one question at a time, and before it the document that it is "
    "about, if there is one; no question depends on another."
)


def briefing(questions: int) -> SeatBriefing:
    """Return the rules for the analyst in five answers; *questions* is how many are asked."""
    return SeatBriefing(
        title="The analyst's questions",
        you_are="An analyst who answers questions on reports, tables and formulas.",
        you_want="Right answers, in the form that the question asks for.",
        it_costs="A wrong answer earns nothing, and there is no second try.",
        it_ends=f"After {questions} questions.",
        score="The share of right answers, from 0 to 1.",
    )


def told(question: Question) -> str:
    """Return the outcome of the answers before a question, where the analyst sees it."""
    graded = question.feedback
    if not graded:
        return "Your answer counts; whether answers are right is told at the end."
    right = sum(bool(each.correct) for each in graded)
    return f"Of the {len(graded)} questions that were graded last, you had {right} right."
