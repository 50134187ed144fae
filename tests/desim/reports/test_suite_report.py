"""The report about a suite: its own table, published numbers, marks for what is in no mean."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from support.pages import Read, read
from support.suites import bench, table

from desim.reports.report import write_report

SUITE = """
title = "Two <b>rules</b>"
seeds = "0:3"

[worlds.beer]
model = "beer_game/poisson"
set = { horizon = 6 }
columns = [{ figure = "score", published = "cost" }]
published = { file = "paper.json", table = "1" }

[entries.typical]
policy = "typical"
published = "Typical"

[entries.greedy]
policy = "greedy"
"""

PAPER = {
    "tables": {"1": {"rows": [{"label": "Typical", "values": {"cost": {"printed": "-61.5"}}}]}}
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite that was played, of which two episodes were stopped afterwards."""
    home = tmp_path_factory.mktemp("suite")
    (home / "suite.toml").write_text(SUITE)
    (home / "models" / "published").mkdir(parents=True)
    (home / "models" / "published" / "paper.json").write_text(json.dumps(PAPER))
    code, _, errors = bench(home / "suite.toml", home / "out")
    assert code == 0, errors
    with contextlib.closing(sqlite3.connect(home / "out" / "sweep.sqlite")) as file, file:
        cells = file.execute("SELECT id, plays FROM cells").fetchall()
        (cell,) = (number for number, plays in cells if b'"greedy"' in plays)
        for seed, error in enumerate(("LimitReached: max_cost <i>", "PolicyFailed: down")):
            key = (cell, str(seed))
            query = "SELECT result FROM results WHERE cell = ? AND seed = ?"
            result = json.loads(file.execute(query, key).fetchone()[0])
            stopped = json.dumps({**result, "score": None, "error": error}).encode()
            file.execute(
                "UPDATE results SET result = ? WHERE cell = ? AND seed = ?", (stopped, *key)
            )
    return home / "out"


@pytest.fixture(scope="module")
def page(folder: Path) -> Read:
    """The report about it, beside the user's own published data."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(folder.parent)
        return read(write_report([folder]).read_bytes())


def test_a_world_has_the_table_of_the_command(page: Read) -> None:
    """Published values stand beside ours, and an entry with episodes in no mean is marked."""
    heads, typical, greedy = page.tables[0]
    assert heads[:4] == ["entry", "n", "cut", "failed"]
    assert "published" in heads
    assert typical[:4] == ["typical", "3", "0", "0"]
    assert typical[heads.index("published")] == "-61.5"
    assert greedy[:4] == ["greedy (rules) *", "1", "1", "1"]
    assert "*: episodes that a limit has cut" in page.text


def test_means_are_drawn_with_published_numbers(page: Read) -> None:
    """Above the table that the command prints."""
    (figure,) = page.pictures
    assert figure.caption == "score: mean of each entry with its 95 % interval"
    assert figure.tables == [page.tables[0]]


def test_what_was_stopped_and_what_was_played_is_told(page: Read) -> None:
    """With the reason of each, and the digests of what determines the episodes."""
    stopped = next(table for table in page.tables if "reason" in table[0])
    assert [line[2:] for line in stopped[1:]] == [
        ["cut", "max_cost <i>"],
        ["failed", "PolicyFailed: down"],
    ]
    facts = dict(line for table in page.tables for line in table if len(line) == 2)
    assert facts["world beer"] == "beer_game/poisson, 3 seeds from 0 on"
    assert facts["entry typical"] == "policy typical"
    assert page.text.count("Two <b>rules</b>") == 2  # as the title of the tab, and as the head


def test_names_and_figures_of_a_line_belong_together(tmp_path: Path) -> None:
    """Also where an entry that knows more comes first in the suite."""
    head, _, entries = SUITE.partition("[entries.typical]")
    typical, _, greedy = entries.partition("[entries.greedy]")
    suite = f"{head}[entries.greedy]{greedy}\n[entries.typical]{typical}"
    (tmp_path / "suite.toml").write_text(suite)
    assert bench(tmp_path / "suite.toml", tmp_path / "out")[0] == 0
    _, first, second = read(write_report([tmp_path / "out"]).read_bytes()).tables[0]
    means = {name: f"{each['score']['mean']:.0f}" for name, each in table(tmp_path / "out").items()}
    assert (first[0], first[3].split()[0]) == ("typical", means["typical"])
    assert (second[0], second[3].split()[0]) == ("greedy (rules)", means["greedy"])
