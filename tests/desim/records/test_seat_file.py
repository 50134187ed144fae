"""The log beside a person's record: whole lines, its own decisions, and nobody else's file."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from desim import Episode, catalog, play
from desim.errors import BadRecord
from desim.records.seat_file import (
    SeatLine,
    append_line,
    seat_columns,
    seat_path,
    step_digest,
)


@pytest.fixture
def episode() -> Episode:
    """Three weeks of the Beer Game."""
    return play(catalog.model("beer_game", changes={"horizon": "3"}), "greedy", 0)


def log(episode: Episode, path: Path, **more: Any) -> None:
    """Append a line for each decision."""
    for number, step in enumerate(episode.steps, 1):
        append_line(path, SeatLine.of(step, ["orders"], seconds=float(number), **more))


@pytest.mark.parametrize("name", ["day.jsonl", "day.jsonl.gz"])
def test_the_log_has_the_name_of_the_record(name: str) -> None:
    """Beside it, and uncompressed."""
    assert seat_path(f"games/{name}") == Path("games/day.seat.jsonl")


@pytest.mark.parametrize("model", catalog.models())
def test_a_decision_has_one_digest_before_and_after_its_record_is_read(
    model: str, tmp_path: Path
) -> None:
    """So that lines written during the game fit the record that is exported."""
    world = catalog.model(model)
    played = play(world, catalog.baselines(world)[0], 0)
    played.write(tmp_path / "game.jsonl")
    again = Episode.read(tmp_path / "game.jsonl")
    assert [step_digest(step) for step in again.steps[:50]] == [
        step_digest(step) for step in played.steps[:50]
    ]


def test_columns_have_a_value_for_each_decision_that_has_a_line(
    episode: Episode, tmp_path: Path
) -> None:
    """The last line of a decision counts; other decisions' lines fit none."""
    path = tmp_path / "day.seat.jsonl"
    log(play("beer_game", "greedy", 5), path)
    log(episode, path, alias="Ann")
    append_line(path, SeatLine.of(episode.steps[1], [], seconds=9.5))
    columns = seat_columns(path, episode.steps)
    assert columns["seat.seconds"] == [1.0, 9.5, 3.0]
    assert columns["seat.alias"] == ["Ann", "", "Ann"]
    assert columns["seat.tables"] == ['["orders"]', "[]", '["orders"]']
    assert seat_columns(path, episode.steps[:0]) == {}
    assert seat_columns(tmp_path / "none.seat.jsonl", episode.steps) == {}


def test_a_killed_process_loses_its_last_line_alone(episode: Episode, tmp_path: Path) -> None:
    """What it has left of the line is skipped, and the next line is whole."""
    path = tmp_path / "day.seat.jsonl"
    log(episode, path)
    path.write_bytes(path.read_bytes()[:-20])
    assert seat_columns(path, episode.steps)["seat.seconds"] == [1.0, 2.0, None]
    append_line(path, SeatLine.of(episode.steps[2], [], seconds=7.0))
    assert seat_columns(path, episode.steps)["seat.seconds"] == [1.0, 2.0, 7.0]


def test_only_the_owner_reads_the_log(episode: Episode, tmp_path: Path) -> None:
    """A file that others may read, a link and a folder are not written."""
    path = tmp_path / "day.seat.jsonl"
    log(episode, path)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    path.chmod(0o644)
    link, folder = tmp_path / "link.seat.jsonl", tmp_path / "folder.seat.jsonl"
    link.symlink_to(path)
    folder.mkdir()
    os.mkfifo(tmp_path / "pipe.seat.jsonl", 0o600)
    for refused in (path, link, folder, tmp_path / "pipe.seat.jsonl"):
        with pytest.raises(OSError, match=r"regular|others|links|directory"):
            append_line(refused, SeatLine.of(episode.steps[0], [], seconds=1.0))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"decision":"0","seconds":-1}',
        b'{"decision":"0","seconds":1e400}',
        b'{"decision":"0","seconds":NaN}',
        b'{"decision":"0","seconds":1,"card":"4111"}',
        msgspec.json.encode({"decision": "0", "seconds": 1, "alias": "a" * 201}),
        b"[" * 100_000 + b"}",
        b"\xff}",
    ],
)
def test_a_strangers_file_is_refused(line: bytes, episode: Episode, tmp_path: Path) -> None:
    """With the number of the line, as a record is."""
    path = tmp_path / "day.seat.jsonl"
    log(episode, path)
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(BadRecord, match=r"^line 4 of .*day.seat.jsonl is no line of a seat: "):
        seat_columns(path, episode.steps)
