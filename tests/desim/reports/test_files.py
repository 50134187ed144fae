"""Which file a report becomes, what it never overwrites, and what it asks for."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import PYTHONPATH
from support.sweep_rows import three_policies

from desim.errors import UsageError
from desim.reports.report import write_report


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a sweep."""
    folder = tmp_path / "sweep"
    folder.mkdir()
    three_policies().write(folder)
    return folder


def test_a_report_lies_in_its_folder_and_is_replaced(folder: Path) -> None:
    """The same call again writes the same file, and leaves nothing else."""
    assert write_report([folder]) == folder / "report.html"
    before = sorted(folder.iterdir())
    write_report([str(folder)])
    assert sorted(folder.iterdir()) == before


def test_the_rows_alone_are_reported_beside_them(folder: Path) -> None:
    """As a file that a colleague has sent."""
    assert write_report([folder / "rows.jsonl"]) == folder / "rows.html"


def test_another_file_is_kept(folder: Path) -> None:
    """Unless it may be replaced; nothing is read before it is known."""
    other = folder / "report.html"
    other.write_text("<!DOCTYPE html><title>mine</title>")
    with pytest.raises(UsageError, match=r"^.*report.html exists and is no report of desim; "):
        write_report([folder])
    assert other.read_text().endswith("<title>mine</title>")
    write_report([folder], force=True)
    assert b"desim report" in other.read_bytes()


def test_a_dangling_link_is_no_report(folder: Path, tmp_path: Path) -> None:
    """What it names is not made."""
    (folder / "report.html").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is no report of desim"):
        write_report([folder])
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("", "exists and is no report of desim"),
        ("nowhere/report.html", "cannot write .*: No such file or directory"),
        ("n" * 300, "cannot write .*: File name too long"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(out: str, says: str, folder: Path) -> None:
    """And no part of it is left."""
    before = sorted(folder.iterdir())
    with pytest.raises(UsageError, match=says):
        write_report([folder], folder / out)
    assert sorted(folder.iterdir()) == before


def test_a_folder_must_hold_a_sweep_or_a_suite(tmp_path: Path) -> None:
    """One sentence for an empty folder, for a missing one, and for any other file."""
    with pytest.raises(UsageError, match=r"holds neither a sweep nor a suite; give its folder"):
        write_report([tmp_path])
    with pytest.raises(UsageError, match=r"^cannot read .*none: No such file or directory$"):
        write_report([tmp_path / "none"])


def test_one_folder_is_reported_at_a_time(folder: Path) -> None:
    """Records may be several, folders not."""
    with pytest.raises(UsageError, match="a report is about one folder or about records"):
        write_report([folder, folder])
    with pytest.raises(UsageError, match=r"^give the folder of a sweep or of a suite, or records$"):
        write_report([])


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_a_missing_library_is_one_sentence(
    missing: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read, and with the extra to install."""
    monkeypatch.setitem(sys.modules, missing, None)
    says = rf"^reports need {missing}; install the extra, as in: pip install 'desim\[report\]'$"
    with pytest.raises(UsageError, match=says):
        write_report([folder])


def test_no_import_of_ours_loads_what_only_reports_need() -> None:
    """Neither desim nor the module that writes reports."""
    program = (
        "import sys\nbefore = set(sys.modules)\nimport desim, desim.reports.report\n"
        "assert not {'matplotlib', 'jinja2'} & (set(sys.modules) - before)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": PYTHONPATH})
