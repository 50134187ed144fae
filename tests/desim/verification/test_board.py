"""A board: entries are verified, entered, ranked in their class, and end."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from desim.cli.main import main
from desim.verification.boards.entry_board import read_board
from desim.verification.verified_tables import board_tables

SUITE = """
title = "Rules"
seeds = "0:4"

[worlds.game]
model = "beer_game/poisson"
set = { horizon = 12 }

[entries.order]
policy = "order_up_to"

[entries.low]
policy = "base_stock,target=20"

[entries.sterman]
policy = "sterman"

[entries.perfect]
policy = "perfect"
"""

ENTRIES = ("order", "low", "sterman", "perfect")


def run(*arguments: str, code: int = 0) -> str:
    """Run a command and return its output."""
    done = CliRunner().invoke(main, [*arguments])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with keys, entries of four rules, and a board that has all of them."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "suite.toml").write_text(SUITE, encoding="utf-8")
    run("bench", str(folder / "suite.toml"), "--out", str(folder / "results"))
    for name in ("owner", "ann"):
        run("key", "new", name, "--out", str(folder))
    run("board", "new", str(folder / "board"), "--title", "A board", "--key", owner(folder))
    for name in ENTRIES:
        run(
            "submit", str(folder / "results"), "--entry", name, "--out", str(folder / name),
            "--key", str(folder / "ann.pem"), "--who", "Ann",
        )  # fmt: skip
        run("board", "add", str(folder / "board"), str(folder / name), "--key", owner(folder))
    return folder


def owner(folder: Path) -> str:
    """Return the path of the board's key."""
    return str(folder / "owner.pem")


def test_entries_are_ranked_in_their_class_alone(results: Path) -> None:
    """What knows the future has a table of its own, however good it is."""
    tables = board_tables(read_board(results / "board"))
    classes = [(key.seeds, key.actions, key.knows) for key in tables]
    assert classes == [
        ("public", "asked again", "observation"),
        ("public", "asked again", "rules"),
        ("public", "asked again", "future"),
    ]
    ranked = [[(line.name, line.ranks) for line in lines] for lines in tables.values()]
    assert [name for name, _ in ranked[1]] == ["order", "low"]
    assert ranked[2] == [("perfect", (1, 1))]


def test_an_entry_is_entered_once(results: Path, tmp_path: Path) -> None:
    """Neither again, nor under another key, nor without a signature."""
    board = str(results / "board")
    said = run("board", "add", board, str(results / "order"), "--key", owner(results), code=2)
    assert "is on the board already" in said
    run("key", "new", "bob", "--out", str(tmp_path))
    for out, more in (("his", ["--key", str(tmp_path / "bob.pem")]), ("plain", [])):
        run(
            "submit", str(results / "results"), "--entry", "order", "--name", "my own",
            "--out", str(tmp_path / out), *more,
        )  # fmt: skip
    his, plain = str(tmp_path / "his"), str(tmp_path / "plain")
    said = run("board", "add", board, his, "--key", owner(results), code=2)
    assert "are those of 'order'" in said
    said = run("board", "add", board, plain, "--key", owner(results), code=2)
    assert "is not signed" in said


def test_a_false_entry_is_not_on_the_board(results: Path, tmp_path: Path) -> None:
    """The exit code is that of `desim verify`; the log is as it was."""
    false = tmp_path / "false"
    shutil.copytree(results / "low", false)
    manifest = (false / "manifest.json").read_bytes()
    (false / "manifest.json").write_bytes(manifest.replace(b'"n":4', b'"n":5'))
    log = (results / "board" / "log.jsonl").read_bytes()
    run("board", "add", str(results / "board"), str(false), "--key", owner(results), code=1)
    assert (results / "board" / "log.jsonl").read_bytes() == log


def test_the_page_and_the_data_hold_the_same(results: Path, tmp_path: Path) -> None:
    """The page refers to nothing outside itself; texts of submitters are escaped."""
    run(
        "submit", str(results / "results"), "--entry", "low", "--out", str(tmp_path / "odd"),
        "--key", str(results / "ann.pem"), "--who", "<script>alert(1)</script>",
        "--name", "low <b>",
    )  # fmt: skip
    run("board", "add", str(results / "board"), str(tmp_path / "odd"), "--key", owner(results))
    run("board", "show", str(results / "board"), "--out", str(tmp_path / "page"))
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "low &lt;b&gt;" in page
    with (tmp_path / "page" / "board.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    plain = json.loads((tmp_path / "page" / "board.json").read_bytes())
    assert len(rows) == sum(len(table["lines"]) for table in plain) == 5
    assert {row["entry"] for row in rows} == {*ENTRIES, "low <b>"}


def test_an_entry_that_ends_stays_without_a_rank(results: Path) -> None:
    """With the reason; a newer one of the same identity and name replaces it too."""
    board = read_board(results / "board")
    sterman = next(one for one in board.entries() if one.manifest.name == "sterman")
    run(
        "board", "end", str(results / "board"), sterman.digest[:12], "--key", owner(results),
        "--note", "a trial",
    )  # fmt: skip
    shown = run("board", "show", str(results / "board"))
    assert "withdrawn: a trial" in shown
    said = run("board", "end", str(results / "board"), "", "--key", owner(results), code=2)
    assert "give one" in said


def test_an_exchanged_entry_shows(results: Path, tmp_path: Path) -> None:
    """The folder must hold what the log names."""
    copy = tmp_path / "board"
    shutil.copytree(results / "board", copy)
    manifest = next(copy.glob("entries/*/manifest.json"))
    manifest.write_bytes(manifest.read_bytes().replace(b'"n":4', b'"n":3'))
    assert "is not the one in the log" in run("board", "show", str(copy), code=1)
