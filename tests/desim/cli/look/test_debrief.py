"""`desim debrief`: the file that it writes, and one sentence for what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.pages import read
from support.small_worlds import Diary, Stride

from desim import play
from desim.cli.main import main


def debrief(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    """Run the command in this process."""
    monkeypatch.syspath_prepend(".")  # restores the path, to which the command adds a folder
    return CliRunner().invoke(main, ["debrief", *map(str, arguments)])


def test_the_file_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the first record, with the rest where it is wanted."""
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for size, file in enumerate(files, 1):
        play(Diary(), Stride(size), record=file)
    done = debrief(monkeypatch, *files)
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'a-debrief.html'}\n")
    full = debrief(monkeypatch, *files, "--full", "--out", tmp_path / "full.html")
    assert full.exit_code == 0
    assert "Decisions" in read((tmp_path / "full.html").read_bytes()).heads


def test_wrong_usage_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2 for the command line, 1 for a file that is no record."""
    file = tmp_path / "a.jsonl"
    play(Diary(), Stride(), record=file)
    twice = debrief(monkeypatch, file, file)
    assert twice.exit_code == 2
    assert twice.stderr.endswith("was given twice; give the record of each team once\n")
    (tmp_path / "words.jsonl").write_text("cash 3\n")
    words = debrief(monkeypatch, tmp_path / "words.jsonl")
    assert words.exit_code == 1
    assert "the file is no episode record" in words.stderr
    assert debrief(monkeypatch).exit_code == 2
