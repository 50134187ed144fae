"""Labels for a file of items: by a scripted server, resumable, never overwriting."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from label_items import main
from support.stub import Served, serving, text

from models.reasoning.item import read

#: A model at a server that is not there, and is not called.
NOBODY = ("--model", "nobody", "--base-url", "http://localhost:1/v1")


def run(*arguments: object) -> Result:
    """Run the script."""
    return CliRunner().invoke(main, [str(each) for each in arguments])


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Write a file of four items, one of them labelled."""
    file = tmp_path / "items.jsonl"
    rows = [{"id": f"i{n}", "task": "formula", "question": f"What is {n}?"} for n in range(4)]
    lines = [json.dumps(row | {"answer": "0"})[:-1] for row in rows]
    ends = [',"capability":"Domain Knowledge","difficulty":1.0}\n', "}\n", "}\n", "}\n"]
    file.write_text("".join(map(str.__add__, lines, ends)))
    return file


def test_a_model_labels_one_item_a_call_and_a_stopped_run_goes_on(
    items: Path, tmp_path: Path
) -> None:
    """Nothing is asked twice; a line that was cut is written again; unreadable replies count."""
    replies = [
        "Capability: Numerical Calculation\nScore: 8\nReasoning: r",
        "no idea",
        "Capability: Information Extraction\nScore: 2\nReasoning: r",
        "Capability: Numerical Calculation\nScore: 99\nReasoning: r",
    ]

    def script(_: int, body: dict[str, Any]) -> Served:
        asked = body["messages"][-1]["content"]
        return text(next(reply for n, reply in enumerate(replies) if f"What is {n}?" in asked))

    out = tmp_path / "out.jsonl"
    with serving(script) as stub:
        by_model = ("--model", "stub", "--base-url", stub.url)
        whole = run(items, out, *by_model)
        assert whole.exit_code == 0, whole.output
        content = out.read_bytes()
        assert [each["temperature"] for each in stub.requests] == [0.0] * 4
        labels = [(each.capability, each.difficulty) for each in read(str(out))]
        numerical = "Numerical Calculation"
        assert labels == [
            (numerical, 8),
            ("", None),
            ("Information Extraction", 2),
            (numerical, 10),
        ]
        for cut, calls in (
            (0, 4),
            (len(content) // 2, 2),
            (len(content) - 3, 1),
            (len(content), 0),
        ):
            del stub.requests[:]
            out.write_bytes(content[:cut])
            again = run(items, out, *by_model)
            assert (again.exit_code, again.stdout) == (0, whole.stdout)
            assert (out.read_bytes(), len(stub.requests)) == (content, calls)
    assert whole.stdout.splitlines() == [
        "     1  Information Extraction",
        "     2  Numerical Calculation, hard",
        "     1  without labels",
        "of 1 labelled before, 0 have the same capability and 0 also the same bucket",
    ]


@pytest.mark.parametrize(
    "there", ["mine", '{"id":"x","task":"formula","question":"q","answer":"0"}\n']
)
def test_a_file_of_something_else_is_kept(there: str, items: Path, tmp_path: Path) -> None:
    """The error says so."""
    out = tmp_path / "out.jsonl"
    out.write_text(there)
    done = run(items, out, *NOBODY)
    assert done.exit_code == 2
    assert "out.jsonl" in done.stderr
    assert out.read_text() == there


def test_what_cannot_be_labelled_is_refused(items: Path, tmp_path: Path) -> None:
    """No model, no such file, a bad line; nothing is written."""
    out = tmp_path / "out.jsonl"
    for arguments, why in (
        ((items, out), "Missing option '--model'"),
        ((tmp_path / "none.jsonl", out, *NOBODY), "cannot read"),
        ((items, tmp_path / "no" / "out.jsonl", *NOBODY), "cannot write"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert why in done.stderr
    items.write_text("{\n")
    assert "items.jsonl, line 1" in run(items, out, *NOBODY).stderr
    assert not out.exists()


def test_a_server_that_does_not_answer_leaves_what_is_labelled(items: Path, tmp_path: Path) -> None:
    """The error says how many are left."""
    good = text("Capability: Domain Knowledge\nScore: 1\nReasoning: r")
    out = tmp_path / "out.jsonl"
    with serving(good, Served(status=400)) as stub:
        done = run(items, out, "--model", "stub", "--base-url", stub.url)
    assert done.exit_code == 1
    assert "the same command labels the other 3" in done.stderr
    assert len(read(str(out))) == 1
