"""An item: a question, the text of its right answer, its family, its groups, and files of items.

A file is JSON lines: objects with the fields of an `Item`, where `target` may stand for `answer`,
and a number for its text. A line `{"canary": TEXT}` is left out. A file is read whole into memory.
"""

import codecs
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import Attribute, field, fields_dict, frozen
from attrs.validators import deep_iterable, ge, in_, instance_of, le, max_len, min_len, optional

from desim.errors import possible, sentence
from desim.schema.untrusted import decode_json
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

#: Items of all files together, and bytes of a line.
MOST_ITEMS, MOST_BYTES = 100_000, 1_000_000

#: The letters of the options of a multiple choice; as a number each counts as its place from 0.
LETTERS = "ABCDEF"


def is_task(_: object, attribute: "Attribute[Any]", value: Any) -> None:
    """Validate a field of an attrs class: a published data set or a category."""
    instance_of(str)(_, attribute, value)
    known = (*TASKS, *CATEGORIES)
    if value not in known:
        name = attribute.name
        raise ValueError(f"{name}={short_repr(value)} was given; {possible(value, known)}")


_text: Any = [instance_of(str), max_len(1_000_000)]
_name: Any = [instance_of(str), min_len(1), max_len(200)]
_options: Any = [instance_of(tuple), max_len(len(LETTERS)), deep_iterable(_text)]


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
    task: str = field(validator=is_task)
    answer: str = field(validator=_text)
    split: str = field(default="test", validator=_name)
    question: str = field(default="", validator=_text)
    context: str = field(default="", validator=_text)
    options: tuple[str, ...] = field(default=(), converter=_texts, validator=_options)
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
    if item.capability:
        name = slug(item.capability)
        yield name
        if item.capability in _BUCKETED and item.difficulty is not None:
            easy, middle = item.difficulty <= _EASY, item.difficulty <= _MIDDLE
            yield f"{name}_{'easy' if easy else 'middle' if middle else 'hard'}"


def slug(name: str) -> str:
    """Return a name as the part of a metric's name: "SEC-NUM" is `sec_num`."""
    return "".join(char if char.isalnum() else "_" for char in name.lower())


@cache
def shipped() -> tuple[Item, ...]:
    """Return the items that ship with the model, twenty of each category."""
    return read(Path(__file__).with_name("items"))


def read(given: Any) -> tuple[Item, ...]:
    """Read a file, a folder's files .jsonl by name, or given items; a fault is a `ValueError`."""
    if isinstance(given, list | tuple):
        return _distinct((f"items: number {at}", item) for at, item in enumerate(given, 1))
    if not isinstance(given, str | os.PathLike) or "\0" in os.fspath(given):
        raise ValueError(f"items={short_repr(given)} was given; it is a file, a folder, or items")
    try:
        return _distinct(_lines(Path(given)))
    except OSError as fault:
        name = short_repr(fault.filename)
        raise ValueError(f"items: cannot read {name}: {fault.strerror}") from None


def _lines(path: Path) -> Iterator[tuple[str, Item]]:
    """Yield the place and the item of every line that is not blank."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"items: the folder {str(path)!r} has no files that end in .jsonl")
    for file in files:
        content = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        for number, line in enumerate(content.split(b"\n"), 1):
            place = f"{file}, line {number}"
            if len(line) > MOST_BYTES:
                raise ValueError(f"{place}: a line has at most {MOST_BYTES:,} bytes")
            if line.strip() and (item := _item(line, place)):
                yield place, item


def _item(line: bytes, place: str) -> Item | None:
    """Return an item; None of a line by which a corpus shows that it holds the file."""
    try:
        row = decode_json(line)
        is_canary = isinstance(row, dict) and row.keys() == {"canary"}
        return None if is_canary else from_row(row)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"{place}: {sentence(fault)}") from None


def from_row(row: Any) -> Item:
    """Build an item from the plain values of a line.

    As in the published code a `target` that is the number 0 or empty counts as missing: `answer`
    takes its place, and without that an empty text. Any fault is a `ValueError`.
    """
    if not isinstance(row, dict):
        raise ValueError(f"it is an object, not {short_repr(row)}")  # noqa: TRY004 (one kind)
    given, known = dict(row), fields_dict(Item)
    if "target" in given:
        given["answer"] = given.pop("target") or given.get("answer", "")
    for key in given:
        if key not in known:
            raise ValueError(f"there is no field {short_repr(key)}; {possible(key, known)}")
    for key in ("id", "task", "answer"):
        if key not in given:
            raise ValueError(f"the field {key} is missing")
    answer = given["answer"]
    if not isinstance(answer, str | int | float | list):
        raise ValueError(f"answer={short_repr(answer)} was given; it is a text, number or list")  # noqa: TRY004 (one kind)
    return Item(**{**given, "answer": str(answer)})


def _distinct(found: Iterable[tuple[str, Any]]) -> tuple[Item, ...]:
    items: dict[str, Item] = {}
    for place, item in found:
        if not isinstance(item, Item):
            raise ValueError(f"{place} is no item: {short_repr(item)}")  # noqa: TRY004 (one kind)
        if item.id in items:
            raise ValueError(f"{place}: the id {short_repr(item.id)} is used twice")
        if len(items) == MOST_ITEMS:
            raise ValueError(f"{place}: there are at most {MOST_ITEMS:,} items")
        items[item.id] = item
    if not items:
        raise ValueError("items: there are none in what was given")
    return tuple(items.values())
