"""The course of an episode's score."""

from pathlib import Path
from typing import Any

import pytest

from desim import Episode, catalog, play
from desim.ui.ending.trails import Trail, TrailReader


def trail_of(model: Any, episode: Episode, *seats: str) -> Trail:
    """Read the trail of an episode that was played here."""
    return TrailReader(model, seats).of(episode.series())


def test_costs_of_periods_are_added_up_to_the_score() -> None:
    """For one stage and for several, whose costs are summed."""
    model = catalog.model("beer_game", changes={"horizon": "8"})
    every = tuple(model.roles)
    for seats in (("retailer",), every):
        episode = play(model, dict.fromkeys(seats, "base_stock"), 0)
        found = trail_of(model, episode, *seats)
        assert len(found.values) == 8
        assert found.values[-1] == pytest.approx(-episode.score)
        assert list(found.values) == sorted(found.values)
    assert TrailReader(model, every).title == "Cost so far (money)"


def test_a_record_gives_the_trail_of_its_episode(tmp_path: Path) -> None:
    """Its decisions are repeated; no policy plays."""
    model = catalog.model("edt")
    episode = play(model, "simple", 0, record=tmp_path / "game.jsonl")
    found = TrailReader(model, ("manager",)).replayed(Episode.read(tmp_path / "game.jsonl"))
    assert found == trail_of(model, episode, "manager")
