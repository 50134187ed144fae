"""The search for the dearest decisions: the numbers of `regret`, in a process that can be ended."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from desim import Episode, catalog
from desim.errors import UsageError
from desim.studies.decisions.regret import regret
from desim.ui.ending import judgement
from desim.ui.ending.dearest import DearestDecisions
from desim.ui.ending.judgement import FUTURES, MOST_OPTIONS, DecisionSearch, judged
from desim.ui.game import Game


@pytest.fixture
def episode(tmp_path: Path) -> Episode:
    """A game in which nothing was ordered."""
    model = catalog.model("beer_game", changes={"horizon": "10"})
    with Game(model, 0, tmp_path / "game.jsonl") as game:
        for quantity in [0] * 10:
            game.answer(game.view.turn, {"do": "order", "quantity": quantity})
        assert game.view.episode is not None
        return game.view.episode


def search(episode: Episode, *rules: str) -> DecisionSearch:
    """Return a search in which these rules may play on."""
    candidates: list[Mapping[str, Any]] = [{"retailer": rule} for rule in rules]
    return DecisionSearch(episode, ("retailer",), candidates)


def test_the_numbers_are_those_of_regret(episode: Episode) -> None:
    """Searched in a process of its own; the dearest decision comes first, none without a cost."""
    found = DearestDecisions(search(episode, "base_stock"), seconds=10_000.0)
    found.start()
    found.start()
    found.wait()
    assert (found.problem, found.done) == ("", True)
    assert re.fullmatch(r"(\d+) of \1 episodes", found.progress)
    expected = regret(
        episode, {"retailer": "base_stock"}, futures=FUTURES, most_options=MOST_OPTIONS
    )
    assert found.found is not None
    assert (found.found.table.lines, found.found.screened) == (expected.lines, 0)
    assert found.dearest == [line for line in expected.ranked if line.cost > 0][:3]
    assert 0 < len(found.dearest) <= 3


def test_a_rule_that_cannot_play_on_gives_way_to_the_next(episode: Episode) -> None:
    """A rule that knows the future is refused in redrawn futures; without any the text says why."""
    found = judged(search(episode, "perfect", "base_stock"), 60.0, lambda _: None)
    assert found.table.then == "base_stock"
    with pytest.raises(UsageError, match="'perfect' cannot play in branches"):
        judged(search(episode, "perfect"), 60.0, lambda _: None)
    failed = DearestDecisions(search(episode, "perfect"))
    failed.start()
    failed.wait()
    assert failed.problem.startswith("Your decisions could not be judged: ")
    assert failed.dearest == []


def test_a_long_game_is_screened_and_its_dearest_decisions_are_judged(
    episode: Episode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each as by `regret` alone, at a level at which all intervals hold together."""
    monkeypatch.setattr(judgement, "_seconds", lambda *_, **options: 1.0 if options else 5.0)
    said: list[str] = []
    found = judged(search(episode, "base_stock"), 20.0, said.append)
    assert found.screened == 5
    assert len(found.table.lines) == 4  # the option of one decision is its answer
    assert {text for text in said if "Judges" in text} == {
        f"Judges decision {number} of 4" for number in range(1, 5)
    }
    for line in found.table.lines:
        at = line.place.at
        alone = regret(
            episode,
            {"retailer": "base_stock"},
            decisions=slice(at, at + 1),
            futures=FUTURES,
            most_options=MOST_OPTIONS,
            level=1 - 0.05 / 4,
        )
        assert alone.lines == (line,)


def test_a_search_that_is_stopped_says_so(episode: Episode) -> None:
    """Stopped before its process has begun to judge; a search that never began ends at once."""
    found = DearestDecisions(search(episode, "base_stock"))
    found.start()
    found.stop()
    found.wait()
    assert found.found is not None or found.problem == (
        "No decision was judged before the search ended."
    )
    never = DearestDecisions(search(episode, "base_stock"))
    never.stop()
    never.start()
    assert (never.done, never.found) == (True, None)


def test_a_policy_that_cannot_travel_to_a_process_is_a_sentence(episode: Episode) -> None:
    """As a user may have made one inside a function."""
    broken = evolve(search(episode), candidates=({"retailer": lambda stage: stage},))
    found = DearestDecisions(broken)
    found.start()
    assert found.done
    assert found.problem.startswith("Your decisions could not be judged: ")
