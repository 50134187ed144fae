"""`desim run --plot`: what it writes, and what it refuses before anything is played."""

from pathlib import Path

from support.command_line import Desim, refused


def test_run_draws_beside_its_output(desim: Desim, folder: Path) -> None:
    """The output is that of a run without a plot; with a record that is written, too."""
    short = ("run", "support.small_worlds:Diary", "--policy", "support.small_worlds:Stride")
    plain = desim(*short, "--json")
    drawn = desim(*short, "--json", "--plot", "a.svg")
    assert (drawn.code, drawn.out, drawn.err) == (0, plain.out, "")
    assert (folder / "a.svg").read_bytes().startswith(b"<?xml")
    told = desim(*short, "--plot", "b.png", "--record", "b.jsonl").err
    assert told == "recorded in b.jsonl\ndrawn in b.png\n"
    again = desim("report", "b.jsonl")
    assert (again.code, again.out) == (0, "b.html\n")


def test_a_wrong_plot_is_refused_before_anything_is_played(desim: Desim, folder: Path) -> None:
    """No record is begun."""
    given = ("run", "beer_game", "--record", "r.jsonl", "--plot")
    refused(desim(*given, "a.gif"), says="a.gif is no .png, .svg or .pdf file")
    refused(desim(*given, "none/a.png"), says="there is no folder none")
    (folder / "a.png").write_text("mine")
    refused(desim(*given, "a.png"), says="a.png exists; choose another name (--plot)")
    refused(desim(*given, "b.png", "--episodes", "2"), says="--plot shows one episode")
    assert not (folder / "r.jsonl").exists()
    assert (folder / "a.png").read_text() == "mine"
