"""What is it worth to a start-up to avoid adversarial clients, by the size of its team?

`focus` keeps one task open for every four people. It plays once with the names of the published
adversarial clients, which no report reveals, and once taking the tasks of all clients; nothing else
differs, and both play the same seeds.
"""

import click

from desim import Rows, sweep
from desim.statistics.pairing import paired

TEAMS = [4, 8, 12, 16, 24]
AVOIDS, TAKES = "focus", "focus,avoid="
THOUSAND = 1e3


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Seeds of every point, from 0.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print funds at the end by team size, and the value of avoiding, in all and per person."""
    changes = {"num_employees": TEAMS}
    rows = sweep("yc_bench", [AVOIDS, TAKES], range(seeds), set=changes, jobs=jobs)
    print(f"yc_bench, {seeds} seeds; funds at the end, dollars")
    print(rows.table(by=["num_employees", "policy"], show="score"))
    print("\nwhat it is worth to avoid them, thousand dollars [95 % interval]")
    for team in TEAMS:
        in_all, each = (gain(rows.where(num_employees=team), unit) for unit in (1, team))
        print(f"{team:3} people: {in_all}, a person {each}")


def gain(rows: Rows, people: int) -> str:
    """Return the paired difference of avoiding to taking, thousand dollars for so many people."""
    mine, theirs = (rows.where(policy=one).by_seed("score") for one in (AVOIDS, TAKES))
    unit = THOUSAND * people
    found = paired(
        {seed: value / unit for seed, value in mine.items()},
        {seed: value / unit for seed, value in theirs.items()},
    )
    return f"{found.mean:z,.0f} [{found.low:z,.0f}, {found.high:z,.0f}]"


if __name__ == "__main__":
    main()
