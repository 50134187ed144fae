"""Which rule is best in the Beer Game where a decision takes weeks?

All rules play the retailer on the same held-out seeds, and each decision takes the same number of
weeks, in which the retailer orders nothing. The rules do not observe it. `tuned` is `base_stock`
with the target, among `TARGETS`, of the highest mean score at that latency on the tuning seeds.
"""

from collections.abc import Mapping, Sequence

import click

from desim import Rows, sweep
from desim.show.table import Table
from desim.statistics import Interval, interval

MODEL, LATENCY, TARGET = "beer_game/poisson", "thinking.latency", "policy.target"
RULES = ("order_up_to", "base_stock", "typical", "smoothing,weeks=4", "greedy", "last_demand")
LATENCIES = (0, 1, 2, 3, 4)

#: Boards and examples use small seeds, which are in neither.
TUNING, HELD_OUT = 10_000, 20_000
TARGETS = tuple(range(12, 60, 2))

#: The means of a rule by weeks of latency.
Curve = Mapping[int, Interval]


def curve(rows: Rows, policy: str) -> Curve:
    """Return the mean scores of a rule."""
    scores = {
        weeks: [row["score"] for row in rows.where(policy=policy, **{LATENCY: weeks})]
        for weeks in LATENCIES
    }
    return {weeks: interval(each) for weeks, each in scores.items()}


def tuned(seeds: int, tuning: int, jobs: int) -> tuple[dict[int, int], Curve]:
    """Return the best target at each latency, and the mean scores of these on held-out seeds."""
    trials = sweep(
        MODEL,
        "base_stock",
        range(TUNING, TUNING + tuning),
        set={LATENCY: LATENCIES, TARGET: TARGETS},
        jobs=jobs,
    )
    best = {weeks: max(TARGETS, key=lambda one: mean(trials, weeks, one)) for weeks in LATENCIES}
    found = {}
    for weeks, target in best.items():
        rule = f"base_stock,target={target}"
        rows = sweep(MODEL, rule, held_out(seeds), set={LATENCY: [weeks]}, jobs=jobs)
        found[weeks] = interval([row["score"] for row in rows])
    return best, found


def mean(rows: Rows, weeks: int, target: int) -> float:
    """Return the mean score of a target at a latency."""
    return interval([row["score"] for row in rows.where(**{LATENCY: weeks, TARGET: target})]).mean


def held_out(seeds: int) -> range:
    """Return the seeds of the comparison."""
    return range(HELD_OUT, HELD_OUT + seeds)


def table(curves: Mapping[str, Curve]) -> Table:
    """Return the mean scores and half their intervals, a line a rule."""
    lines = [
        [name, *(f"{one.mean:,.0f} ± {one.mean - one.low:.0f}" for one in means.values())]
        for name, means in curves.items()
    ]
    return Table(["rule", *(f"{weeks} weeks" for weeks in LATENCIES)], lines)


def ranked(curves: Mapping[str, Curve], best: Mapping[int, int]) -> Sequence[str]:
    """Return for each latency the best rule that was not tuned for it, and the tuned target."""
    names = [name for name in curves if name != "tuned"]
    firsts = {weeks: max(names, key=lambda one: curves[one][weeks].mean) for weeks in LATENCIES}
    return [
        f"{weeks} weeks: {firsts[weeks]} leads; tuned target {best[weeks]}" for weeks in LATENCIES
    ]


@click.command()
@click.option("--seeds", default=200, show_default=True, help="Held-out seeds of every rule.")
@click.option("--tuning", default=40, show_default=True, help="Seeds of every target.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(seeds: int, tuning: int, jobs: int) -> None:
    """Print the mean scores by rule and latency."""
    rows = sweep(MODEL, RULES, held_out(seeds), set={LATENCY: LATENCIES}, jobs=jobs)
    curves = {rule: curve(rows, rule) for rule in RULES}
    best, curves["tuned"] = tuned(seeds, tuning, jobs)
    print(f"{MODEL}, retailer, {seeds} held-out seeds; mean score and 95 % interval, money")
    print(table(curves))
    print(*ranked(curves, best), sep="\n")


if __name__ == "__main__":
    main()
