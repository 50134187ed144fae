"""Files of items: what is read, and what of a stranger's file is refused with which words."""

from pathlib import Path

import pytest

from desim.errors import UsageError
from models.reasoning import Item, ReasoningTasks
from models.reasoning.item import MOST_BYTES, from_row, read

LINE = '{"id": "a", "task": "finer", "context": "c", "answer": "A1"}\n'


def refused(tmp_path: Path, text: str | bytes) -> str:
    """Return the error of a file without its path."""
    file = tmp_path / "items.jsonl"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ValueError) as fault:  # noqa: PT011 (its text is returned)
        read(str(file))
    return str(fault.value).replace(f"{file}, ", "")


def test_a_folder_is_read_by_name_and_a_file_alone(tmp_path: Path) -> None:
    """Blank lines and other files do not count; numbers become texts."""
    (tmp_path / "b.jsonl").write_text(LINE)
    (tmp_path / "a.jsonl").write_text(
        '\n{"id": "b", "task": "formula", "question": "q", "target": 40.0}'
    )
    (tmp_path / "notes.txt").write_text("no item")
    assert [(item.id, item.answer) for item in read(str(tmp_path))] == [("b", "40.0"), ("a", "A1")]
    assert [item.id for item in read(str(tmp_path / "b.jsonl"))] == ["a"]


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({"answer": 70}, "70"),
        ({"answer": ["2018", 2019]}, "['2018', 2019]"),
        ({"target": "x", "answer": "y"}, "x"),
        ({"target": 0, "answer": "y"}, "y"),
        ({"target": 0}, ""),
        ({"target": "0"}, "0"),
    ],
)
def test_the_answer_may_be_called_target(row: dict[str, object], answer: str) -> None:
    """A target that is the number 0 counts as missing, as published."""
    assert from_row({"id": "a", "task": "formula", "question": "q", **row}).answer == answer


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (LINE + LINE, "line 2: the id 'a' is used twice"),
        ("[1]", "line 1: it is an object, not [1]"),
        (LINE.replace("answer", "anser"), "did you mean 'answer'?"),
        ('\n\n{"id": "a", "task": "finer", "context": "c"}', "line 3: the field answer is missing"),
        ("{}", "the field id is missing"),
        (LINE.replace("finer", "fines"), "task='fines' was given; did you mean 'finer'?"),
        (LINE.replace('"A1"', "NaN"), "line 1: NaN is not a number"),
        (LINE.replace('"A1"', "9" * 5_000), "Exceeds the limit"),
        (LINE.replace('"A1"', "[" * 100_000 + "]" * 100_000), "more than 100 levels"),
        (LINE.replace('"A1"', "null"), "answer=None was given; it is a text, number or list"),
        (LINE.replace('"a"', "1"), "'id' must be"),
        (LINE.replace('"c"', '["c"]'), "'context' must be"),
        (LINE.replace('"c"', '"\\ud800"'), "surrogate"),
        (LINE.replace('"context": "c", ', ""), "neither a question nor a context"),
        (LINE.replace("}", ', "options": ["", "", "", "", "", "", ""]}'), "'options' must be <= 6"),
        (LINE.replace("}", ', "difficulty": 11}'), "'difficulty' must be <= 10"),
        (LINE.replace("}", ', "difficulty": 1e999}'), "out of range"),
        (LINE.replace("}", ', "capability": "Sums"}'), "'capability' must be in"),
        (bytes(range(256)), "line 1: Expecting value"),
        (b" " * (MOST_BYTES + 1), "line 1: a line has at most 1,000,000 bytes"),
        ("\n", "there are none"),
    ],
)
def test_a_strangers_file_is_refused_by_file_and_line(
    tmp_path: Path, text: str | bytes, error: str
) -> None:
    """In one sentence, whatever it holds."""
    assert error in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"tasks": ("FinKnw",)}, "did you mean 'FinKnow'?"),
        ({"split": "tests"}, "did you mean 'test'?"),
        ({"tasks": ("finer",)}, "no item is of split 'test' and of"),
        ({"window": 0}, "window"),
        ({"seconds_per_item": -1}, "seconds_per_item"),
        ({"near_zero": "none"}, "near_zero"),
    ],
)
def test_parameters_that_choose_nothing_are_refused(changes: dict[str, object], error: str) -> None:
    """With what is possible."""
    with pytest.raises(UsageError, match=error.replace("?", r"\?")):
        ReasoningTasks.preset(**changes)


def test_items_may_be_limited_to_a_category_or_a_data_set() -> None:
    """A task of a data set is also of its category."""
    one = Item(id="1", task="FinKnow", question="q", answer="A", options=("x", "y"))
    two = Item(id="2", task="multiple_choice", question="q", answer="A", options=("x", "y"))
    both, first = (
        ReasoningTasks(items=(one, two), tasks=(name,)).chosen_items
        for name in ("multiple_choice", "FinKnow")
    )
    assert (both, first) == ((one, two), (one,))
