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
