"""Does a bigger cash cushion keep the lender alive, and what does it cost?

`raise_below` requests 20 million of equity or of debt in every month that opens with less cash than
a floor; all play the same seeds. A company that fails scores nothing, so that the score mixes
survival with the price of the cushion. The price is therefore the score less debt owed and equity
raised, on the seeds on which the company survives with a floor and with the next smaller one.
"""

from itertools import pairwise, product
from typing import Any

import click

from desim import Rows, sweep
from desim.statistics.pairing import paired

FLOORS = [5e6, 10e6, 15e6, 20e6, 30e6, 40e6]
KINDS = ("equity", "debt")
MILLION = 1e6


@click.command()
@click.option("--preset", default="capped", show_default=True)
@click.option("--seeds", default=200, show_default=True, help="Seeds of every floor, from 0.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(preset: str, seeds: int, jobs: int) -> None:
    """Print survival, score and capital raised by floor, and the cost of the next larger floor."""
    model, rules = f"enterprise_arena/{preset}", [f"raise_below,instrument={i}" for i in KINDS]
    rows = sweep(model, rules, range(seeds), set={"policy.floor": FLOORS}, jobs=jobs)
    print(f"{model}, raise_below with 20 million a request, {seeds} seeds; dollars")
    shown = ["survived", "score", "total_raised"]
    print(rows.table(by=["policy.instrument", "policy.floor"], show=shown))
    print("\nwhat a larger floor costs: score less debt owed and equity raised, both survive")
    for kind, (smaller, floor) in product(KINDS, pairwise(FLOORS)):
        floors = f"{smaller / MILLION:g} to {floor / MILLION:g} million"
        print(f"{kind}, {floors}: {cost(alive(rows, kind), smaller, floor)}")


def alive(rows: Rows, kind: str) -> Rows:
    """Return the rows of an instrument whose company survives."""
    return rows.where(**{"policy.instrument": kind, "survived": True})


def cost(rows: Rows, smaller: float, floor: float) -> str:
    """Return the change of the survivors' net score by a larger floor, in words."""
    nets = [
        {row["seed"]: net(row) for row in rows.where(**{"policy.floor": one})}
        for one in (floor, smaller)
    ]
    shared = nets[0].keys() & nets[1].keys()
    if len(shared) < 2:
        return f"only {len(shared)} seed(s) on which both survive"
    found = paired(*nets)
    return f"{found.mean:z.2f} million [{found.low:z.2f}, {found.high:z.2f}] ({found.n} seeds)"


def net(row: dict[str, Any]) -> float:
    """Return the score less the debt owed at the end and the equity raised, millions."""
    metrics = row["metrics"]
    return float(metrics["score_net_of_debt"] - metrics["equity_raised"]) / MILLION


if __name__ == "__main__":
    main()
