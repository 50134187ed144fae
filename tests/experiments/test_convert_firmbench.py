"""The public data sets as items: every form of a row, and every fault named by file and line."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from convert_firmbench import SPLITS, Fault, convert, main

from models.reasoning.item import TASKS, read

#: An invented row of each data set, in the form of the rows in the reference vectors.
ROWS: dict[str, dict[str, Any]] = {
    "CodeFinQA": {"question": "How much?", "context": "Sales 9.", "answer": "9", "program": "9"},
    "CodeTAT-QA": {"question": "How much?", "context": "| a | b |", "answer": 70},
    "ConvFinQA": {"question": "How much?", "context": "Cost 4.", "answer": "4"},
    "FinCode": {"question": "How much?", "context": "", "answer": "1.5"},
    "finer": {"context": "Instruction: Name the tag.\nInput: Rent.\nAnswer:", "target": "Rent"},
    "FinKnow": {"question": "Which?", "context": "", "options": ["x", "y"], "answer": "B"},
    "formula": {"context": 'Question: "what is 8 times 5?". Answer:', "target": "40.0"},
    "FormulaEval": {"question": "def f(price):", "answer": "    return price"},
    "SEC-NUM": {"question": "How much?", "context": "Rent $3,400.", "answer": "$3,400"},
    "TAT-QA": {"question": "How much?", "context": "12.5% of it", "answer": "12.5%"},
}


def data_set(folder: Path, name: str, *rows: Any) -> Path:
    """Write the files of a data set; the rows are those of its test split. Return that file."""
    (folder / name).mkdir(parents=True)
    for split in SPLITS[name]:
        listed = rows if split == "test" else [ROWS[name]]
        lines = (each if isinstance(each, str) else json.dumps(each) for each in listed)
        text = "".join(f"{line}\n" for line in lines)
        (folder / name / f"{split}.jsonl").write_text(text, "utf-8")
    return folder / name / "test.jsonl"


def test_all_ten_data_sets_become_items(tmp_path: Path) -> None:
    """What is written is read by the model, with every field and split."""
    for name, row in ROWS.items():
        data_set(tmp_path / "in", name, row, row | {"page": 3, "program": None})
    done = CliRunner().invoke(main, [str(tmp_path / "in"), str(tmp_path / "out")])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "ConvFinQA: 1 train, 2 test\n" in done.stderr
    items = {item.id: item for item in read(str(tmp_path / "out"))}
    assert len(items) == sum(len(splits) + 1 for splits in SPLITS.values())
    assert {*ROWS} == {*TASKS}
    for name, row in ROWS.items():
        item = items[f"{name}-test-1"]
        assert (item.task, item.split) == (name, "test")
        assert (item.question, item.context) == (row.get("question", ""), row.get("context", ""))
        assert item.answer == str(row.get("answer", row.get("target")))
        assert item.options == tuple(row.get("options", ()))
        assert item.program == row.get("program", "")


FAULTS = {
    "no row": ("3", "3 was given; a row is an object"),
    "broken": ('{"question": ', "Input data was truncated"),
    "nested": ("[" * 100_000, "nested too deeply"),
    "no question": ({"context": "c", "answer": "1"}, "a row of TAT-QA needs a question"),
    "no answer": ({"question": "q"}, "the field answer is missing"),
    "two answers": ({"question": "q", "answer": "1", "target": "2"}, "answer and target differ"),
    "seven options": ({"question": "q", "answer": "A", "options": [*"abcdefg"]}, "options"),
    "id of another kind": ({"question": "q", "answer": "1", "id": 1.5}, "id=1.5 was given"),
    "id twice": ({"question": "q", "answer": "1", "id": 1}, "is that of"),
    "long": ('"' + "x" * 1_000_001 + '"', "at most 1,000,000 bytes"),
}


@pytest.mark.parametrize(("row", "why"), FAULTS.values(), ids=FAULTS)
def test_a_bad_row_is_refused_with_its_line(row: Any, why: str, tmp_path: Path) -> None:
    """And nothing is written."""
    file = data_set(tmp_path / "in", "TAT-QA", ROWS["TAT-QA"], row)
    done = CliRunner().invoke(main, [str(tmp_path / "in"), str(tmp_path / "out")])
    assert done.exit_code == 2
    assert f"{file}, line 2: " in done.stderr
    assert why in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Of a folder without data sets one that could be there, of a data set the missing split."""
    with pytest.raises(Fault, match=r"FinCode/test\.jsonl"):
        convert(tmp_path)
    data_set(tmp_path, "formula", ROWS["formula"])
    (tmp_path / "formula" / "valid.jsonl").unlink()
    with pytest.raises(Fault, match=r"formula/valid\.jsonl: No such file"):
        convert(tmp_path)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file of items that is there is kept, and none beside it is written."""
    for name in ("TAT-QA", "finer"):
        data_set(tmp_path / "in", name, ROWS[name])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "TAT-QA.jsonl").write_text("mine")
    done = CliRunner().invoke(main, [str(tmp_path / "in"), str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "exists and is kept" in done.stderr
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["TAT-QA.jsonl"]
    assert (tmp_path / "out" / "TAT-QA.jsonl").read_text() == "mine"
