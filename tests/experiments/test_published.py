"""Published numbers: all are read, and each has a fate."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import reproduce_enterprise_arena
import reproduce_firmbench
import reproduce_yc_bench
from beside import CannotBe, NeedsModel, Parameter, Rebuilt, Rule, beside, count, entries
from published import PAPERS, Cell, find, numbers, read
from reproduce_edt import best_mean
from support.paths import PYTHONPATH, REFERENCE, ROOT

#: The fates of all numbers, by paper.
RULES: dict[str, Sequence[Rule]] = {
    "enterprise_arena": reproduce_enterprise_arena.rules(),
    "firmbench": reproduce_firmbench.RULES,
    "yc_bench": reproduce_yc_bench.RULES,
}


# -- the reader ------------------------------------------------------------------------------------


def test_every_sheet_of_a_data_file_is_read() -> None:
    """Tables, figures with numbers, the board's curves, parameters and sentences."""
    keys = {sheet.key for sheet in read("yc_bench")}
    assert {"table_2", "table_4", "leaderboard", "figure_3b", "figure_10", "curves", "text"} <= keys
    assert len(find("yc_bench", "curves")) == 20
    assert len(find("enterprise_arena", "table_2")) == 13


def test_a_cell_keeps_what_is_printed_and_its_spread() -> None:
    """The columns of DC and GEPA, which a script once had exchanged, are those of the file."""
    human = find("enterprise_arena", "table_2")["Human"]
    assert len(numbers(human.cells["score"])) == 2
    assert human.cells["score"].text.startswith(f"{human.cells['score'].value}")
    methods = find("firmbench", "table_3")
    assert methods["DC"].cells["online"].value is True
    assert methods["DC"].cells["e_std"].value > methods["GEPA"].cells["e_std"].value == 0
    assert best_mean() == methods["AMEM"].cells["e_mean"].value * 1e6


def test_a_checkout_without_traces_prints_what_the_figures_give(tmp_path: Path) -> None:
    """One sentence names the tables that need the traces."""
    done = run("reproduce_beer_game", [], str(tmp_path / "no"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "set DESIM_REFERENCE to the folder that holds it" in done.stderr


# -- fates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_number_has_a_fate(paper: str) -> None:
    """No number is left out; those that are not rebuilt say why."""
    for sheet in read(paper):
        found = entries(sheet, RULES[paper])
        cells = [cell for line in sheet.lines for cell in line.cells.values()]
        assert count(found).total() == sum(len(numbers(cell)) for cell in cells), sheet.key
        assert all(entry.fate.note for entry in found)


def test_the_page_counts_the_fates_of_every_paper() -> None:
    """A line a paper: its numbers, and how many were rebuilt, are parameters, and so on."""
    fates = [fate.name for fate in (Rebuilt, Parameter, NeedsModel, CannotBe)]
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    for paper in PAPERS:
        found = sum((count(entries(s, RULES[paper])) for s in read(paper)), Counter[str]())
        cells = [paper, found.total(), *(found[fate] for fate in fates)]
        assert f"| {' | '.join(map(str, cells))} |" in page


@pytest.mark.parametrize("paper", PAPERS)
def test_every_parameter_is_the_published_number(paper: str) -> None:
    """Presets, scorers, options and suites hold them; nothing is played."""
    found = [entry for sheet in read(paper) for entry in entries(sheet, RULES[paper])]
    held = [entry for entry in found if isinstance(entry.fate, Parameter)]
    differ = [e.line.label for e in held if not beside(e.cell, e.ours(), e.line.runs).agrees]
    assert (differ, len(held) > 20) == ([], True)


@pytest.mark.parametrize(
    ("published", "ours", "agrees"),
    [
        (Cell(7.12), 7.1165, True),
        (Cell(7.12), 7.1, False),
        (Cell([25, 100]), (25, 100.0), True),
        (Cell([25, 100]), (25,), False),
        (Cell(10), [9.0, 10.0, 11.0, 12.0], None),
        (Cell(10), [9.9, 10.0, 10.1, 10.2], True),
        (Cell(0), [0.0, 0.0], True),
        (Cell(20), [9.0, 10.0, 11.0, 12.0], False),
        (Cell(10), [], False),
    ],
)
def test_a_figure_agrees_in_its_digits_or_within_the_spread(
    published: Cell, ours: object, agrees: object
) -> None:
    """Exact figures are rounded; episodes are compared with a mean of so many runs.

    A range so wide that agreement could hardly fail tells nothing.
    """
    assert beside(published, ours, runs=2).agrees is agrees


# -- the scripts -----------------------------------------------------------------------------------


def run(
    script: str, arguments: Sequence[str] = (), reference: str | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a script as a user does, from the root."""
    env = {**os.environ, "PYTHONPATH": PYTHONPATH}
    env["DESIM_REFERENCE"] = reference or str(REFERENCE.resolve())
    command = [sys.executable, f"experiments/papers/{script}.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not REFERENCE.exists(), reason="no reference data: set DESIM_REFERENCE")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "arguments", "differ"),
    [
        ("reproduce_beer_game", (), 0),
        ("reproduce_edt", (), 0),
        ("reproduce_firmbench", (), 0),
        # The market line: 33 % of the first market's tasks, measured as "~32 %".
        ("reproduce_yc_bench", ("--seeds", "1", "--jobs", "1"), 1),
        # The humans' closings: "about" so many in the text, three more by the paper's Table 2.
        ("reproduce_enterprise_arena", ("--seeds", "12", "--jobs", "1"), 1),
    ],
)
def test_a_script_prints_every_number_and_what_is_rebuilt_agrees(
    script: str, arguments: Sequence[str], differ: int
) -> None:
    """Few seeds; the recorded games and bots of the reference are all the same."""
    done = run(script, arguments)
    assert done.returncode == 0, done.stderr
    [line] = [line.split() for line in done.stdout.splitlines() if line.startswith("differ ")]
    assert line == ["differ", "0", str(differ)]
    if script != "reproduce_enterprise_arena":  # its bands are for 200 seeds
        assert done.stdout.count(" NO") == differ
