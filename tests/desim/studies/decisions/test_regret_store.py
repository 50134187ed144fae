"""Judged decisions are kept: a stopped or killed command goes on, and another one is refused."""

import os
import signal
import sqlite3
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
from desim.episodes.futures.past import Past
from desim.errors import UsageError
from desim.jobs.keep.store import SweepWarning
from desim.jobs.run.executors import WorkerDied
from desim.studies.decisions.judge import Judge
from desim.studies.decisions.regret import RegretStopped, regret
from desim.studies.decisions.regret_store import RegretCheckpoint, identity, opened_store
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
    played, before = [0], Judge.judged

    def judge(self: Judge, question: Any) -> Any:
        played[0] += 1
        if played[0] > after:
            raise fault
        return before(self, question)

    with monkeypatch.context() as patched:
        patched.setattr(Judge, "judged", judge)
        yield


def test_a_stopped_command_goes_on(
    game: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table so far has what was judged; the same call ends as one that was never stopped."""
    with stops(monkeypatch, KeyboardInterrupt()), pytest.raises(RegretStopped) as stopped:
        judged(game, tmp_path)
    assert str(stopped.value).startswith("stopped after 4 of 10 decisions; the same command goes")
    assert stopped.value.found is not None
    assert [line.place.at for line in stopped.value.found.lines] == [0, 1, 2, 3]
    assert "stopped: 4 of 10 decisions were judged" in str(stopped.value.found)
    table, before = judged(game, tmp_path)
    assert before > 0
    assert table == regret(game, **GIVEN)
    assert judged(game, tmp_path)[0] == table


def test_without_a_folder_the_error_names_the_option(
    game: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing judged is no table."""
    none = stops(monkeypatch, KeyboardInterrupt(), after=0)
    with none, pytest.raises(RegretStopped, match="with --out FOLDER the same") as one:
        regret(game, **GIVEN)
    assert one.value.found is None
    died = stops(monkeypatch, WorkerDied("a worker process died"))
    with died, pytest.raises(WorkerDied, match="died; stopped after 4 of 10 decisions"):
        regret(game, **GIVEN)


def test_further_decisions_are_added(game: Episode, tmp_path: Path) -> None:
    """Which decisions are judged is not part of what the folder is for."""
    few, _ = judged(game, tmp_path, decisions=slice(0, 10, 5))
    assert [line.place.at for line in few.lines] == [0, 5]
    every, before = judged(game, tmp_path)
    assert before > 0
    assert every == regret(game, **GIVEN)
    assert judged(game, tmp_path, kinds=["order"], level=0.9)[0].level == 0.9


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"futures": 3}, "holds another comparison (futures '2', now '3')"),
        ({"futures": None}, "now 'the true one'"),
        ({"then": "sterman"}, "then 'order_up_to', now 'sterman'"),
        ({"against": "sterman"}, "against 'options', now 'sterman'"),
        ({"most_options": 4}, "most options '3', now '4'"),
    ],
)
def test_another_command_is_refused(
    game: Episode, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    """The sentence says what differs, and what is possible."""
    judged(game, tmp_path, decisions=slice(0, 1))
    with pytest.raises(UsageError) as refused:
        judged(game, tmp_path, **changes)
    assert says in str(refused.value)
    assert "choose another folder (--out), or discard its rows (--restart)" in str(refused.value)


def test_another_record_is_refused_or_replaces(game: Episode, tmp_path: Path) -> None:
    """A restart says what it discards."""
    judged(game, tmp_path, decisions=slice(0, 2))
    other = play(GAME, {"retailer": "typical"}, seed=3)
    with pytest.raises(UsageError, match="record has changed"):
        judged(other, tmp_path)
    with pytest.warns(SweepWarning, match="2 decisions were discarded"):
        judged(other, tmp_path, restart=True, decisions=slice(0, 1))
    with pytest.raises(UsageError, match="restart needs the folder"):
        regret(game, restart=True, **GIVEN)


def test_one_process_writes(game: Episode, tmp_path: Path) -> None:
    """A second one is refused while the first one runs."""
    topics = {"futures": "2"}
    with opened_store(tmp_path, topics) as first:
        first.add([1], [b'{"best":0,"recorded":[],"others":[]}'])
        with pytest.raises(UsageError, match="is being written by another process"):
            opened_store(tmp_path, topics)
    with pytest.raises(UsageError, match="another comparison"):
        judged(game, tmp_path)


def test_damaged_rows_are_played_again(game: Episode, tmp_path: Path) -> None:
    """With a warning; a foreign row of the right checksum counts as damaged as well."""
    table, _ = judged(game, tmp_path)
    file = tmp_path / RegretCheckpoint.file_name
    with sqlite3.connect(file) as rows:
        rows.execute("UPDATE rows SET row = '{}' WHERE job = 4")
    with pytest.warns(SweepWarning, match="what cannot be read is played again"):
        again, before = judged(game, tmp_path)
    assert again == table
    assert before > 0


def test_a_stranger_s_record_opens_no_file(tmp_path: Path) -> None:
    """Unless it is trusted, a file that a text of its parameters names does not count."""
    file = tmp_path / "secret"
    file.write_text("x")
    past = Past.read(play(evolve(GAME, opponents=str(file)), {"retailer": "typical"}, seed=1))
    then = {"retailer": "typical"}
    for texts in (False, True):
        topics = identity(past, then, None, {}, texts=texts)
        assert (f"file {file}" in topics) is texts


@pytest.mark.slow
def test_a_killed_command_goes_on(game: Episode, tmp_path: Path) -> None:
    """After SIGKILL the same command prints what a command prints that nothing stopped."""
    game.write(tmp_path / "game.jsonl")
    command = [sys.executable, "-m", "desim", "regret", "game.jsonl", "--then", "order_up_to"]
    command += ["--futures", "80", "--json", "--jobs", "1", "--decisions", "0:6"]
    given: Any = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": PYTHONPATH}}
    kept = [*command, "--out", "judged"]
    process = subprocess.Popen(kept, stdout=subprocess.DEVNULL, **given)
    file = tmp_path / "judged" / RegretCheckpoint.file_name
    end = time.monotonic() + 60
    # The bytes of the file, as no other process can open it meanwhile.
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and file.read_bytes().count(b'"best"') > 1:
            break
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    with RegretCheckpoint(tmp_path / "judged") as checkpoint:
        assert 1 < len(checkpoint) < 6
    once, twice = (
        subprocess.run(each, capture_output=True, check=True, timeout=120, **given).stdout
        for each in (command, kept)
    )
    assert once == twice
