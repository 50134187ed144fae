"""Do our rules have the published costs, in the benchmark and in the board game?

Every published number of the Beer Game in the FirmBench paper, beside ours; then the costs of the
reference SPEC (section 8) and of the published traces: left of each arrow the reference, right of
it ours.
"""

import json
from collections.abc import Iterator
from typing import Any

import click
from beside import NeedsModel, Parameter, Rule, pair, show, show_reference, verdict
from published import Line, markdown, number, read, reference

from desim import play
from desim.show.console import console
from desim.show.table import Table
from models.beer_game import BeerGame
from models.beer_game.rules import rule

PAPER = "firmbench"

#: The rules of the SPEC's section 8, in the order of its table.
BENCHMARK = (
    "last_demand",
    "foresight",
    "constant,quantity=400",
    "constant,quantity=100",
    "constant,quantity=0",
    "typical",
    "base_stock,target=400",
    "base_stock,target=1200",
    "smoothing,weeks=4",
    "fallback",
    "perfect",
)
#: The players of the published board games that have no parameters.
PLAIN = {"order 4 always": "constant,quantity=4", "order = incoming order": "last_demand"}


def parameter(line: Line, _: str) -> Any:
    """Return a parameter of preset `paper` by its name in the paper."""
    game = BeerGame.preset("paper")
    _, low, high, week = game.demand.split(":")
    own = {
        "demand_low": int(low),
        "demand_high": int(high),
        "demand_step_week": int(week) + 1,  # the paper counts from 1
        "information_delay": game.order_delay,
        "shipment_delay": game.ship_delay,
        "backorder_cost": game.backlog_cost,
        "minimum_inventory_cost": game.minimum_holding_cost,
        "smoothing_window": int(game.opponents.split(":")[1]),
        "stages": len(game.stages),
        "alpha": order(game.opponents, want=1),
        "beta": order(game.opponents, owed=1),
    }
    return own[line.label] if line.label in own else getattr(game, line.label)


def order(name: str, want: int = 0, owed: int = 0) -> Any:
    """Return what a stage without a player orders for one unit of target, or of backlog, alone."""
    return rule(name, upstream=False)(0, 0, owed, 0, want)


RULES = (
    Rule("table_1", "*BeerGame", "*", NeedsModel("firmbench.toml")),
    Rule("parameters_beer_game", "*", "*", Parameter("preset paper", parameter)),
)


@click.command()
def main() -> None:
    """Print the published sheets, the costs of the benchmark and those of the board game."""
    out = console()
    show(out, read(PAPER), RULES)
    show_reference(out, benchmark, board)


def benchmark() -> Table:
    """Return the table of the retailer's cost over 25 weeks, preset `firmbench`."""
    (_, *head), *lines = markdown("beer_game/SPEC.md", "8. Reference results")
    opponents = [text.split("`")[1] for text in head]
    rows = []
    for spec, (_, *known) in zip(BENCHMARK, lines, strict=True):
        published = list(map(number, known))
        ours = [retailer_cost(spec, against) for against in opponents]
        rows.append([spec, *map(pair, published, ours), verdict(published, ours)])
    heads = ["SPEC: retailer's cost, by our rule", *(f"against {o}" for o in opponents), "same"]
    return Table(heads, rows)


def retailer_cost(spec: str, against: str) -> float:
    """Return the retailer's cost of an episode."""
    game = BeerGame.preset("firmbench", opponents=against)
    return float(play(game, spec).metrics["cost_retailer"])


def board() -> Table:
    """Return the table of all four stages' costs in the board game, with one rule for all."""
    rows = []
    for name, spec in games():
        trace = json.loads(reference(f"beer_game/traces/{name}.json").read_text())
        game = BeerGame.preset("classic", horizon=trace["weeks"])
        metrics = play(game, dict(zip(game.stages, spec, strict=True))).metrics
        ours = [metrics[f"cost_{stage}"] for stage in game.stages]
        published = [trace["totals"][stage] for stage in game.stages]
        total = (trace["team_total"], metrics["total_cost_supply_chain"])
        same = verdict([*published, total[0]], [*ours, total[1]])
        costs = " / ".join(f"{cost:g}" for cost in ours)
        rows.append([f"{name}: {trace['about']}", trace["weeks"], costs, pair(*total), same])
    return Table(["board game, all stages", "weeks", "stages", "team", "same"], rows)


def games() -> Iterator[tuple[str, list[Any]]]:
    """Yield the names of the published board games, and the players of the four stages."""
    for file in sorted(reference("beer_game/traces").glob("cl*.json")):
        trace = json.loads(file.read_text())
        rule = trace["policy"]
        if isinstance(rule, str):
            yield file.stem, [PLAIN[rule]] * len(trace["totals"])
        else:
            rounding = "none" if rule["rounding"] == "none" else "half_up"
            terms = f"theta={rule['theta']},alpha={rule['alpha']},beta={rule['beta']}"
            targets = rule["S_prime"]
            yield file.stem, [f"sterman,{terms},rounding={rounding},target={t}" for t in targets]


if __name__ == "__main__":
    main()
