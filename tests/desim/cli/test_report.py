"""`desim report`: the file that it writes, and one sentence for what it refuses."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.html_page import read
from support.recorded import GAME, SEATS
from support.sweep_rows import three_policies

from desim import play
from desim.cli.main import main


def report(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    """Run the command in this process."""
    monkeypatch.syspath_prepend(".")  # restores the path, to which the command adds a folder
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_the_file_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else, so that a script can open it."""
    three_policies().write(tmp_path)
    done = report(monkeypatch, tmp_path, "--against", "c", "--out", tmp_path / "c.html")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'c.html'}\n"
    page = read((tmp_path / "c.html").read_bytes())
    assert "Difference of each policy's mean score to that of c" in page.text


def test_several_records_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the first of them."""
    for name in ("a", "b"):
        play(GAME, SEATS, record=tmp_path / f"{name}.jsonl")
    done = report(monkeypatch, tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'a.html'}\n")


def test_wrong_usage_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of something else, and a file that is no report."""
    done = report(monkeypatch, tmp_path)
    says = f"desim: {tmp_path} holds neither a sweep nor a suite; give its folder (--out)\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", says)
    three_policies().write(tmp_path)
    (tmp_path / "report.html").write_text("mine")
    done = report(monkeypatch, tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert report(monkeypatch, tmp_path, "--force").exit_code == 0
