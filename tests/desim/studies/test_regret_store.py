"""Judged decisions are kept: a stopped or killed command goes on, others are kept beside."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from support.paths import PYTHONPATH

from desim import Episode, play
from desim.engine.run import play_job
from desim.engine.run.workers import WorkerDied
from desim.engine.store import FILE_NAME, Store, SweepWarning
from desim.errors import UsageError
from desim.studies.regret import Decisions, regret
from models.beer_game import BeerGame

GAME = evolve(BeerGame.preset("poisson"), horizon=10)
GIVEN: Any = {"then": "order_up_to", "futures": 2, "most_options": 3}


@pytest.fixture(scope="module")
def game() -> Episode:
    """A game played at random."""
    return play(GAME, {"retailer": "random"}, seed=3)


def judged(game: Episode, folder: Path, **changes: Any) -> tuple[Any, int]:
    """The table, and how many episodes were finished before the first one was played."""
    told: list[int] = []
    table = regret(
        game, out=folder, progress=lambda done, _: told.append(done), **{**GIVEN, **changes}
    )
    return table, told[0]


@contextmanager
def stops(monkeypatch: pytest.MonkeyPatch, fault: BaseException, after: int = 4) -> Iterator[None]:
    """Let the fifth decision raise an exception inside the block."""
    played, before = [0], Decisions.judged

    def judge(self: Decisions, question: Any) -> Any:
        played[0] += 1
        if played[0] > after:
            raise fault
        return before(self, question)

    with monkeypatch.context() as patched:
        patched.setattr(Decisions, "judged", judge)
        yield


def test_a_stopped_command_goes_on(
    game: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same call ends as one that was never stopped."""
    monkeypatch.setattr(play_job, "SECONDS_PER_CHUNK", 0)  # every decision is kept at once
    going_on = "stopped after 4 of 10; the same command goes"
    with stops(monkeypatch, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt, match=going_on):
        judged(game, tmp_path)
    table, before = judged(game, tmp_path)
    assert before > 0
    assert table == regret(game, **GIVEN)
    assert judged(game, tmp_path)[0] == table
    died = stops(monkeypatch, WorkerDied("a worker process died"))
    with died, pytest.raises(WorkerDied, match="died"):
        regret(game, **GIVEN)


def test_further_decisions_are_added(game: Episode, tmp_path: Path) -> None:
    """Which decisions are judged is not part of what the folder is for; another command is."""
    few, _ = judged(game, tmp_path, decisions=slice(1, 11, 5))
    assert [line.place.at for line in few.lines] == [1, 6]
    every, before = judged(game, tmp_path)
    assert before > 0
    assert every == regret(game, **GIVEN)
    for changes in ({"futures": None}, {"then": "sterman"}, {"against": "sterman"}):
        other, before = judged(game, tmp_path, decisions=slice(1, 3), **changes)
        assert before == 0
        assert other == regret(game, **{**GIVEN, "decisions": slice(1, 3), **changes})
    assert judged(game, tmp_path)[1] == 10


def test_another_record_is_kept_beside(game: Episode, tmp_path: Path) -> None:
    """A restart says how many decisions of its own record it discards."""
    judged(game, tmp_path, decisions=slice(1, 3))
    other = play(GAME, {"retailer": "typical"}, seed=3)
    assert judged(other, tmp_path, decisions=slice(1, 4))[1] == 0
    with pytest.warns(SweepWarning, match="2 rows were discarded"):
        judged(game, tmp_path, restart=True, decisions=slice(1, 3))
    assert judged(other, tmp_path, decisions=slice(1, 4))[1] > 0
    with pytest.raises(UsageError, match="restart needs the folder"):
        regret(game, restart=True, **GIVEN)


#: A rule that reads its order from a file.
READS = """
import pathlib
from models.beer_game import Order

def rule(_stage):
    return Order(int(pathlib.Path({data!r}).read_text()))
"""


@pytest.mark.parametrize("played", ["then", "against"])
def test_edited_data_of_a_policy_are_refused(
    game: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: str
) -> None:
    """The file that it has opened is named, whether it plays on or is compared with."""
    data, out, name = tmp_path / "data.txt", tmp_path / "out", f"judged_{played}"
    data.write_text("4")
    (tmp_path / f"{name}.py").write_text(READS.format(data=str(data)))
    monkeypatch.syspath_prepend(tmp_path)
    given: Any = {played: f"{name}:rule", "decisions": slice(1, 5), "jobs": 2}
    table, _ = judged(game, out, **given)
    again, before = judged(game, out, **given)
    assert (again, before > 0) == (table, True)
    data.write_text("40")
    with pytest.raises(UsageError, match=r"changed: file .*data\.txt\): 4 of decisions of a"):
        judged(game, out, **given)


def test_a_stranger_s_record_opens_no_file(tmp_path: Path) -> None:
    """Unless it is trusted, a file that a text of its parameters names does not count."""
    file = tmp_path / "secret"
    file.write_text("x")
    record = play(evolve(GAME, opponents=str(file)), {"retailer": "typical"}, seed=1)
    found: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "of", lambda _, plan: found.extend(map(str, plan.cells[0].parts)))
        for trust in (False, True):
            found.clear()
            with contextlib.suppress(AttributeError, TypeError):
                judged(record, tmp_path / "out", trust=trust)
            assert (str(file) in found) is trust


@pytest.mark.slow
def test_a_killed_command_goes_on(game: Episode, tmp_path: Path) -> None:
    """After SIGKILL the same command prints what a command prints that nothing stopped."""
    game.write(tmp_path / "game.jsonl")
    command = [sys.executable, "-m", "desim", "regret", "game.jsonl", "--then", "random"]
    command += ["--futures", "80", "--json", "--jobs", "1", "--decisions", "1:7"]
    given: Any = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": PYTHONPATH}}
    kept = [*command, "--out", "judged"]
    process = subprocess.Popen(kept, stdout=subprocess.DEVNULL, **given)
    file = tmp_path / "judged" / FILE_NAME
    end = time.monotonic() + 60
    # The bytes of the file, as no other process can open it meanwhile; the last row may be lost.
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and file.read_bytes().count(b'"best"') > 2:
            break
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    with Store(tmp_path / "judged", read=True) as store:
        assert 1 < len(store) < 6
    once, twice = (
        subprocess.run(each, capture_output=True, check=True, timeout=120, **given).stdout
        for each in (command, kept)
    )
    assert once == twice
