"""Records of the next game, and of a branch."""

from pathlib import Path

import pytest

from desim import Episode, catalog
from desim.errors import UsageError
from desim.ui.ending.other_games import branched, next_file
from desim.ui.game import Game

MODEL = catalog.model("beer_game", changes={"horizon": "4"})


def game(file: Path, *quantities: int, seed: int = 0) -> Path:
    """Play the retailer."""
    with Game(MODEL, seed, file) as playing:
        for quantity in quantities:
            playing.answer(playing.view.turn, {"do": "order", "quantity": quantity})
    return file


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
