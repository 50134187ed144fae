"""One process at a time writes a record; the second one is told, and changes nothing."""

import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from support.forked import forked
from support.recorded import GAME, Dies, Killed

from desim import Episode, Policy, play, replay, resume
from desim.errors import DesimError, UsageError
from desim.records.record_lock import RecordLock
from models.beer_game import BeerGame, Order, Stage

TRIALS = 10


class Slow(Policy):
    """A policy that orders as many units as weeks have passed."""

    def decide(self, stage: Stage) -> Order:
        """Say so first."""
        print("decides", flush=True)  # noqa: T201 (on the standard output of its process)
        time.sleep(0.05)
        return Order(stage.week)


def slow(what: str, file: Path) -> None:
    """Play a record slowly, anew (`run`) or from where it was cut (`resume`)."""
    try:
        if what == "run":
            play(BeerGame(horizon=6), Slow(), record=file)
        else:
            resume(file, Slow())
    except DesimError as fault:
        sys.exit(str(fault))


def started(what: str, file: Path) -> "subprocess.Popen[str]":
    """Start a process that plays a record."""
    return forked(partial(slow, what, file), cwd=file.parent)


def cut_record(file: Path) -> None:
    """Write the record of a run that was killed after two decisions."""
    with pytest.raises(Killed):
        play(GAME, Dies(2, Killed()), record=file)


def test_resume_beside_a_living_run_changes_nothing(tmp_path: Path) -> None:
    """The run ends as if it had been alone; the error says so."""
    for trial in range(TRIALS):
        file = tmp_path / f"{trial}.jsonl"
        with started("run", file) as run:
            assert run.stdout is not None
            run.stdout.readline()
            with pytest.raises(UsageError, match="is being played elsewhere"):
                resume(file, Dies(99, Killed()))
            run.communicate()
        assert run.returncode == 0
        assert replay(file).result is not None
        assert [s.action["quantity"] for s in Episode.read(file).steps] == [*range(6)]
    assert list(tmp_path.glob("*.lock")) == []


@pytest.mark.slow
def test_of_two_resumes_one_plays(tmp_path: Path) -> None:
    """The other one ends with an error; no decision is lost or doubled."""
    for trial in range(TRIALS):
        file = tmp_path / f"{trial}.jsonl"
        cut_record(file)
        with started("resume", file) as one, started("resume", file) as other:
            faults = [each.communicate()[1] for each in (one, other)]
        codes = sorted([one.returncode, other.returncode])
        # Both succeed where the second one starts after the first has ended.
        assert codes in ([0, 1], [0, 0]), faults
        if codes == [0, 1]:
            assert "is being played elsewhere" in "".join(faults)
        assert len(replay(file).steps) == 6


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    """A process that is killed leaves a lock file, which locks nothing."""
    file = tmp_path / "run.jsonl"
    with started("run", file) as run:
        assert run.stdout is not None
        run.stdout.readline()
        run.stdout.readline()
        run.kill()
    assert (tmp_path / "run.jsonl.lock").exists()
    kept = len(Episode.read(file, whole=False).steps)
    assert kept >= 1
    assert len(resume(file, lambda stage: {"do": "order", "quantity": stage.week}).steps) == 6
    assert not (tmp_path / "run.jsonl.lock").exists()


def test_a_second_run_is_told_of_the_first(tmp_path: Path) -> None:
    """Before it complains that the file exists."""
    file = tmp_path / "run"
    with RecordLock(file), pytest.raises(UsageError, match="is being played elsewhere"):
        play(GAME, "typical", record=file)
    assert not file.exists()


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    """Nor is a file in its place a folder."""
    (tmp_path / "file").touch()
    for folder in ("missing", "file"):
        with pytest.raises(UsageError, match=rf"cannot write .*{folder}/run: "):
            RecordLock(tmp_path / folder / "run")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_lock_ends_in_another_thread(tmp_path: Path) -> None:
    """An event loop may begin an episode in one thread and end it in another."""
    lock = RecordLock(tmp_path / "run")
    ending = threading.Thread(target=lock.__exit__)
    ending.start()
    ending.join()
    with RecordLock(tmp_path / "run"):
        pass
