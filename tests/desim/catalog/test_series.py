"""A series that goes on: what is on record is repeated, what was cut is played to its end."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field
from support.recorded import GAME, played_lines

from desim import Episode, Policy, play_series
from desim.catalog.policy_spec import label
from desim.engine.run.play_job import loop_player
from desim.episodes.lineup import Lineup
from desim.episodes.series import SeriesOptions, series
from desim.errors import BadRecord, UsageError
from desim.records.record_lock import RecordLock
from models.beer_game import Order, Stage

KEY, OTHER = b"0123456789abcdef", b"fedcba9876543210"


@define
class Learns(Policy):
    """Orders as many units as it has seen weeks and episodes, and keeps the episodes."""

    quantity: int = field(default=0, repr=False)
    shown: list[Episode] = field(factory=list, repr=False)

    def decide(self, stage: Stage) -> Order:
        """Order what was learned; the state changes inside an episode, too."""
        assert stage.week >= 0
        self.quantity += 1
        return Order(self.quantity)

    def after(self, episode: Episode) -> None:
        """Learn from an episode as a whole."""
        self.quantity += 10
        self.shown.append(episode)


def names(folder: Path) -> list[str]:
    """Return the names of a folder's files."""
    return sorted(file.name for file in folder.iterdir())


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The folder of a series of three episodes."""
    play_series(GAME, Learns(), [5, 6, 7], record=tmp_path / "whole")
    return tmp_path / "whole"


@pytest.mark.parametrize("episode", [1, 2, 3])
def test_a_series_goes_on_wherever_it_was_cut(episode: int, whole: Path, tmp_path: Path) -> None:
    """Behind every line and inside a line; policies learn as if nothing had happened."""
    uncut = Learns()
    expected = play_series(GAME, uncut, [5, 6, 7])
    lines = (whole / f"episode-{episode:03d}.jsonl").read_bytes().splitlines(keepends=True)
    for cut in [-1, *range(len(lines) + 1)]:
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        for number in range(1, episode):
            shutil.copy(whole / f"episode-{number:03d}.jsonl", folder)
        half = b"".join(lines[:cut]) + (lines[cut][:9] if cut < len(lines) else b"")
        if cut >= 0:
            (folder / f"episode-{episode:03d}.jsonl").write_bytes(half)
        policy = Learns()
        episodes = play_series(GAME, policy, [5, 6, 7], record=folder, resume=True)
        assert names(folder) == names(whole)
        for record in whole.iterdir():
            assert played_lines(folder / record.name) == played_lines(record)
        assert [one.summary() for one in episodes] == [one.summary() for one in expected]
        left_to_play = episode < 3 or cut < len(lines)
        shown = uncut.shown if left_to_play else []
        assert [one.summary() for one in policy.shown] == [one.summary() for one in shown]


def test_a_series_is_made_longer(whole: Path) -> None:
    """The same command with more episodes; with fewer it reads those that are there."""
    play_series(GAME, Learns(), [5, 6, 7, 5], record=whole, resume=True)
    assert names(whole) == [f"episode-00{n}.jsonl" for n in range(1, 5)]
    fourth = play_series(GAME, Learns(), [5, 6, 7, 5])[3]
    assert Episode.read(whole / "episode-004.jsonl").summary() == fourth.summary()
    before = content(whole)
    assert len(play_series(GAME, Learns(), [5], record=whole, resume=True)) == 1
    assert content(whole) == before


def test_without_resume_nothing_on_record_is_touched(whole: Path) -> None:
    """A new series needs a folder without one."""
    before = content(whole)
    with pytest.raises(UsageError, match=r"episode-001\.jsonl exists and is kept"):
        play_series(GAME, Learns(), [5, 6, 7], record=whole)
    assert content(whole) == before


@pytest.mark.parametrize(
    ("model", "policy", "seeds", "why"),
    [
        (GAME, Learns(), [5, 8, 7], r"episode-002.* of another series: \$\.seed was 6, now 8"),
        (evolve(GAME, horizon=9), Learns(), [5], r"\$\.params\.horizon was 6, now 9"),
        (GAME, "typical", [5, 6], r"\$\.policies\.retailer was 'Learns\(\)', now 'typical'"),
    ],
)
def test_another_series_is_refused(
    model: Any, policy: Any, seeds: list[int], why: str, whole: Path
) -> None:
    """Before anything is played or written."""
    before = content(whole)
    with pytest.raises(UsageError, match=why):
        play_series(model, policy, seeds, record=whole, resume=True)
    assert content(whole) == before


def without(file: Path) -> None:
    """Remove a record."""
    file.unlink()


def shortened(file: Path) -> None:
    """Leave the header and two decisions."""
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))


@pytest.mark.parametrize("damage", [without, shortened])
def test_a_gap_in_a_series_is_played_again(damage: Callable[[Path], None], whole: Path) -> None:
    """The records behind it are repeated, so that they must fit."""
    before = {file.name: played_lines(file) for file in whole.iterdir()}
    damage(whole / "episode-002.jsonl")
    play_series(GAME, Learns(), [5, 6, 7], record=whole, resume=True)
    assert {file.name: played_lines(file) for file in whole.iterdir()} == before


def test_a_file_that_is_no_record_is_kept(whole: Path) -> None:
    """Also one without the end of a line, which a killed process might have left."""
    for name in ("episode-002.jsonl", "episode-003.jsonl"):
        (whole / name).unlink()
    for text in ("notes", "notes\n"):
        (whole / "episode-002.jsonl").write_text(text)
        with pytest.raises(BadRecord, match=r"episode-002.* no episode record"):
            play_series(GAME, Learns(), [5, 6], record=whole, resume=True)
        assert (whole / "episode-002.jsonl").read_text() == text


def test_a_policy_that_decides_otherwise_is_found(whole: Path) -> None:
    """The text names the record and the decision; nothing is played on it."""
    (whole / "episode-003.jsonl").unlink()
    with pytest.raises(BadRecord, match=r"episode-001\.jsonl: decision 1 .*differs"):
        play_series(GAME, Learns(quantity=40), [5, 6, 7], record=whole, resume=True)
    assert names(whole) == ["episode-001.jsonl", "episode-002.jsonl"]


def test_one_process_at_a_time_plays_a_series(whole: Path) -> None:
    """The lock is that of the series and not of its episode at play."""
    with RecordLock(whole / "series"), pytest.raises(UsageError, match="series is being played"):
        play_series(GAME, Learns(), [5, 6, 7], record=whole, resume=True)


def test_a_folder_is_made_and_a_file_is_refused(tmp_path: Path) -> None:
    """One sentence each."""
    play_series(GAME, Learns(), [5], record=tmp_path / "a" / "b")
    assert names(tmp_path / "a" / "b") == ["episode-001.jsonl"]
    (tmp_path / "f").write_text("")
    with pytest.raises(UsageError, match="f is a file; a series writes one record an episode"):
        play_series(GAME, Learns(), [5], record=tmp_path / "f")
    with pytest.raises(UsageError, match=r"cannot write .*f/g: Not a directory"):
        play_series(GAME, Learns(), [5], record=tmp_path / "f" / "g")


@define
class LearnsInACoroutine(Learns):
    """Decides as `Learns` does, in a coroutine."""

    async def decide(self, stage: Stage) -> Order:  # type: ignore[override]
        """Order what was learned."""
        return super().decide(stage)


@pytest.mark.parametrize("policy", [Learns, LearnsInACoroutine])
def test_a_series_is_played_in_an_event_loop(
    policy: type[Learns], whole: Path, tmp_path: Path
) -> None:
    """With the same records, also where one was cut."""
    given = Lineup({"retailer": policy()}, {"retailer": label(Learns())})
    how = SeriesOptions(GAME, given, [5, 6, 7], record=tmp_path / "a", resume=True)
    (tmp_path / "a").mkdir()
    shutil.copy(whole / "episode-001.jsonl", tmp_path / "a")
    cut = (whole / "episode-002.jsonl").read_bytes().splitlines(keepends=True)[:4]
    (tmp_path / "a" / "episode-002.jsonl").write_bytes(b"".join(cut))
    with loop_player() as play:
        assert [one.was_recorded for one in series(how, play=play)] == [True, False, False]
    for record in whole.iterdir():
        assert played_lines(tmp_path / "a" / record.name) == played_lines(record)
