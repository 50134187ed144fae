"""How fast is desim compared with published times and with itself, measured in one run?

Both sides of a row do the same work; each time is the least of several interleaved runs, so that a
change of the machine's speed affects both. The section `twin` is measured in processor time.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import click

from desim import play, sweep
from desim.episodes.lineup import resolve
from desim.lanes import lanes_of, play_lanes
from desim.show.console import console
from desim.show.table import Table
from models.beer_game import BeerGame
from models.edt import EnterpriseDigitalTwin
from models.enterprise_arena import EnterpriseArena
from models.yc_bench import YCBench

Work = Callable[[], object]

#: The lines of a section: what, desim, the other, their ratio, the target.
Lines = list[tuple[str, ...]]

SWEPT = 400

#: Seconds of one episode of the published simulator, in process: reference SPEC of edt, section 15.
EDT_PUBLISHED = 0.084

#: Seconds of a greedy year of the published runner, and its seed: reference `bots.md`, section 3.
YC_PUBLISHED, YC_SEED = 2.8, 5


def edt(runs: int) -> Lines:
    """Episodes of the published firm, against the published time."""
    (ours,) = best(runs, many(partial(play, EnterpriseDigitalTwin(), "simple"), 50))
    ratio = f"{EDT_PUBLISHED / (ours / 50):.0f} times"
    what = "EDT, 96 steps, ledger on, over the published time"
    return [(what, f"{ours / 50 * 1e3:.2f} ms", "84 ms (paper)", ratio, "40 times")]


def yc_bench(runs: int) -> Lines:
    """A greedy year of the published runner."""
    game = YCBench.preset("direct")
    (ours,) = best(runs, partial(play, game, "published_greedy", YC_SEED))
    what = f"YC-Bench, a greedy year, seed {YC_SEED}, world kept"
    ratio = f"{YC_PUBLISHED / ours:.0f} times"
    return [(what, f"{ours * 1e3:.1f} ms", "2.8 s (published)", ratio, "150 times")]


def arena(runs: int) -> Lines:
    """Eleven years of a lender's books, with every month's action."""
    game, policies = EnterpriseArena(), ("raise_when_free", "raise_below,floor=15_000_000")
    works = [many(partial(play, game, policy, 1), 10) for policy in policies]
    return [
        (f"EnterpriseArena, 132 months, {policy}", f"{10 / ours:,.0f}/s", "—", "—", "150/s")
        for policy, ours in zip(policies, best(runs, *works), strict=True)
    ]


def twin(runs: int) -> Lines:
    """Compare a thousand games on arrays with `play`, in decisions a second."""
    game, policies = BeerGame.preset("poisson"), {"retailer": "order_up_to"}
    rules = resolve(game, policies, 0).policies
    on_arrays = lanes_of(game, tuple(rules), range(1_000))
    decisions = sum(one["decisions"] for one in play_lanes(on_arrays, rules))
    steps = len(play(game, policies, 1).steps)
    works = (
        lambda: play_lanes(lanes_of(game, tuple(rules), range(1_000)), rules),
        partial(play, game, policies, 1),
    )
    ours, other = best(runs, *works, clock=time.process_time)
    what, rates = "Beer Game, 1,000 games on arrays over play", (decisions / ours, steps / other)
    return [(what, *(f"{each:,.0f}/s" for each in rates), f"{rates[0] / rates[1]:.0f}", "300")]


def sweeps(runs: int) -> Lines:
    """Measure a sweep's time to its first row, and its speed-up on two cores."""
    jobs = min(2, os.cpu_count() or 1)
    model, spec = "beer_game/poisson", "benchmark"
    swept = partial(sweep, model, [spec], range(SWEPT))
    two = partial(sweep, model, [spec], range(jobs), jobs=jobs)
    (first,) = best(1, two)  # the workers may be kept, and the next sweep need not start any
    (again,) = best(runs, two)
    alone, both = best(max(2, runs // 2), swept, partial(swept, jobs=jobs))
    return [
        (f"sweep, start of {jobs} workers to first rows", f"{first:.2f} s", "—", "—", "0.4 s"),
        (f"sweep, a second one of {jobs} rows", f"{again:.3f} s", "—", "—", "0.05 s"),
        (
            f"sweep, {SWEPT} episodes, {jobs} workers over 1",
            f"{alone / both:.2f}",
            "—",
            "—",
            f"{0.9 * jobs:.1f}",
        ),
    ]


def start_up(runs: int) -> Lines:
    """Importing desim and printing the help, against Python alone."""
    nothing = _command("-c", "pass")
    rows = []
    for what, arguments, target in (
        ("import desim", ("-c", "import desim"), "0.15 s"),
        ("desim --help", ("-m", "desim", "--help"), "0.3 s"),
    ):
        ours, bare = best(runs, _command(*arguments), nothing)
        rows.append((what, f"{ours:.3f} s", f"{bare:.3f} s", f"{ours / bare:.1f}", target))
    return rows


def best(runs: int, *works: Work, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Return the least seconds of each work, run in turn, by a clock that counts seconds."""
    least = [float("inf")] * len(works)
    for _ in range(runs):
        for at, work in enumerate(works):
            start = clock()
            work()
            least[at] = min(least[at], clock() - start)
    return least


def many(work: Work, times: int) -> Work:
    """Return a work that repeats another one."""

    def repeat() -> None:
        for _ in range(times):
            work()

    return repeat


def _command(*arguments: str) -> Work:
    return partial(subprocess.run, [sys.executable, *arguments], check=True, capture_output=True)


SECTIONS = {each.__name__: each for each in (edt, yc_bench, arena, twin, sweeps, start_up)}


@click.command()
@click.option("--runs", default=5, show_default=True, help="Interleaved runs of each side.")
@click.option("--section", multiple=True, type=click.Choice(list(SECTIONS)), help="Default: all.")
def main(runs: int, section: tuple[str, ...]) -> None:
    """Measure and print every row."""
    lines = [line for name in section or SECTIONS for line in SECTIONS[name](runs)]
    console().print(Table(("what", "desim", "other", "ratio", "target"), lines))


if __name__ == "__main__":  # spawn imports this file again
    main()
