"""`desim diff`: exit codes, JSON, and what a person reads at 80 columns."""

import gzip
import json
from pathlib import Path

import pytest
from support.command_line import Desim, refused
from support.conversations import decided, write_conversation

BUY = {"do": "buy", "papers": 3}

PROMPT = (
    "Good morning, this is your kiosk. You have 12 papers on the counter, 3 customers came "
    "yesterday and the weather is fine."
)


@pytest.fixture
def two(folder: Path) -> Path:
    """Two records whose second decisions differ, the second one gzipped."""
    say = {"do": "say", "text": PROMPT, "papers": 3}
    other = {"do": "say", "text": PROMPT.replace("12", "7 \x1b[31m"), "papers": 4}
    write_conversation(folder / "a.jsonl", decided(BUY), decided(say, 1))
    write_conversation(folder / "b.jsonl", decided(BUY), decided(other, 1))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress((folder / "b.jsonl").read_bytes()))
    return folder


def test_the_first_difference_is_read_at_eighty_columns(
    desim: Desim, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long text from where it differs; what steers a terminal is escaped."""
    monkeypatch.setenv("COLUMNS", "80")
    done = desim("diff", "a.jsonl", "b.jsonl.gz")
    assert (done.code, done.err) == (1, "")
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert max(map(len, lines)) <= 80
    start = lines.index("Decisions: the first is the same.")
    assert lines[start:][:2] + lines[start:][3:] == [
        "Decisions: the first is the same.",
        "The first that differs is decision 2, t=1, vendor:",
        "action.text \u2026our kiosk. You have 12 papers on \u2026our kiosk. You have 7 \\x1b[31m",
        "            the counter, 3 customers came     papers on the counter, 3",
        "            yesterday and the weather is      customers came yesterday and the",
        "            fine.                             weather is fine.",
    ]


def test_equal_records_end_with_zero(desim: Desim, two: Path) -> None:
    """Also the same file twice."""
    done = desim("diff", "a.jsonl", "a.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "No difference: 2 decisions, the same end." in done.out


def test_json_is_one_object(desim: Desim, two: Path) -> None:
    """With whole texts."""
    done = desim("diff", "a.jsonl", "b.jsonl.gz", "--json")
    found = json.loads(done.out)
    assert done.code == 1
    assert (found["equal"], found["decisions"]) == (False, [2, 2])
    assert found["decision"]["places"][0]["a"] == PROMPT


@pytest.mark.parametrize(
    ("b", "says"),
    [
        ("nope", "cannot read nope: No such file"),
        ("empty", "the file is empty"),
        (".", "cannot read .: Is a directory"),
        ("notes", "the file is no episode record"),
    ],
)
def test_what_cannot_be_read_ends_with_two(desim: Desim, two: Path, b: str, says: str) -> None:
    """One says that records differ."""
    (two / "empty").write_text("")
    (two / "notes").write_text("hello\n")
    refused(desim("diff", "a.jsonl", b), says)
