"""An item: a question, the text of its right answer, its family, and its groups for reports."""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import deep_iterable, ge, in_, instance_of, le, max_len, min_len, optional

from desim.errors import possible
from desim.schema.validators import finite
from desim.short_repr import short_repr

#: The families of tasks, each with a form of answer and a scorer of its own, and the instruction on
#: the form (reference SPEC section 3). As published, tagging and formula value have none: the
#: context of their items states the form.
INSTRUCTIONS: Mapping[str, str] = {
    "program_synthesis": (
        "Write a Python program in a fence of three backticks; the value of its last line is the "
        "number that is asked for. Write that number behind it as [[number]]."
    ),
    "quantity_extraction": "Copy the quantity from the context and write [[quantity]] alone.",
    "multiple_choice": "Write the letter of the right option as [[letter]].",
    "formula_completion": (
        "Write the body of the function, without its signature, in a fence of three backticks."
    ),
    "tagging": "",
    "formula_value": "",
}
CATEGORIES = tuple(INSTRUCTIONS)

#: The category of each published data set, by the name under which it is published.
TASKS: Mapping[str, str] = {
    "FinCode": "program_synthesis",
    "CodeFinQA": "program_synthesis",
    "CodeTAT-QA": "program_synthesis",
    "SEC-NUM": "quantity_extraction",
    "TAT-QA": "quantity_extraction",
    "ConvFinQA": "quantity_extraction",
    "FinKnow": "multiple_choice",
    "FormulaEval": "formula_completion",
    "finer": "tagging",
    "formula": "formula_value",
}

#: Groups of items by which accuracy is reported: reference SPEC section 2.
CAPABILITIES = (
    "Information Extraction",
    "Numerical Calculation",
    "Domain Knowledge",
    "Complex Reasoning",
)

#: Capabilities whose items are put into buckets, and the largest difficulty of easy and middle.
_BUCKETED = ("Numerical Calculation", "Domain Knowledge")
_EASY, _MIDDLE = 3, 6

#: The letters of the options of a multiple choice; as a number each counts as its place from 0.
LETTERS = "ABCDEF"


def _is_task(_: object, attribute: "Attribute[str]", value: Any) -> None:
    instance_of(str)(_, attribute, value)
    known = (*TASKS, *CATEGORIES)
    if value not in known:
        raise ValueError(f"task={short_repr(value)} was given; {possible(value, known)}")


_text: Any = [instance_of(str), max_len(1_000_000)]
_name: Any = [instance_of(str), min_len(1), max_len(200)]


def _texts(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


@frozen(kw_only=True)
class Item:
    """A question and its answer.

    Attributes:
        id: Its name, which no other item of the same files has; 1 to 200 characters.
        task: A published data set, such as FinKnow, or a category, such as tagging.
        answer: A number, a span, a letter, labels or the body of a function.
        split: train, valid or test, or any other name.
        question: May be empty if the context contains it.
        context: The document or the table that the question is about.
        options: The texts behind the letters of a multiple choice, at most six.
        program: A reference program, which published tasks show with the context.
        capability: One of the four of reference SPEC section 2; empty: not labelled.
        difficulty: From 0, the easiest, to 10; None: not labelled.

    Source: reference SPEC sections 2 and 3.
    """

    id: str = field(validator=_name)
    task: str = field(validator=_is_task)
    answer: str = field(validator=_text)
    split: str = field(default="test", validator=_name)
    question: str = field(default="", validator=_text)
    context: str = field(default="", validator=_text)
    options: tuple[str, ...] = field(
        default=(),
        converter=_texts,
        validator=[instance_of(tuple), max_len(len(LETTERS)), deep_iterable(_text)],
    )
    program: str = field(default="", validator=_text)
    capability: str = field(default="", validator=in_(("", *CAPABILITIES)))
    difficulty: float | None = field(default=None, validator=optional([finite, ge(0), le(10)]))

    def __attrs_post_init__(self) -> None:
        if not (self.question or self.context):
            raise ValueError(f"item {short_repr(self.id)} has neither a question nor a context")

    @property
    def category(self) -> str:
        """The category of its task."""
        return TASKS.get(self.task, self.task)


def groups(item: Item) -> Iterator[str]:
    """Yield the names of the capability and the bucket that an item belongs to, if it has any."""
    if not item.capability:
        return
    name = slug(item.capability)
    yield name
    if item.capability in _BUCKETED and item.difficulty is not None:
        easy, middle = item.difficulty <= _EASY, item.difficulty <= _MIDDLE
        yield f"{name}_{'easy' if easy else 'middle' if middle else 'hard'}"


def slug(name: str) -> str:
    """Return a name as the part of a metric's name: "SEC-NUM" is `sec_num`."""
    return "".join(char if char.isalnum() else "_" for char in name.lower())
