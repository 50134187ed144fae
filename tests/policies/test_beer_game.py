"""The rules of the Beer Game and the figures they are known for: reference SPEC, 8 and 10."""

from typing import Any

import pytest
from support.recorded import observed

from desim import play
from desim.errors import UsageError
from models.beer_game import BeerGame
from policies.heuristics.beer_game import BaseStock, Fallback, Foresight, Sterman

#: Retailer's cost over 25 weeks: rule, with opponents `typical`, with opponents `smoothing:4`.
TABLE = [
    ("last_demand", 26_100, 32_062),
    ("foresight", 17_500, 24_309),
    ("constant,quantity=400", 7_600, 12_117),
    ("constant,quantity=100", 78_700, 78_700),
    ("constant,quantity=0", 104_000, 104_000),
    ("typical", 53_250, 94_770),
    ("base_stock", 18_150, 54_861.5),
    ("base_stock,target=400", 18_150, 54_861.5),
    ("base_stock,target=1200", 30_200, 43_315.5),
    ("smoothing", 16_684, 24_621),
    ("smoothing,weeks=4", 16_684, 24_621),
    ("fallback", 35_675, 57_766),
]


@pytest.mark.parametrize(("spec", "typical", "smoothing"), TABLE)
def test_the_table_of_published_costs(spec: str, typical: float, smoothing: float) -> None:
    """To the cent, with both sets of opponents."""
    games = [BeerGame(), BeerGame(opponents="smoothing:4")]
    metrics = [play(game, spec).metrics["total_cost_controlled"] for game in games]
    assert metrics == [typical, smoothing]
    assert [play(game, spec).score for game in games] == [-typical, -smoothing]


def costs(**changes: Any) -> list[float]:
    """What each stage of the board game costs under the benchmark rule, then the team."""
    game = BeerGame.preset("classic", **changes)
    metrics = play(game, "benchmark").metrics
    return [*(metrics[f"cost_{n}"] for n in game.stages), metrics["total_cost_supply_chain"]]


def test_the_benchmark_costs_204() -> None:
    """Sterman 1989; given without a seat, the rule takes all four."""
    assert costs() == [46, 50, 54, 54, 204]
    assert {s.role for s in play("beer_game/classic", "benchmark").steps} == {
        "retailer",
        "wholesaler",
        "distributor",
        "factory",
    }


def test_a_team_of_model_stages_costs_the_same() -> None:
    """The opponents of the preset order by the same rule as the policy."""
    game = BeerGame.preset("classic")
    assert play(game, {}).metrics["total_cost_supply_chain"] == 204
    assert play(game, {"retailer": "benchmark"}).score == -46
    assert play(game, {"factory": "benchmark"}).score == -54


@pytest.mark.parametrize("weeks", [35, 36, 37])
def test_the_total_does_not_depend_on_the_last_weeks(weeks: int) -> None:
    """The chain ends with no inventory and no backlog anywhere."""
    assert costs(horizon=weeks) == [46, 50, 54, 54, 204]


def test_free_ordering_from_the_first_week_costs_180() -> None:
    """The forced orders of the first four weeks are part of the 204."""
    assert costs(forced_weeks=0) == [36, 44, 52, 48, 180]


def test_sterman_at_full_weight_is_the_benchmark() -> None:
    """Theta 0, alpha 1, beta 1 and S' 28, upstream 20."""
    game = BeerGame.preset("classic")
    rule = "sterman,theta=0,alpha=1,beta=1,target="
    seats = {n: rule + ("20" if n == "factory" else "28") for n in game.stages}
    assert play(game, seats).metrics["total_cost_supply_chain"] == 204


@pytest.mark.parametrize(("units", "rounded"), [(2.5, 3), (2.4999, 2), (0.2, 0)])
def test_sterman_rounds_half_up_as_players_did(units: float, rounded: int) -> None:
    """To a whole number, an int."""
    sterman = Sterman(theta=0, alpha=0, expected=units, rounding="half_up")
    quantity = sterman.decide(observed()).quantity
    assert (quantity, type(quantity)) == (rounded, int)


@pytest.mark.parametrize(
    ("seen", "quantity"),
    [
        ({"inventory": 400, "incoming_order": 7}, 7),
        ({"inventory": 401, "incoming_order": 7}, 7),
        ({"inventory": 399, "incoming_order": 7}, 7),
        ({"inventory": 398, "incoming_order": 7}, 8),
        ({"backlog": 20_000}, 5_000),
        ({"inventory": 20_000}, 0),
    ],
)
def test_the_fallback_adds_half_of_what_is_lacking(seen: dict[str, Any], quantity: int) -> None:
    """Cut to a whole number, 0 to 5,000."""
    assert Fallback().decide(observed(**seen)).quantity == quantity


def test_no_rule_orders_less_than_nothing_or_more_than_the_world_takes() -> None:
    """Both ends are cut."""
    assert BaseStock(0).decide(observed(inventory=10)).quantity == 0
    assert BaseStock(0).decide(observed(backlog=10**19)).quantity == 10**18


def test_foresight_knows_random_demand_too() -> None:
    """The draws of the seed, not others of the same kind."""
    game = BeerGame.preset("poisson")
    steps = play(game, "foresight", 6).steps
    ordered = [s.action.quantity for s in steps]
    assert ordered == [s.observation.incoming_order for s in steps]
    assert ordered != [s.action.quantity for s in play(game, "foresight", 7).steps]
    blind = play(BeerGame(demand="poisson:4", horizon=30), "foresight", 6).steps
    seen = [s.observation.incoming_order for s in blind]
    assert [s.action.quantity for s in blind][:-1] == seen[1:]


def test_foresight_plays_no_other_world() -> None:
    """It reads the Beer Game's demand."""
    from desim.core.policy import Seat

    with pytest.raises(UsageError, match="plays no other world"):
        Foresight().seated(Seat(None, "x", None, 0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("constant", "needs quantity"),
        ("constant,quantity=-1", "'quantity' must be >= 0"),
        ("base_stock,target=1.5", "target is a whole number or none"),
        ("base_stock,targt=3", "did you mean 'target'"),
        ("sterman,theta=1.5", "'theta' must be <= 1"),
    ],
)
def test_wrong_arguments_are_refused(spec: str, says: str) -> None:
    """By name, type and range, before anything is played."""
    with pytest.raises(UsageError, match=says):
        play(BeerGame(), spec)
