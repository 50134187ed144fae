"""Commands that read a record: what they refuse, and how the command line allows it."""

import json
from pathlib import Path

from support.command_line import Desim, refused


def forge(folder: Path, desim: Desim, **header: object) -> None:
    """Write the record `r`, cut behind a header that a stranger has changed."""
    assert desim("run", "beer_game", "--policy", "typical", "--record", "r", "--json").code == 0
    head = json.loads((folder / "r").read_text().splitlines()[0])
    (folder / "r").write_text(json.dumps(head | header) + "\n")


def test_a_header_with_a_module_is_refused(desim: Desim, folder: Path) -> None:
    """By every command that reads one; exit code 2."""
    forge(folder, desim, model="mine:World", policies={"retailer": "mine:Cover"})
    (folder / "mine.py").write_text("raise SystemExit('imported')")
    for command in (["resume", "r"], ["branch", "r", "--at", "1"], ["export", "r"]):
        refused(
            desim(*command),
            "r: the record would import module 'mine'"
            if command[0] != "export"
            else "import module 'mine'",
        )


def test_it_is_allowed_on_the_command_line(desim: Desim, folder: Path) -> None:
    """By its spec, or as a whole."""
    forge(folder, desim, policies={"retailer": "mine:Cover"})
    done = desim("resume", "r", "--policy", "retailer=mine:Cover", "--json")
    assert done.code == 0
    assert json.loads(done.out)["ended"] == "horizon"
    forge_again = folder / "r"
    forge_again.unlink()
    forge(folder, desim, model="mine:World", policies={"retailer": "mine:Cover"})
    assert desim("resume", "r", "--trust", "--json").code == 0
    assert desim("replay", "r", "--trust").code == 0
    assert desim("export", "r", "--trust", "--out", "books").code == 0


def test_a_file_is_allowed_by_trust(desim: Desim, folder: Path) -> None:
    """The parameter names it."""
    (folder / "d.csv").write_text("4\n8\n")
    forge(folder, desim, params={"demand": "csv:d.csv"})
    refused(desim("resume", "r"), "would open 'd.csv'")
    assert desim("resume", "r", "--trust", "--json").code == 0


def test_a_branch_is_played_from_the_command_line(desim: Desim, folder: Path) -> None:
    """With the recorded policies or others, into a new record."""
    assert desim("run", "beer_game", "--policy", "typical", "--record", "r", "--json").code == 0
    same = json.loads(desim("branch", "r", "--at", "11", "--json").out)
    assert same["score"] == json.loads(desim("resume", "r", "--json").out)["score"]
    done = desim("branch", "r", "--at", "11", "--policy", "base_stock,target=500", "--record", "b")
    assert (done.code, done.err) == (0, "recorded in b\n")
    assert desim("replay", "b").code == 0
    refused(desim("branch", "r", "--at", "27"), "a branch begins at decision 1 to 26")
    refused(desim("branch", "r", "--at", "0"), "--at")
    refused(desim("branch", "r"), "Missing option '--at'")


def test_limits_end_a_run_with_one(desim: Desim, folder: Path) -> None:
    """The record can be resumed with a larger limit."""
    run = ("run", "beer_game", "--record", "r", "--max-decisions", "7")
    refused(desim(*run), "the limit of 7 decisions was reached", 1)
    refused(desim("resume", "r", "--max-events", "3"), "the limit of 3 events", 1)
    assert desim("resume", "r", "--json").code == 0
