"""Published numbers: all are read, each has a fate, and none stands anywhere unchecked."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pages
import pytest
from beside import CannotBe, NeedsModel, Parameter, Rebuilt, Rule, beside, count, entries, show
from published import PAPERS, Cell, Line, Sheet, find, markdown, numbers, read
from reproduce_edt import best_mean
from support.paths import PYTHONPATH, REFERENCE, ROOT

from desim.show.console import console

#: A line that speaks of published figures.
_SPEAKS = re.compile(r"paper|publish|leaderboard|Table \d", re.IGNORECASE)
_BLOCK = re.compile(r"<!-- published: .*?<!-- /published -->", re.DOTALL)
#: A section about what a paper says twice and differently; its numbers are the paper's.
_SECTION = re.compile(
    r"^#+ [^\n]*contradict[^\n]*\n(.*?)(?=^#|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:\s?[KM]\b)?")
_SCALE = {"K": 1e3, "M": 1e6}
_DIGITS, _THOUSAND = 3, 1_000


def distinctive(number: float) -> bool:
    """Whether a number is too long for a coincidence: three digits, and a fraction or thousands."""
    digits = f"{abs(number):.10g}".replace(".", "").strip("0")
    return len(digits) >= _DIGITS and (number != int(number) or abs(number) >= _THOUSAND)


def contradictions(text: str) -> list[str]:
    """Return the sections of a page about contradictions inside a paper."""
    return [str(body) for body in _SECTION.findall(_BLOCK.sub("", text))]


def spoken(text: str, results: Mapping[float, str]) -> Iterator[tuple[str, str]]:
    """Yield the lines that state a published result and are in no block, and its address.

    Blocks are those that are marked and the sections about contradictions.
    """
    for line in _SECTION.sub("", _BLOCK.sub("", text)).splitlines():
        if _SPEAKS.search(line):
            for token in _NUMBER.findall(line):
                plain = float(token.strip("KM ").replace(",", ""))
                for number in {plain, plain * _SCALE.get(token[-1], 1)} & results.keys():
                    yield line, results[number]


def literals(file: Path, results: Mapping[float, str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a script that hold a published result as a number, and its address."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            address = results.get(float(node.value))
            if address is not None:
                yield node.lineno, address


PAGES = sorted(
    file
    for folder in ("desim", "ledgers", "models", "policies", "experiments")
    for file in (ROOT / folder).rglob("*.md")
)
#: The papers of pages that may have a section about contradictions.
PAPER = {
    "models/beer_game/README.md": "firmbench",
    "models/edt/README.md": "firmbench",
    "models/enterprise_arena/README.md": "enterprise_arena",
    "models/yc_bench/README.md": "yc_bench",
    "experiments/README.md": "firmbench",
}
#: Lines of pages that state published results, by a part of the line, and the results' addresses.
#: A line that is gone from its page needs no entry; one that is new does, or a marked block.
STATED = {
    ("models/edt/README.md", "the paper's Simple row"): (
        "firmbench:table_3:Simple:e_mean",
        "firmbench:table_3:Simple:util",
    ),
    ("models/edt/README.md", "at the printed utilisation of"): (
        "firmbench:table_3:Simple:e_mean",
        "firmbench:table_3:Simple:util",
    ),
    ("models/edt/README.md", "The printed row, "): (
        "firmbench:table_3:Simple:e_mean",
        "firmbench:table_3:Simple:util",
    ),
    ("models/edt/README.md", "best language model method of the paper"): (
        "firmbench:table_3:AMEM:e_mean",
    ),
    ("models/yc_bench/README.md", "best published language model"): (
        "yc_bench:leaderboard:Claude Opus 4.6:net_worth",
    ),
}


def results(papers: Sequence[str] = PAPERS) -> dict[float, str]:
    """Return the published results that are no coincidence, and the address of each.

    What was measured in the image of a figure is left out: it is printed nowhere.
    """
    found: dict[float, str] = {}
    for paper in papers:
        for sheet in read(paper):
            if not sheet.key.startswith("parameters"):
                for line in sheet.lines:
                    for column, cell in line.cells.items():
                        shown = cell.printed or sheet.key == "curves"
                        for number in filter(distinctive, numbers(cell) if shown else ()):
                            address = f"{paper}:{sheet.key}:{line.label}:{column}"
                            found.setdefault(float(number), address)
    return found


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


@pytest.mark.skipif(not REFERENCE.exists(), reason="no reference data: set DESIM_REFERENCE")
def test_a_table_of_a_reference_page_is_read() -> None:
    """Head first, without the rule below it."""
    head, *lines = markdown("ycbench/bots.md", "greedy (direct)")
    assert head[0] == "seed"
    assert [line[0] for line in lines] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("script", "arguments", "sentences"),
    [
        ("reproduce_beer_game", (), 1),
        pytest.param("figures", ("--only", "beer_bullwhip"), 1, marks=pytest.mark.slow),
        pytest.param("reproduce_firmbench", (), 0, marks=pytest.mark.slow),
        pytest.param("reproduce_edt", (), 1, marks=pytest.mark.slow),
    ],
)
def test_a_checkout_without_traces_prints_what_the_figures_give(
    script: str, arguments: Sequence[str], sentences: int, tmp_path: Path
) -> None:
    """One sentence names the tables and drawings that need the traces."""
    out = ["--out", str(tmp_path)] if script == "figures" else []
    done = run(script, [*arguments, *out], str(tmp_path / "no"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == sentences
    wanted = "set DESIM_REFERENCE to the folder that holds it"
    assert done.stderr.count(wanted) == sentences


# -- fates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_number_has_a_fate(paper: str) -> None:
    """No number is left out; those that are not rebuilt say why."""
    for sheet in read(paper):
        found = entries(sheet, pages.RULES[paper])
        cells = [cell for line in sheet.lines for cell in line.cells.values()]
        assert count(found).total() == sum(len(numbers(cell)) for cell in cells), sheet.key
        assert all(entry.fate.note for entry in found)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_parameter_is_the_published_number(paper: str) -> None:
    """Presets, scorers, options and suites hold them; nothing is played."""
    found = [entry for sheet in read(paper) for entry in entries(sheet, pages.RULES[paper])]
    held = [entry for entry in found if isinstance(entry.fate, Parameter)]
    differ = [e.line.label for e in held if not beside(e.cell, e.ours(), e.line.runs).agrees]
    assert (differ, len(held) > 20) == ([], True)


@pytest.mark.parametrize(
    ("paper", "label"),
    [
        ("enterprise_arena", "initial_debt"),
        ("enterprise_arena", "tools"),
        ("firmbench", "alpha"),
        ("firmbench", "iterations"),
        ("firmbench", "judge_high"),
        ("firmbench", "rel_tolerance"),
        ("firmbench", "routing_min_margin"),
        ("yc_bench", "Context window"),
        ("yc_bench", "seeds"),
    ],
)
def test_a_number_that_desim_holds_is_a_parameter(paper: str, label: str) -> None:
    """Rules of scorers, options of agents and sizes of suites too, not only fields of presets."""
    found = [entry for sheet in read(paper) for entry in entries(sheet, pages.RULES[paper])]
    fates = [entry.fate for entry in found if entry.line.label == label]
    assert fates
    assert all(isinstance(fate, Parameter) for fate in fates)


def test_the_figures_that_differ_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Cells compared are counted apart for parameters and for figures rebuilt."""
    line = Line("a", {"x": Cell(1.0), "y": Cell(2.0), "z": Cell(3.0)})
    rules = [
        Rule("t", "a", "x", Parameter("preset", lambda *_: 1.0)),
        Rule("t", "a", "*", Rebuilt("rule", lambda *_: 3.0)),
    ]
    show(console(), [Sheet("none", "t", "", (line,))], rules)
    lines = [each.split() for each in capsys.readouterr().out.splitlines()]
    same = [each[-2] for each in lines if each[-1:] in (["rule"], ["preset"])]
    assert same == ["NO", "yes", "yes"]
    assert [each for each in lines if each[:1] in (["differ"], ["agree"])] == [
        ["differ", "0", "1"],
        ["agree", "1", "1"],
    ]


def test_the_first_rule_counts_and_a_sentence_shares_the_fate_of_its_cell() -> None:
    """A repeated number is rebuilt where the table's is."""
    table = Sheet("none", "t", "", (Line("a", {"x": Cell(1.5, "1.5", 0.5), "y": Cell("text")}),))
    said = Sheet("none", "text", "", (Line("s", {"value": Cell(1.5)}, same_as=("t", "a", "x")),))
    first = Rebuilt("rule", lambda *_: 1.5)
    rules = [Rule("t", "a|b", "x", first), Rule("*", "*", "*", CannotBe("why"))]
    assert [entry.fate for entry in entries(table, rules) + entries(said, rules)] == [first] * 2
    assert count(entries(table, rules)) == {"rebuilt": 2}


def test_a_suite_is_named_as_a_file_that_is_there_or_is_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence changes when the file arrives."""
    monkeypatch.setattr("beside.SUITES", tmp_path)
    assert "no suite yet" in NeedsModel("some.toml").note
    (tmp_path / "some.toml").touch()
    assert NeedsModel("some.toml").note == "experiments/suites/some.toml"


@pytest.mark.parametrize(
    ("published", "ours", "agrees"),
    [
        (Cell(7.12), 7.1165, True),
        (Cell(7.12), 7.1, False),
        (Cell([25, 100]), (25, 100.0), True),
        (Cell([25, 100]), (25,), False),
        (Cell(10), [9.0, 10.0, 11.0, 12.0], True),
        (Cell(20), [9.0, 10.0, 11.0, 12.0], False),
        (Cell(10), [], False),
    ],
)
def test_a_figure_agrees_in_its_digits_or_within_the_spread(
    published: Cell, ours: object, agrees: object
) -> None:
    """Exact figures are rounded; episodes are compared with a mean of so many runs."""
    assert beside(published, ours, runs=2).agrees is agrees


# -- pages and scripts -----------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages.GENERATED)
def test_a_generated_block_is_what_the_data_give(page: str) -> None:
    """Otherwise: `python experiments/pages.py`."""
    made = [body for _, generated, body in pages.regions((ROOT / page).read_text()) if generated]
    assert made == [pages.generated(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_number_of_a_marked_block_is_published(page: Path) -> None:
    """A block that is not generated holds numbers of its paper's file only."""
    for paper, generated, body in pages.regions(page.read_text()):
        if not generated:
            assert set(pages.tokens(body)) <= pages.allowed(paper)


@pytest.mark.parametrize("page", PAPER)
def test_every_number_of_a_section_about_contradictions_is_published(page: str) -> None:
    """Those that are no coincidence: a section that is not marked may name sections and months."""
    for body in contradictions((ROOT / page).read_text()):
        assert set(filter(distinctive, pages.tokens(body))) <= pages.allowed(PAPER[page])


def test_a_wrong_number_in_a_marked_block_is_found() -> None:
    """One digit of a published number is changed."""
    value = find("firmbench", "table_1")["Complex Reasoning / EDT"].cells["CoT"].value
    for number, fine in ((value, True), (round(value + 0.0004, 4), False)):
        body = f"<!-- published: firmbench -->\nCoT has {number:.4f}.\n<!-- /published -->"
        assert list(spoken(f"Table 1: {body}", {number: "address"})) == []
        section = f"# Contradictions\nCoT has {number:.4f}.\n# More\nIn the paper {number:.4f}.\n"
        assert len(contradictions(section)) == len(list(spoken(section, {number: "address"}))) == 1
        ((paper, _, text),) = pages.regions(body)
        assert (set(pages.tokens(text)) <= pages.allowed(paper)) is fine


def test_a_published_result_in_a_page_is_in_a_marked_block_or_in_the_map() -> None:
    """The page's line, and where the number comes from: mark it, or add it to `STATED`."""
    for page in [ROOT / "README.md", *PAGES]:
        name = str(page.relative_to(ROOT))
        # A page of one world speaks of the world's paper.
        known = results([PAPER[name]] if name in PAPER else PAPERS)
        for line, address in spoken(page.read_text(), known):
            parts = [a for (p, part), a in STATED.items() if p == name and part in line]
            assert any(address in addresses for addresses in parts), (name, line, address)


@pytest.mark.parametrize("place", STATED, ids=lambda place: place[1])
def test_a_line_of_the_map_states_what_is_published(place: tuple[str, str]) -> None:
    """Each of its numbers, in the unit of the table or of K and M."""
    page, part = place
    for line in (ROOT / page).read_text().splitlines():
        if part in line:
            for address in STATED[place]:
                paper, sheet, row, column = address.split(":")
                cell = find(paper, sheet)[row].cells[column]
                stated = pages.tokens(line) + [n / 1e6 for n in pages.tokens(line)]
                assert any(n == pytest.approx(cell.value) for n in stated), (line, address)


def test_no_script_holds_a_published_result() -> None:
    """They are read from the data files."""
    known = results()
    typed = {
        (file.name, line, address)
        for file in (ROOT / "experiments").rglob("*.py")
        for line, address in literals(file, known)
    }
    assert typed == set()


# -- the scripts -----------------------------------------------------------------------------------


def run(
    script: str, arguments: Sequence[str] = (), reference: str | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a script as a user does, from the root."""
    env = {**os.environ, "PYTHONPATH": PYTHONPATH}
    env["DESIM_REFERENCE"] = reference or str(REFERENCE.resolve())
    command = [sys.executable, f"experiments/{script}.py", *arguments]
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
