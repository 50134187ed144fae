"""How many seeds does each world need?

From the baselines without informed ones: the seeds for an interval of 5 % of the mean at each side,
for the best policy and for the one that needs most; and the seeds that tell the best two apart with
a probability of 80 %, if their difference and its variance are as observed.
"""

from collections.abc import Sequence

import click
from attrs import evolve

from desim.show.console import console
from desim.show.labels import NOTHING
from desim.show.table import Table
from desim.statistics.intervals import Interval, seeds_needed
from desim.statistics.variance import MOST_RUNS, runs_needed
from desim.studies.boards.leaderboard import Board, boards, everything
from desim.studies.boards.ranking import BoardLine

PRECISION = 0.05  # half the interval, as a share of the mean
HEADS = ("world", "best", "for 5 %", "most for 5 %", "of", "second", "to tell apart")


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL[/PRESET]]...")
@click.option("--seeds", default=40, show_default=True, type=click.IntRange(2))
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1))
def main(models: Sequence[str], seeds: int, jobs: int) -> None:
    """Print one line for each preset of some models, or of all."""
    played = boards(everything(models), range(seeds), jobs)
    lines = [[board.name, *cells(board)] for board in played]
    note = (
        f"from {seeds} seeds. exact: each has the same episode; where some have, as cases in turn, "
        f"more are needed. {NOTHING}: no spread, mean 0, no second. tied: over {MOST_RUNS:,}."
    )
    console().print(Table(HEADS, lines, (0, 1, 4, 5), notes=[note]))


def cells(board: Board) -> list[str]:
    """Return the texts of one world; the differences of a board are to its first entrant."""
    needed = {one.policies[0]: needs(one.estimate) for one in rivals(board) if one.estimate}
    if not needed:
        return [NOTHING] * (len(HEADS) - 1)
    best, widest = next(iter(needed)), max(needed, key=lambda name: needed[name] or 0)
    order = tuple(sorted(board.entrants, key=lambda one: one.spec != best))
    fixed = {one.spec for one in order if one.fixed}
    own, most = ("exact" if p in fixed else count(needed[p]) for p in (best, widest))
    others = rivals(evolve(board, entrants=order))
    second = [(one.policies[0], tell(one.difference.paired)) for one in others if one.difference]
    return [best, own, most, widest, *(second[0] if second else (NOTHING, NOTHING))]


def rivals(board: Board) -> list[BoardLine]:
    """Return the lines with a mean, without informed policies, the best first."""
    return [one for one in board.ranked() if one.estimate and not one.informed]


def needs(mean: Interval) -> int | None:
    """Return the seeds for `PRECISION`; None where nothing is known."""
    return seeds_needed(mean, PRECISION * abs(mean.mean)) if mean.mean else None


def tell(difference: Interval) -> str:
    """Return the seeds that tell the best two apart."""
    if difference.sd is None and difference.mean:
        return "exact"
    return count(runs_needed(difference.mean, (difference.sd or 0) ** 2), "tied")


def count(number: int | None, unknown: str = NOTHING) -> str:
    """Return a number of seeds as text."""
    return unknown if number is None else f"{number:,}"


if __name__ == "__main__":
    main()
