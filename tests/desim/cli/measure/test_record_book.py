"""`desim record-book`: runs that beat the best known score are entered, and the book is listed."""

import json
from pathlib import Path

import pytest
from attrs import evolve
from support.command_line import Desim, refused

from desim.catalog.known_scores import FILE_NAME, known_scores_text
from models.edt import EnterpriseDigitalTwin


@pytest.fixture
def book(folder: Path) -> Path:
    """A book of the firm, in which the best known score of one preset is low."""
    known = EnterpriseDigitalTwin.known_scores("interactive")
    assert known is not None
    assert known.every is not None
    low = evolve(known, every=evolve(known.every, best=2e6, policy="simple", record=""))
    path = folder / FILE_NAME
    path.write_text(known_scores_text("make.py", {"interactive": low}))
    return path


def test_runs_are_entered_one_by_one(desim: Desim, book: Path) -> None:
    """Those that are refused have a sentence each, and the command fails."""
    for policy in ("greedy", "simple"):
        desim("run", "edt", "--preset", "interactive", "--policy", policy, "--record", policy)
    done = desim("record-book", "add", "simple", "greedy", "simple", "--file", book.name)
    assert done.code == 2
    assert [line.partition("; ")[0] for line in done.out.splitlines()] == [
        "edt/interactive, seed 0: 5,719,500 by simple, before 2,000,000",
        "edt/interactive, seed 0: 9,897,000 by greedy, before 5,719,500",
    ]
    assert done.err == (
        "desim: simple: score 5,719,500 does not beat the best known score, 9,897,000 by greedy\n"
    )
    shown = desim("record-book", "list", "edt", "--file", book.name)
    line = "edt/interactive every 9,897,000 greedy — best known —"
    assert shown.out.splitlines()[1].split() == line.split()


def test_the_list_is_json(desim: Desim) -> None:
    """With unrounded figures."""
    done = desim("record-book", "list", "consulting", "--json")
    table = json.loads(done.out)
    assert table["heads"][-1] == "headroom"
    assert {line[0] for line in table["lines"]} >= {"consulting/published"}
    assert 0 < table["lines"][0][-1] < 1


def test_what_is_no_record_is_refused(desim: Desim) -> None:
    """In one sentence."""
    refused(desim("record-book", "add", "none.jsonl"), "none.jsonl", code=1)
