"""A table holds values and becomes text, what rich prints, HTML, CSV and JSON."""

import csv
import io
import json
import re

import pytest
from rich.console import Console

from desim.show.table import Printed, Table, Tabular, legend, print_tables

TABLE = Table(
    ["name", "n", "95 % interval"],
    [["a [b]", 1234, Printed((0.25, 0.75), "[0.25, 0.75]")], ["<c>", None, "all equal"]],
    title="a shop",
    notes=["c was played once"],
    legend=["n: episodes"],
)


def printed(table: Tabular, width: int) -> list[str]:
    """Return the lines that rich prints at a width."""
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_table_as_text() -> None:
    """Words are aligned to the left and numbers to the right; the notes precede the legend."""
    assert str(TABLE).splitlines() == [
        "a shop",
        "name       n  95 % interval",
        "a [b]  1,234   [0.25, 0.75]",
        "<c>        —      all equal",
        "c was played once",
        "n: episodes",
    ]


def test_csv_and_json_hold_the_values() -> None:
    """Not their texts; None is empty."""
    assert list(csv.reader(io.StringIO(TABLE.csv()))) == [
        ["name", "n", "95 % interval"],
        ["a [b]", "1234", "[0.25, 0.75]"],
        ["<c>", "", "all equal"],
    ]
    assert json.loads(json.dumps(TABLE.plain())) == {
        "title": "a shop",
        "heads": ["name", "n", "95 % interval"],
        "lines": [["a [b]", 1234, [0.25, 0.75]], ["<c>", None, "all equal"]],
        "notes": ["c was played once"],
        "legend": ["n: episodes"],
    }


def test_a_notebook_shows_html() -> None:
    """Texts are escaped, and numbers stay on one line."""
    html = TABLE._repr_html_()
    assert "<strong>a shop</strong>" in html
    assert '<td style="text-align: left; padding: 0.1em 0.6em">&lt;c&gt;</td>' in html
    number = '<td style="text-align: right; white-space: nowrap; padding: 0.1em 0.6em">'
    assert f"{number}1,234</td>" in html
    assert html.index("c was played once") < html.index("n: episodes")


@pytest.mark.parametrize("width", [50, 70])
def test_words_are_folded_and_numbers_are_not(width: int) -> None:
    """Heads of numbers are folded between words."""
    table = Table(
        ["policy", "mean score", "ended"], [["word " * 9, 123_456_789, "word " * 9]], (0, 2)
    )
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    assert "123,456,789" in "\n".join(lines)


@pytest.mark.parametrize("width", [80, 100])
def test_no_cell_is_broken_inside_a_word(width: int) -> None:
    """A spec is broken behind its commas and equals signs."""
    specs = ["echelon_base_stock,target=1200", "raise_when_free,instrument=equity"]
    table = Table(["policy", "n", "what it is"], [[one, 1, "word " * 30] for one in specs], (0, 2))
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert all(each in text for spec in specs for each in re.split("[,=]", spec))


def test_numbers_that_do_not_fit_are_continued_below_and_never_folded() -> None:
    """With the first column again; only a word that is too wide is broken."""
    table = Table(["policy", "mean", "sd"], [["base_stock", 12_345_678_901, 9_876_543_210]])
    assert printed(table, 24) == [
        "policy             mean",
        "base_sto 12,345,678,901",
        "ck",
        "policy               sd",
        "base_stoc 9,876,543,210",
        "k",
    ]


def test_spare_columns_are_left_out_on_a_narrow_console() -> None:
    """From 100 columns on all are printed, with what the legend says of them."""
    terms = ["n: seeds", "needed: seeds to tell"]
    table = Table(["name", "n", "needed"], [["a", 1, 150]], spare=[2], legend=terms)
    narrow, wide = printed(table, 99), printed(table, 100)
    assert (narrow[0].split(), narrow[2:]) == (["name", "n"], terms[:1])
    assert (wide[0].split(), wide[2:]) == (["name", "n", "needed"], terms)


def test_a_table_that_is_too_wide_is_continued() -> None:
    """Before the columns that it names, with its first column again."""
    heads = ["entry", "score", "95 %", "cost", "95 %"]
    table = Table(heads, [["a", 1, 2, 3, 4]], breaks=[1, 3])
    assert printed(table, 200)[0].split() == ["entry", "score", "95", "%", "cost", "95", "%"]
    assert [line.split() for line in printed(table, 25)] == [
        ["entry", "score", "95", "%"],
        ["a", "1", "2"],
        ["entry", "cost", "95", "%"],
        ["a", "3", "4"],
    ]


def test_legends_of_several_tables_are_printed_once() -> None:
    """Below the last one."""
    out = io.StringIO()
    print_tables(Console(file=out, width=100), [TABLE, TABLE])
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines.count("c was played once") == 2
    assert lines.index("n: episodes") == len(lines) - 1


def test_the_fuller_of_two_explanations_of_a_term_is_printed() -> None:
    """Where one sentence of a legend is the beginning of another."""
    tables = [Table(["rank"], [[1]], legend=[text]) for text in ("rank: low", "rank: low, of all")]
    assert legend(tables) == ["rank: low, of all"]


def test_a_table_without_heads_and_one_without_lines_are_printed() -> None:
    """Facts have no heads; a search may have found nothing."""
    assert str(Table([], [["model", "beer_game"]], (0, 1))) == "model  beer_game"
    assert str(Table(["name", "n"], [])) == "name  n"


def test_a_title_alone_is_printed() -> None:
    """A memory may have no rows."""
    assert str(Table([], [], title="memory of ace")) == "memory of ace"


def test_a_table_as_text_steers_no_terminal() -> None:
    """Titles, heads, cells, notes and legends come from outside."""
    hostile = "\x1b[2J\u202e"
    table = Table([hostile], [[hostile]], title=hostile, notes=[hostile], legend=[hostile])
    assert str(table).splitlines() == [r"\x1b[2J\u202e"] * 5


def test_a_prompt_shows_a_table_within_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere without folding, as `print` does."""
    table = Table(["name", "what it is"], [["a", "word " * 30]], (0, 1))
    assert repr(table) == str(table)
    monkeypatch.setattr(
        "sys.stdout", type("Terminal", (io.StringIO,), {"isatty": lambda _: True})()
    )
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, repr(table).splitlines())) <= 60
    assert max(map(len, str(table).splitlines())) > 100


def test_ipython_shows_a_table_and_not_its_fields() -> None:
    """Its formatter of a terminal and that of a notebook."""
    formatters = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    shown, _ = formatters.format(TABLE)
    assert shown["text/plain"] == str(TABLE)
    assert shown["text/html"] == TABLE._repr_html_()
