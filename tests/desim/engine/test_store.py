"""Stores of cells: a sweep continues from finished results; a foreign file is refused."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.paths import PYTHONPATH
from support.small_worlds import FAILS, STRIDE, WALK

from desim.engine.grid import grid
from desim.engine.run.play_job import play_to_json
from desim.engine.store import FILE_NAME, Store
from desim.errors import UsageError
from desim.rows.rows import Rows
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


@examples(10)
@given(done=st.sets(st.integers(0, 11)))
def test_finished_jobs_are_not_played_again(
    done: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From any set of finished jobs, the others are played, and the rows are in order."""
    plan = grid(WALK, [STRIDE, FAILS], range(6))
    folder, whole = tmp_path_factory.mktemp("cut"), tmp_path_factory.mktemp("whole")
    with Store(folder) as store:
        jobs = sorted(done)
        store.of(plan).add(jobs, [play_to_json(plan.job(i)) for i in jobs], [{}] * len(jobs))
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


def filled(folder: Path, seeds: Sequence[int], size: int = 0) -> None:
    """Keep made results of some seeds of a small plan; each holds a text of some characters."""
    plan = grid(WALK, STRIDE, range(100))
    with Store(folder) as store:
        store.of(plan).add(seeds, [made(size) for _ in seeds], [{}] * len(seeds))


def made(size: int = 0) -> bytes:
    """Results of an episode that was not played."""
    failed = {"ended": None, "decisions": None, "ledger_digest": None, "error": "x" * size}
    return msgspec.json.encode({"score": 1.5, "metrics": {}, **failed})


def count(folder: Path) -> int:
    """The number of results in a folder."""
    with Store(folder, read=True) as store:
        return len(store)


def test_results_of_a_chunk_are_kept_together_or_not_at_all(tmp_path: Path) -> None:
    """A transaction that cannot be finished changes nothing."""
    with Store(tmp_path) as store:
        kept = store.of(grid(WALK, STRIDE, range(9)))
        kept.add([3], [made()], [{}])
        with pytest.raises(UsageError, match=r"sweep\.sqlite cannot be used: UNIQUE"):
            kept.add([2, 3], [made(), made()], [{}, {}])
        assert ([job for job in range(9) if job in kept], len(store)) == ([3], 1)


def test_a_commit_that_was_cut_is_undone(tmp_path: Path) -> None:
    """If a process dies while it writes, the next one to open the file finds the rows of before."""
    filled(tmp_path, [3])
    code = (
        "import os, sys; from desim.engine.store import Store\n"
        "file = Store(sys.argv[1]).file\n"
        "file.execute('PRAGMA cache_size = 1'); file.execute('BEGIN')\n"
        'file.execute("DELETE FROM results")\n'
        "rows = [(n, 'x' * 999) for n in range(50)]\n"
        "file.executemany('INSERT INTO results VALUES (1, ?, ?)', rows)\n"
        "os._exit(9)"
    )
    path = {**os.environ, "PYTHONPATH": PYTHONPATH}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=path, check=False)
    assert done.returncode == 9
    assert (tmp_path / f"{FILE_NAME}-journal").stat().st_size > 0
    assert count(tmp_path) == 1


# -- what is refused -------------------------------------------------------------------------------


def database(path: Path, script: str) -> None:
    """Create a SQLite file."""
    file = sqlite3.connect(path)
    file.executescript(script)
    file.close()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda path: path.write_text("not ours"),
            "cannot be used: file is not a database",
        ),
        (lambda path: database(path, "CREATE TABLE t (x)"), "is no checkpoint of a sweep; remove"),
        (
            lambda path: database(
                path,
                "PRAGMA application_id = 0x6465736D; PRAGMA user_version = 7; CREATE TABLE t (x)",
            ),
            "has format 7 and this desim writes format 6; remove it to start anew",
        ),
        (lambda path: path.mkdir(), "cannot be used: unable to open database file; choose"),
    ],
    ids=["text", "database", "format", "folder"],
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
    with Store(tmp_path) as store:
        for seeds in (range(6), range(7)):
            with pytest.raises(UsageError, match="is being written by another process; wait, or"):
                swept(tmp_path, seeds=seeds)
        with pytest.raises(UsageError, match="is being written"):
            Rows.read(tmp_path)
        store.of(grid(WALK, STRIDE, range(6))).add([0], [made()], [{}])
    assert count(tmp_path) == 1


def test_another_process_is_refused_as_well(tmp_path: Path) -> None:
    """The lock excludes other processes."""
    with Store(tmp_path):
        code = "import sys; from desim.engine.store import Store; "
        command = [sys.executable, "-c", code + "Store(sys.argv[1])"]
        done = subprocess.run(
            [*command, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": PYTHONPATH},
        )
    assert "is being written by another process" in done.stderr


# -- full disks ------------------------------------------------------------------------------------


def test_a_full_disk_is_named_and_loses_no_row(tmp_path: Path) -> None:
    """Also where SQLite has rolled back itself; the same rows are added once there is room."""
    with Store(tmp_path) as store:
        kept = store.of(grid(WALK, STRIDE, range(100)))
        kept.add([0], [made()], [{}])
        store.file.execute("PRAGMA max_page_count = 20")
        more = range(1, 90), [made(5_000)] * 89, [{}] * 89
        for _ in range(2):
            with pytest.raises(UsageError, match=f"^the disk of {tmp_path} is full; the rows"):
                kept.add(*more)
        store.file.execute("PRAGMA max_page_count = 1000")
        assert [job for job in range(100) if job in kept] == [0]
        kept.add(*more)
        assert [*kept.results(range(90))] == [made(), *[made(5_000)] * 89]
