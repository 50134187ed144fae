"""The search for the dearest decisions: the numbers of `regret`, in a process that can be ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from desim import Episode, catalog
from desim.errors import UsageError
from desim.studies.decisions.regret import regret
from desim.ui.ending.dearest import (
    FUTURES,
    MOST_OPTIONS,
    DearestDecisions,
    DecisionSearch,
    judged,
)
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
    found = DearestDecisions(search(episode, "base_stock"))
    found.start()
    found.start()
    found.wait()
    assert (found.problem, found.every) == ("", 1)
    done, total = found.progress
    assert done == total > 0
    expected = regret(
        episode, {"retailer": "base_stock"}, futures=FUTURES, most_options=MOST_OPTIONS
    )
    assert found.table is not None
    assert found.table.lines == expected.lines
    assert found.dearest == [line for line in expected.ranked if line.cost > 0][:3]
    assert 0 < len(found.dearest) <= 3


def test_a_rule_that_cannot_play_on_gives_way_to_the_next(episode: Episode) -> None:
    """A rule that knows the future is refused in redrawn futures; without any the text says why."""
    table, _ = judged(search(episode, "perfect", "base_stock"), 60.0, lambda *_: None)
    assert table.then == "base_stock"
    with pytest.raises(UsageError, match="'perfect' cannot play in branches"):
        judged(search(episode, "perfect"), 60.0, lambda *_: None)
    found = DearestDecisions(search(episode, "perfect"))
    found.start()
    found.wait()
    assert found.problem.startswith("Your decisions could not be judged: ")
    assert found.dearest == []


def test_a_short_limit_of_time_judges_fewer_decisions(episode: Episode) -> None:
    """They are spread over the game."""
    table, every = judged(search(episode, "base_stock"), 1e-9, lambda *_: None)
    assert every > len(episode.steps)
    assert [line.place.at for line in table.lines] == [0]


def test_a_search_that_is_stopped_says_so(episode: Episode) -> None:
    """Stopped before its process has begun to judge; a search that never began ends at once."""
    found = DearestDecisions(search(episode, "base_stock"))
    found.start()
    found.stop()
    found.wait()
    assert found.table is not None or found.problem == (
        "No decision was judged before the search ended."
    )
    never = DearestDecisions(search(episode, "base_stock"))
    never.stop()
    never.start()
    assert (never.done, never.table) == (True, None)


def test_a_policy_that_cannot_travel_to_a_process_is_a_sentence(episode: Episode) -> None:
    """As a user may have made one inside a function."""
    broken = evolve(search(episode), candidates=({"retailer": lambda stage: stage},))
    found = DearestDecisions(broken)
    found.start()
    assert found.done
    assert found.problem.startswith("Your decisions could not be judged: ")
