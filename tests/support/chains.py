"""Beer Games drawn at random, and policies that answer one stage or all lanes."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from attrs import frozen

from desim.lanes.lane_columns import Array, Columns
from models.beer_game import BeerGame, Order
from policies.heuristics.beer_game import OrderUpTo, Sterman

NAMES = ("retailer", "wholesaler", "distributor", "factory", "mine", "field")

_OPPONENTS = (
    *("typical", "no_backorder", "base_stock", "benchmark", "pass_through", "smoothing", "other"),
    *("smoothing:3", "smoothing:0", "smoothing:7", "moving_average", "moving_average:1"),
    *("moving_average:3", "moving_average:40"),
)


@frozen
class Scattered:
    """Orders that jump with what is observed; negative and fractional ones are among them.

    Attributes:
        seed: Chooses the orders.
        parts: 2 orders halves of units, 1 whole units.
    """

    seed: int
    parts: int

    def decide(self, stage: Any) -> Order:
        """Return an order that depends on every figure of the stage."""
        return Order(self._units(stage))

    def decide_all(self, observed: Columns) -> Mapping[str, Array]:
        """Return the same in every lane."""
        return {"quantity": self._units(observed)}

    def _units(self, stage: Any) -> Any:
        mixed = (
            *(7 * stage.inventory, 11 * stage.backlog, 13 * stage.supply_line),
            *(17 * stage.incoming_order, 19 * stage.last_order, 23 * stage.week),
            *(29 * stage.incoming_delivery, 31 * stage.outgoing_delivery),
        )
        units = (sum(mixed) + self.seed) % 37 - 3
        return units / 2 if self.parts > 1 else units


#: Makes new policies of some stages.
Makers = Mapping[str, Callable[[], Mapping[str, Any]]]


def drawn_chain(number: int) -> tuple[BeerGame, Makers]:
    """Return a game by its number, and three sets of policies for seats of it."""
    rng = Random(number)  # noqa: S311 (a test)
    game = _preset(rng) if rng.random() < 0.3 else _game(rng)
    seats = rng.sample(game.stages, rng.randint(0, len(game.stages)))
    seed, target = rng.randrange(1_000), rng.randint(0, 3 * max(10, game.target_inventory))
    parts = 2 if game.whole_units and rng.random() < 0.3 else 1
    return game, {
        "order_up_to": lambda: {seat: OrderUpTo(target) for seat in seats},
        "sterman": lambda: {seat: Sterman(target=target, rounding="half_up") for seat in seats},
        "scattered": lambda: {seat: Scattered(seed, parts) for seat in seats},
    }


def _preset(rng: Random) -> BeerGame:
    changes: dict[str, Any] = {"strike": _strike(rng), "opponents": rng.choice(_OPPONENTS)}
    kept = {name: value for name, value in changes.items() if rng.random() < 0.5}
    if kept.get("opponents", "").startswith("moving_average"):
        kept["whole_units"] = True
    return BeerGame.preset(rng.choice([*BeerGame.presets]), **kept)


def _game(rng: Random) -> BeerGame:
    stages = NAMES[: rng.randint(1, 6)]
    opponents = rng.choice(_OPPONENTS)
    return BeerGame(
        horizon=rng.choice([1, 2, 3, 8, 15, 25]),
        demand=_demand(rng),
        order_delay=rng.randint(1, 4),
        ship_delay=rng.randint(1, 4),
        production_delay=rng.choice([None, 1, 2, 5]),
        target_inventory=rng.choice([0, 3, 12, 90]),
        initial_flow=rng.choice([None, 0, 5]),
        holding_cost=rng.choice([0, 0.1, 0.5, 2]),
        backlog_cost=rng.choice([0, 0.37, 1.0]),
        minimum_holding_cost=rng.choice([0.0, 0.0, 3.3, 50.0]),
        opponents=opponents,
        names_opponents=rng.random() < 0.5,
        controlled=rng.choice(stages),
        stages=stages,
        brewery_echo=rng.random() < 0.4,
        blind=rng.random() < 0.5,
        whole_units=opponents.startswith("moving_average") or rng.random() < 0.5,
        supply_line=rng.choice(["shipped", "ordered"]),
        forced_weeks=rng.choice([0, 0, 1, 4]),
        strike=_strike(rng),
    )


def _strike(rng: Random) -> str | None:
    return rng.choice([None, None, "1:1", "3:7", "5:40"])


def _demand(rng: Random) -> str:
    units = [rng.randint(0, 30) for _ in range(4)]
    week = rng.randint(0, 9)
    return rng.choice(
        [
            f"step:{units[0]}:{units[1]}:{week}",
            f"constant:{units[0]}",
            "list:" + ":".join(map(str, units)),
            f"poisson:{units[0] / 4}",
            f"normal:{units[0]}:{units[1] / 3:.2f}",
        ]
    )
