"""A board: entries are verified, entered, ranked in their class, and end."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from desim.cli.main import main
from desim.errors import UsageError
from desim.verification.boards.entry_board import read_board
from desim.verification.signed.keys import read_private
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

[entries.high]
policy = "base_stock,target=28"

[entries.higher]
policy = "base_stock,target=32"

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
    run(
        "submit", str(results / "results"), "--entry", "low", "--name", "low too",
        "--key", str(results / "ann.pem"), "--out", str(tmp_path / "twice"),
    )  # fmt: skip
    said = run("board", "add", board, str(tmp_path / "twice"), "--key", owner(results), code=2)
    assert "are those of 'low'" in said


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
        "submit", str(results / "results"), "--entry", "high", "--out", str(tmp_path / "odd"),
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
    assert "none: withdrawn: a trial" in shown
    said = run("board", "end", str(results / "board"), "", "--key", owner(results), code=2)
    assert "give one" in said


def test_an_exchanged_entry_shows(results: Path, tmp_path: Path) -> None:
    """The folder must hold what the log names."""
    copy = tmp_path / "board"
    shutil.copytree(results / "board", copy)
    manifest = next(copy.glob("entries/*/manifest.json"))
    manifest.write_bytes(manifest.read_bytes().replace(b'"n":4', b'"n":3'))
    assert "is not the one in the log" in run("board", "show", str(copy), code=1)


def test_a_table_says_which_world_and_policy_it_is_of(results: Path) -> None:
    """The names of worlds and entries are their authors', who may choose misleading ones."""
    shown = run("board", "show", str(results / "board"))
    assert "game: beer_game/poisson, horizon=12, seeds 0:4 (revision 1); public seeds" in shown
    (line,) = [line for line in shown.splitlines() if " low " in line and "<b>" not in line]
    assert "base_stock,target=20" in line


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("verdict.json", "the verdict on entry .* is not the one in the log"),
        ("suite.toml", "entry .* is not the one in the log"),
    ],
)
def test_an_edited_file_of_an_entry_shows(
    results: Path, tmp_path: Path, name: str, why: str
) -> None:
    """A better score in a verdict, or another policy in a suite."""
    shutil.copytree(results / "board", tmp_path / "board")
    file = next((tmp_path / "board").glob(f"entries/*/{name}"))
    file.write_bytes(file.read_bytes().replace(b"0", b"1"))
    for command in ("show", "check"):
        said = run("board", command, str(tmp_path / "board"), code=1)
        assert re.search(why, said)


def test_a_log_that_cannot_be_read_again_is_not_written(results: Path, tmp_path: Path) -> None:
    """A note that is too long; a line behind a log that another process has written."""
    board = Path(shutil.copytree(results / "board", tmp_path / "board"))
    log = (board / "log.jsonl").read_bytes()
    entry = read_board(board).entries()[0].digest
    how = ["--key", owner(results), "--note", "x" * 30_000]
    assert "1,000 are the most" in run("board", "end", str(board), entry, *how, code=2)
    assert (board / "log.jsonl").read_bytes() == log
    first, second, key = read_board(board), read_board(board), read_private(results / "owner.pem")
    first.draw(key)
    with pytest.raises(UsageError, match="written by another process"):
        second.draw(key)
    assert len(read_board(board).log.lines) == len(first.log.lines)


def test_a_log_that_was_cut_or_is_missing_shows(results: Path, tmp_path: Path) -> None:
    """Within its last line; or as a whole, with the entries left; or the older copy is missing."""
    board = Path(shutil.copytree(results / "board", tmp_path / "board"))
    log = board / "log.jsonl"
    log.write_bytes(log.read_bytes()[:-40])
    assert "ends within a line" in run("board", "check", str(board), code=1)
    log.unlink()
    assert "which the log does not name" in run("board", "check", str(board), code=1)
    missing = str(tmp_path / "none.jsonl")
    said = run("board", "check", str(results / "board"), "--since", missing, code=2)
    assert "does not exist" in said


def test_a_title_that_no_board_may_have_makes_none(results: Path, tmp_path: Path) -> None:
    """Otherwise the new folder could not be read."""
    how = ["--title", "", "--key", owner(results)]
    assert "1 to 200 characters" in run("board", "new", str(tmp_path / "b"), *how, code=2)
    assert not (tmp_path / "b").exists()


def test_the_other_entries_are_added_too(results: Path, tmp_path: Path) -> None:
    """One that cannot be entered is named, and the next one is taken."""
    board = Path(shutil.copytree(results / "board", tmp_path / "board"))
    run(
        "submit", str(results / "results"), "--entry", "higher", "--out", str(tmp_path / "late"),
        "--key", str(results / "ann.pem"), "--name", "late",
    )  # fmt: skip
    paths = [str(results / "none"), str(results / "order"), str(tmp_path / "late")]
    said = run("board", "add", str(board), *paths, "--key", owner(results), code=2)
    assert "is on the board already" in said
    assert read_board(board).entries()[-1].manifest.name == "late"


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "a\u202eb", "\x1b[31m", "x" * 201])
def test_a_name_that_cannot_be_shown_as_it_is_makes_no_entry(
    results: Path, tmp_path: Path, name: str
) -> None:
    """A formula for spreadsheets, a reversed text, an escape of terminals, and a long one."""
    how = ["--entry", "low", "--name", name, "--out", str(tmp_path / "odd")]
    assert "give --name" in run("submit", str(results / "results"), *how, code=2)
    assert not (tmp_path / "odd").exists()


def test_a_season_that_cannot_be_read_again_makes_no_commitment(
    results: Path, tmp_path: Path
) -> None:
    """Otherwise no board could receive it."""
    run(
        "commit", "new", str(results / "suite.toml"), "--entry", "low", "--season", "a b",
        "--count", "2", "--key", str(results / "ann.pem"), "--out", str(tmp_path / "mine"), code=2,
    )  # fmt: skip
    assert not (tmp_path / "mine").exists()
