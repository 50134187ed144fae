"""Do our rules cost what the published Beer Game says they cost, in the benchmark and on the board?

Left of each arrow the figure of the reference SPEC (sections 8 and 10), right of it ours.
"""

from beside import pair, table, verdict
from rich.console import Console
from rich.table import Table

from desim import play
from models.beer_game import BeerGame

#: Policy of the retailer, cost against `typical` and against `smoothing:4` opponents, 25 weeks.
BENCHMARK = {
    "last_demand": (26_100, 32_062),
    "foresight": (17_500, 24_309),
    "constant,quantity=400": (7_600, 12_117),
    "constant,quantity=100": (78_700, 78_700),
    "constant,quantity=0": (104_000, 104_000),
    "typical": (53_250, 94_770),
    "base_stock,target=400": (18_150, 54_861.5),
    "base_stock,target=1200": (30_200, 43_315.5),
    "smoothing,weeks=4": (16_684, 24_621),
    "fallback": (35_675, 57_766),
    "perfect": (7_600, 9_215),
}

#: What everybody orders by, weeks, weeks of forced orders, cost of the stages and of the team.
BOARD: list[tuple[str, int, int, tuple[float, ...] | None, float]] = [
    ("benchmark", 36, 4, (46, 50, 54, 54), 204),
    ("benchmark", 35, 4, None, 204),
    ("benchmark", 37, 4, None, 204),
    ("benchmark", 36, 0, (36, 44, 52, 48), 180),
    ("last_demand", 36, 4, None, 792),
    ("constant,quantity=4", 36, 4, None, 2_418),
]


def main() -> None:
    """Print both tables."""
    out = Console(highlight=False, width=110)
    out.print(benchmark())
    out.print(board())


def benchmark() -> Table:
    """Cost of the retailer over 25 weeks, firmbench preset."""
    opponents = ("typical", "smoothing:4")
    rows = table("firmbench, cost of the retailer", *(f"against {o}" for o in opponents), "same")
    for spec, published in BENCHMARK.items():
        ours = [_retailer_cost(spec, against) for against in opponents]
        cells = [pair(p, o) for p, o in zip(published, ours, strict=True)]
        rows.add_row(spec, *cells, verdict(list(published), ours))
    return rows


def board() -> Table:
    """Cost of all four stages on the board, everybody following one rule."""
    rows = table("classic, everybody orders by", "weeks", "forced", "stages", "team", "same")
    for spec, weeks, forced, stages, team in BOARD:
        game = BeerGame.preset("classic", horizon=weeks, forced_weeks=forced)
        told = play(game, dict.fromkeys(game.stages, spec)).metrics
        each = [told[f"cost_{name}"] for name in game.stages]
        total = told["total_cost_supply_chain"]
        same = verdict([*(stages or each), team], [*each, total])
        shown = " / ".join(f"{cost:g}" for cost in each)
        rows.add_row(spec, str(weeks), str(forced), shown, pair(team, total), same)
    return rows


def _retailer_cost(spec: str, against: str) -> float:
    cost: float = play(BeerGame.preset(opponents=against), spec).metrics["total_cost_controlled"]
    return cost


if __name__ == "__main__":
    main()
