"""`desim report`: the file that it writes, and one sentence for what it refuses."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.pages import read
from support.small_worlds import Diary, Stride
from support.sweep_rows import three_policies

from desim import play
from desim.cli.main import main


def report(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    """Run the command in this process."""
    monkeypatch.syspath_prepend(".")  # restores the path, to which the command adds a folder
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


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


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.jsonl", b"", "the file is empty"),
        ("notes.txt", b"hello\n", "is no episode record"),
        ("junk.gz", b"\x1f\x8b\x08\x00junk", "the file is empty"),
        ("folder", None, "and {} is none"),
        ("missing", None, "No such file or directory"),
    ],
)
def test_one_broken_record_of_two_is_named(
    name: str, content: bytes | None, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no page is written about the other one."""
    good, bad = tmp_path / "good.jsonl", tmp_path / name
    play(Diary(), Stride(), record=good)
    if name == "folder":
        bad.mkdir()
    elif content is not None:
        bad.write_bytes(content)
    done = report(monkeypatch, good, bad)
    assert done.exit_code in {1, 2}
    assert done.stdout == ""
    assert says.format(bad) in done.stderr
    assert str(bad) in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "good.html").exists()


def test_records_are_trusted_only_when_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module of the person's own is imported with --trust, and its series are drawn then."""
    (tmp_path / "walks_of_mine.py").write_text(
        "from support.small_worlds import Diary as Base\n\n\nclass Diary(Base):\n    pass\n"
    )
    play(Diary(), Stride(), record=tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl").read_text()
    cut = text.replace("support.small_worlds", "walks_of_mine").splitlines(keepends=True)[:-1]
    (tmp_path / "a.jsonl").write_text("".join(cut))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert report(monkeypatch, tmp_path / "a.jsonl").exit_code == 0
    page = read((tmp_path / "a.html").read_bytes())
    assert "it would import module 'walks_of_mine'; --trust allows it" in page.text
    assert report(monkeypatch, tmp_path / "a.jsonl", "--trust").exit_code == 0
    page = read((tmp_path / "a.html").read_bytes())
    assert "tables are as of its last decision, number 3" in page.text
    sys.modules.pop("walks_of_mine", None)
