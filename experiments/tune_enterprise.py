"""Which rule of each seat makes a group worth most, given the rules of all other seats?

From the line-up `tuned`, each seat in turn tries the rules of `CANDIDATES` on the same training
seeds (common random numbers) and keeps the best; a round without a change ends the search. The
result, `tuned` and `laissez_faire` are then played on held-out seeds.

`policies/heuristics/enterprise.py` holds what this prints with its default arguments, as `planned`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from statistics import fmean

import click

from desim import sweep
from desim.statistics.pairing import paired
from models.enterprise import Enterprise
from policies.heuristics.enterprise import lineups

#: Training and held-out seeds; boards and examples use small seeds, which are in neither.
TRAINING, HELD_OUT = 10_000, 20_000

#: Rules by seat. The founder comes last, as an episode of a planner takes ten times as long. The
#: stages of the plant have one rule together.
CANDIDATES = {
    "consultancy.manager": ("greedy", "simple"),
    "plant": ("order_up_to", "echelon_base_stock"),
    "controller": tuple(f"cash_pool,months={n},least=100000,slack=2" for n in (1, 2, 3)),
    "treasury.cfo": ("raise_below,floor=300000,amount=1000000", "never_raise"),
    "startup.founder": (
        "learning_focus",
        "planner",
        "planner,rerolls=10",
        "planner,rerolls=10,load=3",
    ),
}

#: Rules by seat, and what returns the mean score of them on the training seeds, dollars.
LineUp = dict[str, str]
Mean = Callable[[LineUp], float]


@click.command()
@click.option("--preset", default="group", type=click.Choice(list(Enterprise.presets)))
@click.option("--training", default=2, show_default=True, help="Training seeds, from 10,000.")
@click.option("--held-out", default=3, show_default=True, help="Held-out seeds, from 20,000.")
@click.option("--rounds", default=1, show_default=True, help="Most rounds over all seats.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1))
def main(preset: str, training: int, held_out: int, rounds: int, jobs: int) -> None:
    """Print every comparison, the line-up found, and its scores on held-out seeds."""
    group = Enterprise.preset(preset)
    named = lineups(group)
    seats = {seat: rules for seat, rules in CANDIDATES.items() if of_seat(named["tuned"], seat)}
    seeds = range(TRAINING, TRAINING + training)

    @cache
    def known(rules: tuple[tuple[str, str], ...]) -> float:
        return fmean(scores(group, dict(rules), seeds, jobs))

    found = ascended(dict(named["tuned"]), seats, rounds, lambda one: known(tuple(one.items())))
    print(f"{preset}; found:")
    for role, rule in found.items():
        print(f"  {role}={rule}")
    last = [found, named["tuned"], named["laissez_faire"]]
    held = range(HELD_OUT, HELD_OUT + held_out)
    best, tuned, alone = (scores(group, each, held, jobs) for each in last)
    print(f"mean on {held_out} held-out seeds: {fmean(best):,.0f}")
    print(f"gain over tuned, paired: {paired(best, tuned)}")
    print(f"gain over laissez_faire, paired: {paired(best, alone)}")


def ascended(
    line_up: LineUp, seats: Mapping[str, tuple[str, ...]], rounds: int, mean: Mean
) -> LineUp:
    """Return a line-up that no change of a single seat improves, or that of the last round."""
    for _ in range(rounds):
        before = line_up
        for seat, rules in seats.items():
            line_up = max((changed(line_up, seat, one) for one in rules), key=mean)
            print(f"{mean(line_up):14,.0f}  {seat}={line_up[of_seat(line_up, seat)[0]]}")
        if line_up == before:
            break
    return line_up


def changed(line_up: LineUp, seat: str, rule: str) -> LineUp:
    """Return a line-up with another rule in a seat, or in all seats of a part."""
    return {**line_up, **dict.fromkeys(of_seat(line_up, seat), rule)}


def of_seat(line_up: Mapping[str, str], seat: str) -> list[str]:
    """Return the roles of a seat or of a part."""
    return [role for role in line_up if role == seat or role.startswith(f"{seat}.")]


def scores(group: Enterprise, line_up: Mapping[str, str], seeds: range, jobs: int) -> list[float]:
    """Return the scores of a line-up in the order of the seeds, dollars."""
    return sweep(group, [line_up], seeds, executor=f"processes={jobs}").values("score")


if __name__ == "__main__":
    main()
