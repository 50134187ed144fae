"""Sweeps that are killed or interrupted: the same command continues them, and no worker is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from support.forked import forked
from support.paths import PYTHONPATH
from support.small_worlds import main

from desim.engine.run.playing import stopped_text
from desim.engine.store import Store

FILES = ("rows.csv", "rows.jsonl")

#: Runs a command with SIGINT ignored, as a shell does for a command in the background.
IN_BACKGROUND = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")


def files(folder: Path) -> list[bytes]:
    """The files that a finished sweep leaves."""
    return [(folder / name).read_bytes() for name in FILES]


@contextmanager
def started(
    folder: Path, *, gate: str = "", jobs: int = 2, background: bool = False
) -> "Iterator[subprocess.Popen[str]]":
    """A sweep of 200 episodes that prints its progress; the whole process group ends with it.

    In the background its program and its workers are new ones, and forked otherwise.

    Without the file *gate*, one of its policies waits forever.
    """
    words, env = (str(folder), str(jobs), "20"), {"PYTHONPATH": PYTHONPATH, "GATE": gate}
    if background:
        process = subprocess.Popen(
            [*IN_BACKGROUND, sys.executable, "-m", "support.small_worlds", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **env},
        )
    else:
        process = forked(partial(main, *words), cwd=Path.cwd(), env=env, start_new_session=True)
    try:
        yield process
    finally:
        if members(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for_rows(process: "subprocess.Popen[str]", least: int = 11) -> None:
    """Wait until episodes are finished; with two workers, the first chunk needs no gate."""
    assert process.stdout is not None
    for line in process.stdout:
        if int(line.split()[0]) >= least:
            return
    pytest.fail("the sweep ended early")


def kept(folder: Path) -> int:
    """How many rows a checkpoint holds."""
    with Store(folder, read=True) as store:
        return len(store)


def continued(folder: Path) -> int:
    """Give the same command again; return the number of episodes that were finished before."""
    with started(folder) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return int(out.split()[0])


def members(group: int) -> list[int]:
    """The processes of a group that have not ended; none where there is no /proc."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = file.read_text().rpartition(") ")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(file.parent.name))
    return found


def assert_no_process_is_left(group: int) -> None:
    """Workers end soon after their parent."""
    for _ in range(500):
        if not members(group):
            return
        time.sleep(0.02)
    pytest.fail(f"still running: {members(group)}")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The files of the sweep if nothing stops it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert continued(folder) == 0
    return files(folder)


@pytest.mark.parametrize(
    "signum",
    [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)],
    ids=["kill", "terminate"],
)
def test_a_killed_sweep_is_continued(
    tmp_path: Path, undisturbed: list[bytes], signum: signal.Signals
) -> None:
    """The workers end with their parent, and the same command ends with the same bytes."""
    with started(tmp_path, gate=str(tmp_path / "closed")) as process:
        wait_for_rows(process)
        assert len(members(process.pid)) >= 3  # the parent and two workers
        os.kill(process.pid, signum)
        process.communicate(timeout=60)
        assert process.returncode == -signum
        assert_no_process_is_left(process.pid)
    left = kept(tmp_path)
    assert 10 < left < 200
    assert not any((tmp_path / name).exists() for name in FILES)
    assert continued(tmp_path) == left
    assert files(tmp_path) == undisturbed


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, undisturbed: list[bytes]) -> None:
    """SIGINT reaches the whole group, as from a terminal: one sentence and no traceback."""
    with started(tmp_path, gate=str(tmp_path / "closed")) as process:
        wait_for_rows(process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert_no_process_is_left(process.pid)
    left = kept(tmp_path)
    assert (process.returncode, out.splitlines()[-1], err) == (130, stopped_text(left, 200), "")
    assert 10 < left < 200
    assert continued(tmp_path) == left
    assert files(tmp_path) == undisturbed


@pytest.mark.parametrize(("jobs", "rows"), [pytest.param(1, 0, marks=pytest.mark.slow), (2, 11)])
def test_a_sweep_in_the_background_ignores_interrupts(
    tmp_path: Path, undisturbed: list[bytes], jobs: int, rows: int
) -> None:
    """Where SIGINT is ignored from the start, the sweep ends as if none had come."""
    gate = tmp_path / "gate"
    with started(tmp_path, gate=str(gate), jobs=jobs, background=True) as process:
        wait_for_rows(process, rows)
        os.killpg(process.pid, signal.SIGINT)
        gate.touch()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert_no_process_is_left(process.pid)
    assert files(tmp_path) == undisturbed
