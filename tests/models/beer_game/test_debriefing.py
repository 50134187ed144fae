"""The debriefing of a game: the same figures as series, metrics and ledgers."""

from typing import Any

import pytest

from desim import play
from desim.core.reported import Debriefing
from models.beer_game import BeerGame


def debriefed(game: BeerGame, policy: str = "sterman") -> tuple[Debriefing, Any]:
    """Return the debriefing and the episode of a game in which a rule plays all stages."""
    episode = play(game, dict.fromkeys(game.stages, policy), 1, series=True)
    assert episode.inside is not None
    return episode.inside.model.debriefing(episode.inside.state), episode


def test_orders_and_stocks_are_the_series_of_the_game() -> None:
    """The demand is the base line; stock is inventory less backlog."""
    found, episode = debriefed(BeerGame.preset("classic"))
    orders, stock = found.overlays
    series = episode.series()
    assert list(orders.lines) == ["customers", "retailer", "wholesaler", "distributor", "factory"]
    assert orders.base == "customers"
    assert list(orders.lines["customers"]) == [4.0] * 4 + [8.0] * 32
    assert list(orders.lines["factory"]) == list(series["orders_factory"])
    owed = zip(series["inventory_retailer"], series["backlog_retailer"], strict=True)
    assert stock.lines["retailer"] == pytest.approx([held - lacks for held, lacks in owed])


def test_costs_and_amplification_are_those_of_the_metrics() -> None:
    """By stage and cause; the last stage's amplification is the bullwhip of the chain."""
    found, episode = debriefed(BeerGame.preset("classic"))
    sums = {stage: sum(causes.values()) for stage, causes in found.costs.items()}
    assert sums == pytest.approx({s: episode.metrics[f"cost_{s}"] for s in sums})
    assert found.amplification["factory"] == episode.metrics["bullwhip_supply_chain"]
    assert found.amplification["retailer"] == episode.metrics["bullwhip_retailer"]


@pytest.mark.parametrize(
    ("demand", "says"),
    [
        ("step:4:8:4", "Customers ordered 4 units a week from week 1 on, then 8 units a week from"),
        ("constant:4", "Customers ordered 4 units in every week."),
        ("list:4:5:6:7:8:2", "Customers ordered 5.3 units a week on average, between 2 and 8."),
    ],
)
def test_the_demand_is_stated_in_words(demand: str, says: str) -> None:
    """Its levels if these are few, else its mean and range."""
    found, _ = debriefed(BeerGame(horizon=6, demand=demand), "last_demand")
    assert found.revealed is not None
    assert found.revealed.text.startswith(says)


def test_a_game_without_a_week_reveals_nothing() -> None:
    """A record may be cut before its first week has ended."""
    episode = play(BeerGame(horizon=1), "typical", 1, series=True)
    assert episode.inside is not None
    chain = episode.inside.state
    for stage in chain.echelons:
        stage.log.clear()
    found = episode.inside.model.debriefing(chain)
    assert found.revealed is None
    assert set(found.amplification.values()) == {None}
