"""After each answer a person reads what it did and when the rest of it will show."""

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from desim import catalog
from desim.ui.game import Game

BEER = catalog.model("beer_game")


def game(tmp_path: Path, model: Any, *seats: str) -> Game:
    """A new game."""
    return Game(model, 1, tmp_path / "game.jsonl", seats=seats)


def test_there_is_nothing_to_tell_before_the_first_answer(tmp_path: Path) -> None:
    """Nor after the end."""
    with game(tmp_path, BEER.preset("poisson", horizon=1)) as played:
        assert played.view.effect is None
        played.answer(played.view.turn, {"do": "order", "quantity": 1})
        assert played.view.episode is not None
        assert played.view.effect is None


@pytest.mark.parametrize(
    ("preset", "stage"),
    [("poisson", "retailer"), ("poisson", "factory"), ("firmbench", "retailer"), ("classic", "")],
)
def test_an_order_arrives_no_sooner_than_the_game_said(
    tmp_path: Path, preset: str, stage: str
) -> None:
    """The named week is the first that brings more than the flow of the start."""
    model = BEER.preset(preset, demand="constant:4", initial_flow=4, forced_weeks=0, horizon=12)
    with game(tmp_path, model, *filter(None, [stage])) as played:
        played.answer(played.view.turn, {"do": "order", "quantity": 400})
        effect = played.view.effect
        assert effect is not None
        assert effect.answer == "Order: quantity 400 units"
        found = re.search(r"The 400 units .* arrive in week (\d+) or later", effect.sentence)
        assert found, effect.sentence
        while played.view.observation.incoming_delivery <= 4:
            played.answer(played.view.turn, {"do": "order", "quantity": 0})
        assert played.view.effect
        paid = re.match(r"Week (\d+) cost", played.view.effect.sentence)
        # Players of blind presets order before the week in which the goods come.
        assert paid
        assert int(found[1]) == int(paid[1]) + (not model.blind)


def test_figures_that_differ_are_named_with_both_values(tmp_path: Path) -> None:
    """In the order of the observation, in the units of its fields."""
    with game(tmp_path, catalog.model("edt").preset("interactive")) as played:
        played.answer(played.view.turn, {"do": "release", "consultants": 2})
        effect = played.view.effect
        assert effect is not None
        assert (effect.answer, effect.sentence) == ("Release: consultants 2", "")
        changed = {one.label: (one.before, one.after) for one in effect.changes}
        assert changed["Consultants hired"] == ("12", "10")
        assert "Horizon" not in changed


class Silent(type(BEER)):  # type: ignore[misc]
    """A Beer Game whose sentence fails."""

    def effect_of(self, state: Any, role: str, action: Any) -> str:
        """Raise."""
        raise KeyError(role)


def test_a_sentence_that_fails_does_not_stop_the_game(tmp_path: Path) -> None:
    """The figures are shown without it."""
    with game(tmp_path, Silent(horizon=3)) as played:
        played.answer(played.view.turn, {"do": "order", "quantity": 7})
        assert played.view.effect is not None
        assert played.view.effect.sentence == ""
        assert played.view.effect.changes


def test_the_effect_is_that_of_the_role_that_decides(tmp_path: Path) -> None:
    """With two seats each sees its own last order."""
    with game(tmp_path, evolve(BEER, horizon=3), "retailer", "wholesaler") as played:
        for quantity in (3, 5):
            played.answer(played.view.turn, {"do": "order", "quantity": quantity})
        for quantity in (3, 5):
            assert played.view.effect is not None
            assert played.view.effect.answer == f"Order: quantity {quantity} units"
            played.answer(played.view.turn, {"do": "order", "quantity": quantity})
