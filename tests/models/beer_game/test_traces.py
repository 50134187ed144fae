"""The published runs, week by week: reference SPEC section 11."""

import json
from pathlib import Path
from typing import Any

import pytest

from desim import Run
from models.beer_game import BeerGame, Order
from models.beer_game.chain import Chain, Pipeline, Units

#: Reference name, ours.
CONFIG = {
    "horizon_weeks": "horizon",
    "order_delay": "order_delay",
    "ship_delay": "ship_delay",
    "target_inventory": "target_inventory",
    "inventory_item_cost": "holding_cost",
    "backorder_item_cost": "backlog_cost",
    "minimum_inventory_cost": "minimum_holding_cost",
    "controlled_role": "controlled",
    "opponent_policy": "opponents",
}
SEEN = {
    "backorder": "backlog",
    "horizon_weeks": "horizon",
    "opponent_policy": "opponents",
}
FLOWS = {
    "incoming_delivery": "incoming_delivery",
    "incoming_order": "incoming_order",
    "outgoing_delivery": "outgoing_delivery",
    "outgoing_order": "order",
    "inventory": "inventory",
    "backorder": "backlog",
    "cost": "cost",
}


def game_of(config: dict[str, Any]) -> BeerGame:
    """Translate a trace's configuration."""
    demand = [config[key] for key in ("demand_low", "demand_high", "demand_step_week")]
    return BeerGame(
        **{ours: config[theirs] for theirs, ours in CONFIG.items()},
        demand=":".join(map(str, ["step", *demand])),
    )


def pipelines(chain: Chain, week: int) -> dict[str, dict[str, Any]]:
    """What is under way to every stage after a week; the first stage's own mail is not used."""
    params = chain.params
    return {
        e.name: {
            "supply_line": chain.goods[e.in_transit],
            "pipeline_deliveries": boxes(e.deliveries, week, params.ship_delay),
            "pipeline_orders": boxes(e.slips, week, params.order_delay) if e.below else None,
        }
        for e in chain.echelons
    }


def boxes(pipeline: Pipeline, week: int, weeks: int) -> list[Units]:
    """Units that arrive in each of the weeks to come, the next week first."""
    due = {arrival.week: arrival.units for arrival in pipeline.under_way}
    return [due.get(week + ahead, 0) for ahead in range(1, weeks + 1)]


@pytest.mark.traces("beer_game/traces/bg*.json")
def test_firmbench_plays_as_published(trace: Path) -> None:
    """Observations, every stage's flows, pipelines, costs and metrics of each week are the same."""
    published = json.loads(trace.read_text())
    game = game_of(published["config"])
    run = Run(game)
    seen, under_way = [], []
    for quantity in published["orders_submitted"]:
        (decision,) = run.advance()
        seen.append(decision.observation)
        under_way.append(pipelines(run.state, run.world.now))
        run.answer(decision, Order(quantity))
    assert run.advance() == []
    under_way = [*under_way[1:], pipelines(run.state, game.horizon)]

    first = {SEEN.get(k, k): v for k, v in published["initial_observation"].items()}
    assert {k: getattr(seen[0], k) for k in first} == first
    columns = [SEEN.get(c, c) for c in published["observation_columns"]]
    final = run.state.observe(game.horizon, run.state.scored[0])
    assert [[getattr(s, c) for c in columns] for s in [*seen[1:], final]] == published[
        "observations"
    ]
    for name, series in published["stages"].items():
        weeks = run.state.history(name)
        for theirs, ours in FLOWS.items():
            assert [getattr(w, ours) for w in weeks] == series[theirs], (name, theirs)
        for theirs in ("supply_line", "pipeline_deliveries", "pipeline_orders"):
            ours = [week[name][theirs] for week in under_way]
            assert ours == series[theirs] or ours[0] is None, (name, theirs)
    metrics = run.result().metrics
    for name in ("total_cost_controlled", "total_cost_supply_chain", "avg_backlog_controlled"):
        assert metrics[name] == published["metrics"][name]
    assert metrics["bullwhip_controlled"] == pytest.approx(
        published["metrics"]["bullwhip_controlled"], rel=1e-12
    )
    assert {n: metrics[f"cost_{n}"] for n in published["totals"]} == published["totals"]


@pytest.mark.traces("beer_game/traces/cl*.json")
def test_classic_plays_as_the_board_game(trace: Path) -> None:
    """With the trace's orders at all four seats, every flow and cost is the same within 1e-9."""
    published = json.loads(trace.read_text())
    forced = published["forced_orders_of_4_through_week"]
    game = BeerGame.preset(
        "classic", horizon=published["weeks"], demand=published["demand"], forced_weeks=forced
    )
    run = Run(game, seats=game.stages)
    while decisions := run.advance():
        for d in decisions:
            run.answer(d, Order(published["stages"][d.role]["order"][d.observation.week - 1]))
    flows = {
        "received": "incoming_delivery",
        "incoming_order": "incoming_order",
        "shipped": "outgoing_delivery",
        "order": "order",
        "inventory": "inventory",
        "backlog": "backlog",
        "supply_line_before_order": "supply_line",
        "cost": "cost",
    }
    for name, series in published["stages"].items():
        weeks = run.state.history(name)
        for theirs, ours in flows.items():
            values = [getattr(w, ours) for w in weeks]
            assert values == pytest.approx(series[theirs], abs=1e-9), (name, theirs)
    metrics = run.result().metrics
    assert metrics["total_cost_supply_chain"] == pytest.approx(published["team_total"], abs=1e-9)


@pytest.mark.traces("beer_game/traces/cl*.json")
def test_our_rules_play_the_board_game_as_the_traces_do(trace: Path) -> None:
    """The trace's rule, as our policy at all four seats, gives the team's total."""
    published = json.loads(trace.read_text())
    game = BeerGame.preset("classic", horizon=published["weeks"], demand=published["demand"])
    assert _team_cost(game, published["policy"]) == pytest.approx(published["team_total"], abs=1e-6)


def _team_cost(game: BeerGame, rule: dict[str, Any] | str) -> float:
    from desim import play

    specs = {"order 4 always": "constant,quantity=4", "order = incoming order": "last_demand"}
    if isinstance(rule, str):
        policies = dict.fromkeys(game.stages, specs[rule])
    else:
        rounding = "none" if rule["rounding"] == "none" else "half_up"
        policies = {
            name: f"sterman,theta={rule['theta']},alpha={rule['alpha']},beta={rule['beta']},"
            f"target={target},rounding={rounding}"
            for name, target in zip(game.stages, rule["S_prime"], strict=True)
        }
    total: float = play(game, policies).metrics["total_cost_supply_chain"]
    return total
