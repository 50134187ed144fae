"""Which rule is best in the Beer Game where a decision takes weeks?

All rules play the retailer on the same held-out seeds, and each decision takes the same number of
weeks, in which the retailer orders nothing. The rules do not observe it.
"""

import click

from desim import Rows, sweep
from desim.show.table import Table
from desim.statistics import Interval, interval

MODEL, LATENCY = "beer_game/poisson", "thinking.latency"
RULES = ("order_up_to", "base_stock", "typical", "smoothing,weeks=4", "greedy", "last_demand")
LATENCIES = (0, 1, 2, 3, 4)

#: The first held-out seed; boards and examples use small ones.
HELD_OUT = 20_000


@click.command()
@click.option("--seeds", default=200, show_default=True, help="Held-out seeds of every rule.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the mean scores by rule and latency, and the best rule at each latency."""
    held_out = range(HELD_OUT, HELD_OUT + seeds)
    rows = sweep(MODEL, RULES, held_out, set={LATENCY: LATENCIES}, jobs=jobs)
    means = {rule: [mean(rows, rule, weeks) for weeks in LATENCIES] for rule in RULES}
    print(f"{MODEL}, retailer, {seeds} held-out seeds; mean score and 95 % interval, money")
    lines = [
        [rule, *(f"{one.mean:,.0f} ± {one.mean - one.low:.0f}" for one in its)]
        for rule, its in means.items()
    ]
    print(Table(["rule", *(f"{weeks} weeks" for weeks in LATENCIES)], lines))
    for at, weeks in enumerate(LATENCIES):
        print(f"{weeks} weeks: {max(RULES, key=lambda rule: means[rule][at].mean)} leads")


def mean(rows: Rows, rule: str, weeks: int) -> Interval:
    """Return the mean score of a rule at a latency."""
    return interval(rows.where(policy=rule, **{LATENCY: weeks}).values("score"))


if __name__ == "__main__":
    main()
