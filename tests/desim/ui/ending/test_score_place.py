"""The place between floor and bound of a preset's known scores."""

import pytest

from desim import catalog
from desim.records.lines import Header
from desim.ui.ending.score_place import ScorePlace, place_of


def place(name: str, score: float, *, seed: int = 0, **policies: str) -> ScorePlace | str:
    """Return the place of a score of a game."""
    model = catalog.model(name)
    seats = tuple(role for role, label in policies.items() if label == "person")
    return place_of(model, Header.of(model, seed, policies), seats, score)


def test_a_score_lies_between_the_floor_and_the_bound_of_its_seed() -> None:
    """The share is 0 at the floor and 1 at the bound, and the sentence names both."""
    found = place("beer_game", -20_000.0, retailer="person")
    assert isinstance(found, ScorePlace)
    floor, bound = found.known.floor, found.ceiling
    assert found.share == pytest.approx((-20_000 - floor) / (bound - floor))
    assert found.sentence == (
        "You went 13 % of the way from the floor, -21,932.5 (random), to the bound, -7,600 "
        "(proved)."
    )


def test_a_relaxed_bound_is_said_to_be_perhaps_out_of_reach() -> None:
    """As no policy may come near it; a score above or below the scale has a sentence of its own."""
    below = place("yc_bench", -10_000.0, founder="person")
    assert isinstance(below, ScorePlace)
    assert "below the floor" in below.sentence
    assert below.sentence.endswith("(perhaps out of reach).")
    above = place("yc_bench", 1e9, founder="person")
    assert isinstance(above, ScorePlace)
    assert above.sentence.startswith("Your score is above the bound")


def test_where_no_scale_is_known_a_sentence_says_so() -> None:
    """Of changed parameters, of a seed, and of a game with other players."""
    changed = catalog.model("beer_game", changes={"horizon": "8"})
    header = Header.of(changed, 0, {"retailer": "person"})
    assert place_of(changed, header, ("retailer",), 0.0) == (
        "No floor and no bound are known for these parameters."
    )
    assert "seed 999999" in str(place("yc_bench", 0.0, seed=999_999, founder="person"))
    others = place("beer_game", 0.0, retailer="person", wholesaler="greedy")
    assert str(others).startswith("Floor and bound are known only for games in which you play all")
