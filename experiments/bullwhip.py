"""How does the bullwhip depend on the delays and on Sterman's beta?

All stages of the Beer Game play Sterman's rule on random demand. A full two-level design varies the
weeks that orders and shipments take, the share of a gap that is ordered (alpha), and the share of
the supply line that is counted (beta); every point plays the same seeds. The bullwhip is the
variance of the factory's orders over that of the customers' demand. It is skewed, so that effects
are those on its natural logarithm: one of 0.69 doubles it.
"""

import math
from typing import Any

import click

from desim import Rows, sweep
from desim.statistics.intervals import interval
from desim.studies.effects import effects

STAGES = ("retailer", "wholesaler", "distributor", "factory")
SHORT, LONG = 1, 3
FACTORS = {
    "order_delay": [SHORT, LONG],
    "ship_delay": [SHORT, LONG],
    "policy.alpha": [0.1, 0.5],
    "policy.beta": [0.0, 1.0],
}
FIGURE, LOG = "bullwhip_supply_chain", "log_bullwhip"


@click.command()
@click.option("--seeds", default=50, show_default=True, help="Seeds of every point, from 0.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the bullwhip by delay and beta, all effects on its logarithm, and the answer."""
    rows = played(seeds, jobs)
    print(rows.table(by=["order_delay", "ship_delay", "policy.beta"], show=FIGURE))
    print(f"\n{effects(rows, show=LOG)}\n")
    for beta in (0.0, 1.0):
        print(f"beta {beta:g}: delays of {LONG} weeks multiply the bullwhip by {times(rows, beta)}")


def played(seeds: int, jobs: int) -> Rows:
    """Return the rows, with the logarithm of the bullwhip as a metric."""
    policies = dict.fromkeys(STAGES, "sterman")
    rows = sweep("beer_game/poisson", policies, range(seeds), set=FACTORS, jobs=jobs)
    return Rows([{**row, "metrics": {**row["metrics"], LOG: log_bullwhip(row)}} for row in rows])


def log_bullwhip(row: dict[str, Any]) -> float:
    """Return the natural logarithm of a row's bullwhip."""
    return math.log(row["metrics"][FIGURE])


def times(rows: Rows, beta: float) -> str:
    """Return what long delays of orders and shipments multiply the bullwhip by, with its interval.

    It is the geometric mean over seeds, and over both values of alpha.
    """
    chosen = [r for r in rows if r["arguments"]["beta"] == beta]
    long, short = (
        Rows([r for r in chosen if r["params"] == {"order_delay": d, "ship_delay": d}]).by_seed(LOG)
        for d in (LONG, SHORT)
    )
    found = interval([long[seed] - short[seed] for seed in short])
    ends = (math.exp(end) for end in (found.low or 0, found.high or 0))
    return f"{math.exp(found.mean):.2f} [{', '.join(f'{end:.2f}' for end in ends)}]"


if __name__ == "__main__":
    main()
