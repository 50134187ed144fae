"""Checkpoints: a sweep continues from its finished rows; a folder of anything else is refused."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.paths import PYTHONPATH
from support.small_worlds import FAILS, GALE, STRIDE, WALK

from desim.errors import UsageError
from desim.jobs.keep import row_file
from desim.jobs.keep.checkpoint import FILE_NAME, Checkpoint
from desim.jobs.keep.fingerprint import fingerprint
from desim.jobs.plan.grid import grid
from desim.jobs.rows.rows import Rows
from desim.jobs.run.play_job import play_to_json
from desim.studies.sweep import sweep

FILES = ("rows.csv", "rows.jsonl")


def swept(out: Path, **more: Any) -> Rows:
    """A small sweep into a folder."""
    usual = {"model": WALK, "policies": [STRIDE, FAILS], "seeds": range(6)}
    return sweep(**{**usual, **more}, out=out)


def files(folder: Path) -> list[bytes]:
    """The files that a finished sweep leaves."""
    return [(folder / name).read_bytes() for name in FILES]


# -- continued -------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(done=st.sets(st.integers(0, 11)))
def test_finished_jobs_are_not_played_again(
    done: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From any set of finished jobs, the others are played, and the rows are in order."""
    plan = grid(WALK, [STRIDE, FAILS], range(6))
    folder, whole = tmp_path_factory.mktemp("cut"), tmp_path_factory.mktemp("whole")
    with Checkpoint(folder, fingerprint(plan)) as checkpoint:
        checkpoint.add(sorted(done), [play_to_json(plan.job(i)) for i in sorted(done)])
    reports: list[tuple[int, int]] = []
    assert swept(folder, progress=lambda *now: reports.append(now)) == swept(whole)
    assert reports[0] == (len(done), 12)
    assert files(folder) == files(whole)


def test_a_finished_sweep_is_read_not_played(tmp_path: Path) -> None:
    """The same command again returns the same rows and restores files that were removed."""
    rows = swept(tmp_path)
    before = files(tmp_path)
    (tmp_path / "rows.csv").unlink()
    reports: list[tuple[int, int]] = []
    assert swept(tmp_path, progress=lambda *now: reports.append(now), jobs=2) == rows
    assert reports == [(12, 12)]
    assert files(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [*FILES, FILE_NAME]


def test_rows_are_the_same_with_and_without_a_folder(tmp_path: Path) -> None:
    """A checkpoint changes no value."""
    assert swept(tmp_path / "new" / "folder") == sweep(WALK, [STRIDE, FAILS], range(6))


def test_rows_of_a_chunk_are_kept_together_or_not_at_all(tmp_path: Path) -> None:
    """A transaction that cannot be finished changes nothing."""
    with Checkpoint(tmp_path, {"seeds": "0:9"}) as checkpoint:
        checkpoint.add([3], [b"{}"])
        with pytest.raises(UsageError, match=r"sweep\.sqlite cannot be used: UNIQUE"):
            checkpoint.add([2, 3], [b"[]", b"[]"])
        assert (checkpoint.jobs(), [*checkpoint.rows()]) == ({3}, [b"{}"])


def test_a_commit_that_was_cut_is_undone(tmp_path: Path) -> None:
    """If a process dies while it writes, the next one to open the file finds the rows of before."""
    with Checkpoint(tmp_path, {"seeds": "0:9"}) as checkpoint:
        checkpoint.add([3], [b"{}"])
    code = (
        "import os, sys; from desim.jobs.keep.checkpoint import Checkpoint\n"
        "file = Checkpoint(sys.argv[1], {'seeds': '0:9'})._file\n"
        "file.execute('PRAGMA cache_size = 1'); file.execute('BEGIN')\n"
        'file.execute("DELETE FROM rows")\n'
        "rows = [(n, 'x' * 999) for n in range(50)]\n"
        "file.executemany('INSERT INTO rows VALUES (?, ?, 0)', rows)\n"
        "os._exit(9)"
    )
    path = {**os.environ, "PYTHONPATH": PYTHONPATH}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=path, check=False)
    assert done.returncode == 9
    assert (tmp_path / f"{FILE_NAME}-journal").stat().st_size > 0
    with Checkpoint(tmp_path) as checkpoint:
        assert [*checkpoint.rows()] == [b"{}"]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"seeds": [0, 1, 2, 5]}, "(seeds '0:6', now '0:3,5')"),
        ({"policies": [STRIDE]}, f"(policies '{STRIDE}; {FAILS}', now '{STRIDE}')"),
        ({"preset": "long"}, "(models "),
        ({"set": {"wind": 2}}, "(models "),
        ({"model": GALE}, "(models "),
    ],
)
def test_another_sweep_is_not_mixed_in(tmp_path: Path, more: dict[str, Any], text: str) -> None:
    """The error says which sweep the file holds and what to do; the file does not change."""
    swept(tmp_path)
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(UsageError) as refused:
        swept(tmp_path, **more)
    assert f"{FILE_NAME} holds another sweep {text}" in str(refused.value)
    assert str(refused.value).endswith(
        "choose another folder (--out), or discard its rows (--restart)"
    )
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_another_version_of_desim_is_another_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows may differ."""
    swept(tmp_path)
    monkeypatch.setattr("desim.jobs.keep.fingerprint.__version__", "9.9")
    with pytest.raises(UsageError, match=r"\(desim '.*', now '9\.9'\)"):
        swept(tmp_path)


def database(path: Path, script: str) -> None:
    """Create a SQLite file."""
    file = sqlite3.connect(path)
    file.executescript(script)
    file.close()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: path.write_text("not ours"), "is no SQLite file, or a damaged one; choose"),
        (lambda path: path.write_bytes(b""), "is no checkpoint of a sweep; choose another folder"),
        (lambda path: database(path, "CREATE TABLE t (x)"), "is no checkpoint of a sweep; choose"),
        (
            lambda path: database(
                path, "PRAGMA application_id = 0x6465736D; PRAGMA user_version = 7"
            ),
            "has format 7 and this desim writes format 2; choose another folder",
        ),
        (lambda path: path.mkdir(), "cannot be opened; choose another folder"),
    ],
    ids=["text", "empty", "database", "format", "folder"],
)
def test_a_foreign_file_is_refused_and_kept(
    tmp_path: Path, make: Callable[[Path], None], text: str
) -> None:
    """A file of our name that is not ours does not change."""
    path = tmp_path / FILE_NAME
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(UsageError) as refused:
        swept(tmp_path)
    assert str(refused.value).startswith(f"{path} {text}")
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [p.name for p in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("name", FILES)
def test_rows_of_unknown_origin_are_not_overwritten(tmp_path: Path, name: str) -> None:
    """Without a checkpoint they may belong to another sweep."""
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"{name} is there without its {FILE_NAME}"):
        swept(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    """There is a file of the folder's name."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be made: .*; choose another folder"):
        swept(tmp_path / "file" / "out")


def test_two_sweeps_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second is refused at once, whether it is the same sweep or another."""
    identity = fingerprint(grid(WALK, [STRIDE, FAILS], range(6)))
    with Checkpoint(tmp_path, identity) as checkpoint:
        for seeds in (range(6), range(7)):
            with pytest.raises(UsageError, match="is being written by another process; wait, or"):
                swept(tmp_path, seeds=seeds)
        with pytest.raises(UsageError, match="is being written"):
            Rows.read(tmp_path)
        checkpoint.add([0], [b"{}"])
    with Checkpoint(tmp_path) as checkpoint:
        assert len(checkpoint) == 1


def test_another_process_is_refused_as_well(tmp_path: Path) -> None:
    """The lock excludes other processes."""
    with Checkpoint(tmp_path, {"seeds": "0:9"}):
        command = [
            sys.executable,
            "-c",
            "import sys; from desim.jobs.keep.checkpoint import Checkpoint\n",
        ]
        command[-1] += "Checkpoint(sys.argv[1], {'seeds': '0:9'})"
        done = subprocess.run(
            [*command, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": PYTHONPATH},
        )
    assert "is being written by another process" in done.stderr


# -- what killed processes leave -------------------------------------------------------------------


def test_partial_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """They are of no use, and those of a large sweep are large."""
    rows = swept(tmp_path)
    for name in (".rows.csv.123", ".rows.jsonl.4567"):
        (tmp_path / name).write_text("cut")
    (tmp_path / ".sweep-abc").mkdir()
    (tmp_path / ".sweep-abc" / FILE_NAME).write_text("cut")
    (tmp_path / "mine.csv").write_text("kept")
    assert swept(tmp_path) == rows
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.csv", *FILES, FILE_NAME]


def test_a_folder_that_another_process_cleans_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that has the lock may remove the partial file of one that is starting."""
    whole = row_file._write

    def cleaned(path: Path, *others: Any) -> Path:
        whole(tmp_path / FILE_NAME, *others)
        shutil.rmtree(path.parent)
        return whole(path, *others)

    monkeypatch.setattr(row_file, "_write", cleaned)
    with Checkpoint(tmp_path, {"seeds": "0:9"}) as checkpoint:
        assert len(checkpoint) == 0


def test_a_full_disk_is_named_and_loses_no_row(tmp_path: Path) -> None:
    """Also where SQLite has rolled back itself; the same rows are added once there is room."""
    with Checkpoint(tmp_path, {"what": "ever"}) as checkpoint:
        checkpoint.add([0], [b"kept"])
        checkpoint._file.execute("PRAGMA max_page_count = 5")
        for _ in range(2):
            with pytest.raises(UsageError, match=f"^the disk of {tmp_path} is full; the rows"):
                checkpoint.add(range(1, 90), [b"y" * 5_000] * 89)
        checkpoint._file.execute("PRAGMA max_page_count = 1000")
        assert checkpoint.jobs() == {0}
        checkpoint.add(range(1, 90), [b"y" * 5_000] * 89)
        assert len(list(checkpoint.rows())) == 90
