"""A sweep that is cut goes on where it was; a folder that holds something else is left alone."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desim.errors import UsageError
from desim.sweeps.grid import grid
from desim.sweeps.jobs import encoded
from desim.sweeps.journal import NAME, Journal
from desim.sweeps.rows import Rows
from desim.sweeps.sweep import stopped, sweep

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STRIDE, FAILS = "small_worlds:Stride", "small_worlds:Fails"
FILES = ("rows.csv", "rows.jsonl")


@pytest.fixture(autouse=True)
def small_worlds_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put this folder on the path."""
    monkeypatch.syspath_prepend(HERE)


def swept(out: Path, **more: Any) -> Rows:
    """A small sweep into a folder."""
    usual = {"model": "small_worlds:Walk", "policies": [STRIDE, FAILS], "seeds": range(6)}
    return sweep(**{**usual, **more}, out=out)


def files(folder: Path) -> list[bytes]:
    """What a finished sweep leaves for others to read."""
    return [(folder / name).read_bytes() for name in FILES]


# -- cut and resumed -------------------------------------------------------------------------------


def start(folder: Path, gate: str = "") -> "subprocess.Popen[str]":
    """Start a sweep of 200 episodes with two workers, which tells its progress.

    A gate is a file without which one of its policies waits forever.
    """
    command = [sys.executable, str(HERE / "small_worlds.py"), str(folder), "2", "20"]
    path = os.pathsep.join([str(HERE), str(ROOT)])
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path, "GATE": gate},
    )


def cut(folder: Path, stop: Callable[[int], None]) -> tuple[int, list[str], str]:
    """Stop a sweep that cannot end; return its exit code, its last lines and its errors.

    The gate is closed to a fifth of its episodes; its first chunk, a quarter at most, is open.
    """
    started = start(folder, str(folder / "closed"))
    assert started.stdout is not None
    for line in started.stdout:
        if int(line.split()[0]) > 10:
            break
    stop(started.pid)
    out, err = started.communicate(timeout=60)
    return started.returncode, out.splitlines(), err


def kept(folder: Path) -> int:
    """How many rows a journal holds."""
    with Journal(folder) as journal:
        return len(journal)


def resumed(folder: Path) -> int:
    """Give the same command again; return the number of episodes it found done."""
    started = start(folder)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, "")
    return int(out.split()[0])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """What the sweep leaves that nobody stopped."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert resumed(folder) == 0
    return files(folder)


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path, undisturbed: list[bytes]) -> None:
    """After kill -9 no worker lives on, and the same command ends with the same bytes."""
    workers: list[int] = []

    def kill(pid: int) -> None:
        workers.extend(children(pid))
        os.kill(pid, signal.SIGKILL)

    code, _, _ = cut(tmp_path, kill)
    assert code == -signal.SIGKILL
    left = kept(tmp_path)
    assert 10 < left < 200
    assert not any((tmp_path / name).exists() for name in FILES)
    wait_until(lambda: not any(map(lives, workers)))
    assert resumed(tmp_path) == left
    assert files(tmp_path) == undisturbed


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, undisturbed: list[bytes]) -> None:
    """The whole group hears it, as from a terminal: one sentence, no traceback, and it goes on."""
    code, out, err = cut(tmp_path, lambda pid: os.killpg(pid, signal.SIGINT))
    left = kept(tmp_path)
    assert (code, out[-1], err) == (130, stopped(left, 200), "")
    assert 10 < left < 200
    assert resumed(tmp_path) == left
    assert files(tmp_path) == undisturbed


def children(pid: int) -> list[int]:
    """The processes that a process started; none where the system does not tell."""
    told = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in told.read_text().split()] if told.exists() else []


def lives(pid: int) -> bool:
    """Whether a process runs; one that ended and that nobody asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something that comes soon."""
    for _ in range(500):
        if true():
            return
        time.sleep(0.02)
    pytest.fail("it did not come")


@settings(max_examples=10, deadline=None)
@given(done=st.sets(st.integers(0, 11)))
def test_whatever_is_done_is_not_played_again(
    done: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From any set of finished jobs, the others are played and all come in order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        plan = grid("small_worlds:Walk", [STRIDE, FAILS], range(6))
        folder, whole = tmp_path_factory.mktemp("cut"), tmp_path_factory.mktemp("whole")
        with Journal(folder, plan.identity()) as journal:
            journal.add(sorted(done), [encoded(plan.job(i)) for i in sorted(done)])
        told: list[tuple[int, int]] = []
        assert swept(folder, progress=lambda *now: told.append(now)) == swept(whole)
    assert told[0] == (len(done), 12)
    assert files(folder) == files(whole)


def test_a_finished_sweep_is_read_not_played(tmp_path: Path) -> None:
    """The same command again brings the same rows, and files that were lost."""
    rows = swept(tmp_path)
    before = files(tmp_path)
    (tmp_path / "rows.csv").unlink()
    told: list[tuple[int, int]] = []
    assert swept(tmp_path, progress=lambda *now: told.append(now), jobs=2) == rows
    assert told == [(12, 12)]
    assert files(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [*FILES, NAME]


def test_rows_are_the_same_with_and_without_a_folder(tmp_path: Path) -> None:
    """A journal changes no value on its way."""
    assert swept(tmp_path / "new" / "folder") == sweep(
        "small_worlds:Walk", [STRIDE, FAILS], range(6)
    )


def test_rows_of_a_chunk_are_kept_together_or_not_at_all(tmp_path: Path) -> None:
    """A transaction that cannot be finished leaves no trace."""
    with Journal(tmp_path, {"seeds": "0:9"}) as journal:
        journal.add([3], [b"{}"])
        with pytest.raises(UsageError, match=r"sweep\.sqlite cannot be used: UNIQUE"):
            journal.add([2, 3], [b"[]", b"[]"])
        assert (journal.jobs(), [*journal.rows()]) == ({3}, [b"{}"])


def test_a_commit_that_was_cut_is_undone(tmp_path: Path) -> None:
    """A process that dies while it writes leaves the rows of before, whoever opens them."""
    with Journal(tmp_path, {"seeds": "0:9"}) as journal:
        journal.add([3], [b"{}"])
    code = (
        "import os, sys; from desim.sweeps.journal import Journal\n"
        "file = Journal(sys.argv[1], {'seeds': '0:9'})._file\n"
        "file.execute('PRAGMA cache_size = 1'); file.execute('BEGIN')\n"
        'file.execute("DELETE FROM rows")\n'
        "file.executemany('INSERT INTO rows VALUES (?, ?)', [(n, 'x' * 999) for n in range(50)])\n"
        "os._exit(9)"
    )
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=path, check=False)
    assert done.returncode == 9
    assert (tmp_path / f"{NAME}-journal").stat().st_size > 0
    with Journal(tmp_path) as journal:
        assert [*journal.rows()] == [b"{}"]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"seeds": [0, 1, 2, 5]}, "(seeds '0:6', now '0:3,5')"),
        ({"policies": [STRIDE]}, f"(policies '{STRIDE}; {FAILS}', now '{STRIDE}')"),
        ({"preset": "long"}, "(models "),
        ({"set": {"wind": 2}}, "(models "),
        ({"model": "small_worlds:Gale"}, "(models "),
    ],
)
def test_another_sweep_is_not_mixed_in(tmp_path: Path, more: dict[str, Any], text: str) -> None:
    """The error says what is there, what came, and what to do; nothing changes."""
    swept(tmp_path)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(UsageError) as refused:
        swept(tmp_path, **more)
    assert f"{NAME} holds another sweep {text}" in str(refused.value)
    assert str(refused.value).endswith(f"choose another folder, or remove {NAME} to start anew")
    assert (tmp_path / NAME).read_bytes() == before


def test_another_version_of_desim_is_another_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows might differ."""
    swept(tmp_path)
    monkeypatch.setattr("desim.sweeps.grid.version", lambda: "9.9")
    with pytest.raises(UsageError, match=r"\(desim '.*', now '9\.9'\)"):
        swept(tmp_path)


def database(path: Path, script: str) -> None:
    """Make a SQLite file."""
    made = sqlite3.connect(path)
    made.executescript(script)
    made.close()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: path.write_text("not ours"), "is no SQLite file, or a damaged one; choose"),
        (lambda path: path.write_bytes(b""), "is no journal of a sweep; choose another folder"),
        (lambda path: database(path, "CREATE TABLE t (x)"), "is no journal of a sweep; choose"),
        (
            lambda path: database(
                path, "PRAGMA application_id = 0x6465736D; PRAGMA user_version = 7"
            ),
            "has format 7 and this desim writes format 1; choose another folder",
        ),
        (lambda path: path.mkdir(), "cannot be opened; choose another folder"),
    ],
    ids=["text", "empty", "database", "format", "folder"],
)
def test_a_foreign_file_is_refused_and_kept(
    tmp_path: Path, make: Callable[[Path], None], text: str
) -> None:
    """Whatever lies under our name and is not ours stays as it is."""
    path = tmp_path / NAME
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(UsageError) as refused:
        swept(tmp_path)
    assert str(refused.value).startswith(f"{path} {text}")
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [p.name for p in tmp_path.iterdir()] == [NAME]


def test_a_damaged_journal_is_told(tmp_path: Path) -> None:
    """A page that was overwritten is found when it is read."""
    swept(tmp_path, seeds=range(200))
    path = tmp_path / NAME
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(UsageError, match=r"is no SQLite file, or a damaged one"):
        swept(tmp_path, seeds=range(200))


@pytest.mark.parametrize("name", FILES)
def test_rows_of_unknown_origin_are_not_overwritten(tmp_path: Path, name: str) -> None:
    """Without a journal nobody knows whose they are."""
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match=f"{name} is there without its {NAME}"):
        swept(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot be made: .*; choose another folder"):
        swept(tmp_path / "file" / "out")


def test_two_sweeps_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second is told at once, whether it is the same sweep or another; the first goes on."""
    identity = grid("small_worlds:Walk", [STRIDE, FAILS], range(6)).identity()
    with Journal(tmp_path, identity) as journal:
        for seeds in (range(6), range(7)):
            with pytest.raises(UsageError, match="is being written by another process; wait, or"):
                swept(tmp_path, seeds=seeds)
        with pytest.raises(UsageError, match="is being written"):
            Rows.read(tmp_path)
        journal.add([0], [b"{}"])
    assert kept(tmp_path) == 1


def test_another_process_is_told_as_well(tmp_path: Path) -> None:
    """The lock holds between processes."""
    with Journal(tmp_path, {"seeds": "0:9"}):
        command = [
            sys.executable,
            "-c",
            "import sys; from desim.sweeps.journal import Journal as J\n",
        ]
        command[-1] += "J(sys.argv[1], {'seeds': '0:9'})"
        done = subprocess.run(
            [*command, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert "is being written by another process" in done.stderr
