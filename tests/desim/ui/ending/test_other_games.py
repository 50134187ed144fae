"""Records of the next game, of a branch, and of the last game."""

import os
from pathlib import Path

import pytest

from desim import Episode, catalog
from desim.errors import UsageError
from desim.records.lines import Header
from desim.ui.ending.other_games import branched, last_game, next_file
from desim.ui.game import Game

MODEL = catalog.model("beer_game", changes={"horizon": "4"})


def game(file: Path, *quantities: int, seed: int = 0) -> Path:
    """Play the retailer."""
    with Game(MODEL, seed, file) as playing:
        for quantity in quantities:
            playing.answer(playing.view.turn, {"do": "order", "quantity": quantity})
    return file


def header(file: Path) -> Header:
    """Read the header of a record."""
    return Episode.read(file, whole=False).header


@pytest.mark.parametrize(
    ("name", "following"),
    [
        ("game.jsonl", "game-2.jsonl"),
        ("game-2.jsonl", "game-3.jsonl"),
        ("a-b.jsonl.gz", "a-b-2.jsonl.gz"),
        ("beer-seed0.play.jsonl", "beer-seed0.play-2.jsonl"),
        ("7.jsonl", "7-2.jsonl"),
        ("game", "game-2"),
    ],
)
def test_the_next_record_has_the_next_number(tmp_path: Path, name: str, following: str) -> None:
    """A name that is taken is passed over."""
    (tmp_path / "game-2.jsonl").touch()
    wanted = "game-3.jsonl" if following == "game-2.jsonl" else following
    assert next_file(tmp_path / name).name == wanted


def test_a_branch_has_the_first_decisions_and_goes_on_as_a_game(tmp_path: Path) -> None:
    """The old record stays as it is."""
    old = game(tmp_path / "game.jsonl", 1, 2, 3, 4)
    before = old.read_bytes()
    new = branched(old, 2)
    assert new.name == "game-2.jsonl"
    assert [step.action["quantity"] for step in Episode.read(new, whole=False).steps] == [1, 2]
    with Game(MODEL, 0, new) as playing:
        for quantity in (30, 40):
            playing.answer(playing.view.turn, {"do": "order", "quantity": quantity})
        assert playing.view.episode is not None
    assert [s.action["quantity"] for s in Episode.read(new).steps] == [1, 2, 30, 40]
    assert old.read_bytes() == before


def test_a_branch_of_a_decision_that_is_not_there_writes_nothing(tmp_path: Path) -> None:
    """The text says which numbers are possible."""
    old = game(tmp_path / "game.jsonl", 1, 2, 3, 4)
    for at in (-1, 4, 10**9):
        with pytest.raises(UsageError, match="possible: 1 to 4"):
            branched(old, at)
    assert not (tmp_path / "game-2.jsonl").exists()


def test_the_last_game_is_the_latest_whole_one_of_the_same_kind(tmp_path: Path) -> None:
    """Later, cut, damaged and other games, and files of strangers, are passed over."""
    first = game(tmp_path / "first.jsonl", 1, 1, 1, 1, seed=3)
    second = game(tmp_path / "second.jsonl", 2, 2, 2, 2)
    game(tmp_path / "cut.jsonl", 2, 2)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "stranger.jsonl").write_text('{"line":"header"}\n' * 3)
    (tmp_path / "link.jsonl").symlink_to(first)
    mine = game(tmp_path / "mine.jsonl", 5, 5, 5, 5)
    later = game(tmp_path / "later.jsonl", 6, 6, 6, 6)
    for seconds, file in enumerate((first, second, mine, later)):
        os.utime(file, (1_000 + seconds, 1_000 + seconds))
    found = last_game(mine, header(mine))
    assert found is not None
    assert (found[0], found[1].header.seed) == (second, 0)
    second.unlink()
    found = last_game(mine, header(mine))
    assert found is not None
    assert (found[0].name, found[1].header.seed) == ("first.jsonl", 3)
    assert last_game(first, header(first)) is None
