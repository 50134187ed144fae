"""Shipments, production and order slips are events on the calendar, and their order is stated."""

from typing import Any

import pytest
from support.series import series_of

from desim import Run, World, play
from models.beer_game import BeerGame, Order
from models.beer_game.chain import Arrival


def arrivals(world: World) -> list[tuple[int, Any]]:
    """Ticks and units of the arrivals on the calendar, in the order in which they will come."""
    entries = sorted(world._queue, key=lambda entry: entry[:3])
    return [(entry[0], event.units) for entry in entries if isinstance(event := entry[3], Arrival)]


def test_a_shipment_is_an_event_due_after_its_lead_time() -> None:
    """As is an order slip; the week's list of the calendar shows both."""
    game = BeerGame(brewery_echo=False, initial_flow=0, demand="constant:7")
    run = Run(game, seats=["retailer"])
    (decision,) = run.advance()
    assert arrivals(run.world) == []
    run.answer(decision, Order(50))
    run.advance()
    # The retailer's slip is in the mail, those of the others were empty.
    assert arrivals(run.world) == [(2, 50)]
    for _ in range(2):
        run.answer(run.open[0], Order(0))
        run.advance()
    # The wholesaler shipped in week 2; the goods arrive in week 4 and end the retailer's wait.
    assert (4, 50) in arrivals(run.world)
    weeks = run.state.history("retailer")
    assert [week.supply_line for week in weeks] == [0, 50, 50]


def test_ties_come_by_stage_whatever_was_sent_first() -> None:
    """Production takes longer than transport, so its events were scheduled before the others."""
    game = BeerGame.preset("classic", demand="constant:4")
    run = Run(game, seats=[])
    run.advance()
    moves = [m for m in run.state.goods.moves if m.source.startswith("in_transit")]
    for week in range(1, game.horizon + 1):
        targets = [m.target for m in moves if m.time == week]
        assert targets == [f"on_hand.{stage}" for stage in game.stages]
    slips = [m.target for m in run.state.orders.moves if m.time == 9 and "owed" in m.target]
    assert slips == [f"owed.{stage}" for stage in game.stages]


def test_the_echo_and_the_distributors_slip_arrive_as_one() -> None:
    """One event and one move a week for each place, however many send."""
    run = Run(BeerGame(), seats=[])
    run.advance()
    moves = run.state.orders.moves
    arrived = [(m.time, m.target) for m in moves if m.target == "owed.brewery"]
    assert len(arrived) == len(set(arrived))


@pytest.mark.parametrize("preset", BeerGame.presets)
def test_the_series_hold_every_week_of_every_stage(preset: str) -> None:
    """Orders, inventory and backlog in units, cost in money; they add up to the metrics."""
    game = BeerGame.preset(preset)
    run = Run(game, 1, [])
    run.advance()
    series, metrics = series_of(game, run.state), run.result().metrics
    names = {
        f"{what}_{s}" for what in ("orders", "inventory", "backlog", "cost") for s in game.stages
    }
    assert set(series) == names
    assert {len(values) for values in series.values()} == {game.horizon}
    assert {type(value) for values in series.values() for value in values} == {float}
    for stage in game.stages:
        assert sum(series[f"cost_{stage}"]) == pytest.approx(metrics[f"cost_{stage}"])


def test_only_random_demand_depends_on_the_seed() -> None:
    """As boards ask before they play more than one seed."""
    assert {n: BeerGame.preset(n).deterministic for n in BeerGame.presets} == {
        "firmbench": True,
        "classic": True,
        "poisson": False,
        "paper": True,
    }
    assert not BeerGame(demand="normal:100:5").deterministic


def test_the_bullwhip_grows_from_stage_to_stage() -> None:
    """Each stage's orders over its incoming orders, and the whole chain's over the demand."""
    metrics = play("beer_game/paper", {}).metrics
    stages = [metrics[f"bullwhip_{stage}"] for stage in BeerGame.preset("paper").stages]
    assert min(stages) > 1
    assert metrics["bullwhip_controlled"] == stages[0]
    assert metrics["bullwhip_supply_chain"] > max(stages)
    assert play("beer_game/classic", {}).metrics["bullwhip_factory"] is not None


# -- the paper's text ------------------------------------------------------------------------------


def test_the_papers_game_stays_steady_until_demand_steps() -> None:
    """No echo: with demand at 100 every stage orders 100 and keeps 400."""
    game = BeerGame.preset("paper", demand="constant:100")
    run = Run(game, seats=[])
    run.advance()
    for stage in game.stages:
        assert {(w.order, w.inventory, w.backlog, w.cost) for w in run.state.history(stage)} == {
            (100, 400, 0, 200.0)
        }


def test_the_papers_rule_by_hand() -> None:
    """Mean of four weeks, plus target less inventory, plus backlog; a fraction is cut off."""
    run = Run(BeerGame.preset("paper"), seats=[])
    run.advance()
    weeks = run.state.history("retailer")
    assert [week.incoming_order for week in weeks[:4]] == [100, 400, 400, 400]
    assert [week.order for week in weeks[:4]] == [
        100,
        (100 + 100 + 100 + 400) // 4 + 400 - 100,
        (100 + 100 + 400 + 400) // 4 + 400 - 0 + 200,
        (100 + 400 + 400 + 400) // 4 + 400 - 0 + 500,
    ]


@pytest.mark.parametrize("rule", ["typical", "moving_average:1"])
def test_what_inventory_lacks_and_the_backlog_have_weights(rule: str) -> None:
    """Alpha and beta of the paper's A.5, for `opponents` and for a policy; both 1 by default."""
    game = BeerGame.preset("paper", opponents=f"{rule}:0.5:0.25", blind=False)
    run = Run(game, seats=[])
    run.advance()
    weeks = run.state.history("retailer")
    assert [week.order for week in weeks[:3]] == [
        100,
        int(400 + 0.5 * (400 - 100)),
        int(400 + 0.5 * 400 + 0.25 * 200),
    ]
    spec = f"{rule.replace(':', ',weeks=')},alpha=0.5,beta=0.25"
    assert play(game, spec).metrics["cost_retailer"] == sum(week.cost for week in weeks)
    plain, ones = (
        play(BeerGame.preset("paper", opponents=f"{rule}{more}"), {}) for more in ("", ":1:1")
    )
    assert plain.ledger_digest == ones.ledger_digest != play(game, {}).ledger_digest
