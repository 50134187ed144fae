"""How fast is desim compared with bare SimPy and published times, measured in one run?

Both sides of a row do the same work; each time is the least of several interleaved runs, so that a
change of the machine's speed affects both. The section `twin` is measured in processor time.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import click
import simpy
from attrs import frozen

from desim import Model, Policy, Role, Run, World, play, sweep
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

ASKED = 20_000
SWEPT = 400

#: Seconds of one episode of the published simulator, in process: reference SPEC of edt, section 15.
EDT_PUBLISHED = 0.084

#: Seconds of a greedy year of the published runner, and its seed: reference `bots.md`, section 3.
YC_PUBLISHED, YC_SEED = 2.8, 5


@frozen
class Seen:
    """A number."""

    n: int


@frozen
class Repeat:
    """Answer with a number."""

    n: int


@frozen
class Null(Model[None]):
    """A model that opens one decision a tick and does nothing else."""

    questions: int = ASKED

    @property
    def roles(self) -> dict[str, Role]:
        """One role."""
        return {"echo": Role(Seen, Repeat)}

    def begin(self, world: World) -> None:
        """Start asking."""
        world.process(self._ask(world))

    def _ask(self, world: World) -> Generator[Any, Any, None]:
        for n in range(self.questions):
            yield world.ask("echo", partial(Seen, n))
            yield world.timeout(1)

    def score(self, _: None) -> float:
        """Return 0."""
        return 0.0

    def metrics(self, _: None) -> dict[str, Any]:
        """Return no metrics."""
        return {}


class Echo(Policy):
    """Answers with the number observed."""

    def decide(self, seen: Seen) -> Repeat:
        """Return the number."""
        return Repeat(seen.n)


def decisions(runs: int) -> Lines:
    """Validated, recorded decisions on a null model, against bare SimPy timeouts."""
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = best(runs, partial(_null, Path(folder)), _bare_timeouts)
    return [
        (
            "decision, validated and recorded, over two SimPy timeouts",
            f"{ASKED / ours:,.0f}/s",
            f"{ASKED / bare:,.0f}/s",
            f"{ours / bare:.2f}",
            "150,000/s",
        )
    ]


def edt(runs: int) -> Lines:
    """Episodes of the published firm, as played and as a bare run, against the published time."""
    game = EnterpriseDigitalTwin()
    action = play(game, "simple").steps[0].action
    played, bare = best(
        runs, many(partial(play, game, "simple"), 50), many(partial(_edt_run, game, action), 50)
    )
    return [
        (what, f"{ours / 50 * 1e3:.2f} ms", "84 ms (paper)", f"{faster:.0f} times", "40 times")
        for what, ours, faster in (
            ("EDT, 96 steps, ledger on, over the published time", played, _edt_faster(played)),
            ("EDT, the same without records and policies", bare, _edt_faster(bare)),
        )
    ]


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


def _edt_run(game: EnterpriseDigitalTwin, action: Any) -> None:
    run = Run(game)
    (decision,) = run.advance()
    run.answer(decision, action)
    run.advance()
    run.result()


def _edt_faster(seconds_of_50: float) -> float:
    return EDT_PUBLISHED / (seconds_of_50 / 50)


def _null(folder: Path) -> None:
    record = folder / "null.jsonl"
    record.unlink(missing_ok=True)
    play(Null(), {"echo": Echo()}, record=record)


def _bare_timeouts() -> None:
    env = simpy.Environment()

    def wait() -> Generator[Any, Any, None]:
        for _ in range(2 * ASKED):
            yield env.timeout(1)

    env.process(wait())
    env.run()


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


SECTIONS = {
    each.__name__: each for each in (decisions, edt, yc_bench, arena, twin, sweeps, start_up)
}


@click.command()
@click.option("--runs", default=5, show_default=True, help="Interleaved runs of each side.")
@click.option("--section", multiple=True, type=click.Choice(list(SECTIONS)), help="Default: all.")
def main(runs: int, section: tuple[str, ...]) -> None:
    """Measure and print every row."""
    lines = [line for name in section or SECTIONS for line in SECTIONS[name](runs)]
    console().print(Table(("what", "desim", "other", "ratio", "target"), lines))


if __name__ == "__main__":  # spawn imports this file again
    main()
