"""Does every call take a class of this very program, in this process and in workers?

Prints one line of JSON a call: its name, and what went wrong. `attack_sweeps.py` runs it as a
script, from standard input and as a notebook would.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from attrs import frozen

from desim import Episode, load, play, problem, select, sweep, workers
from desim.episodes.futures.branched_record import play_branch
from desim.jobs.rows.rows import Rows
from desim.studies.decisions.branch_comparison import compare_branches
from desim.studies.decisions.regret import regret
from desim.studies.tuning.tune import tune
from desim.studies.until import compare
from models.beer_game import BeerGame, Order, Stage

GAME = BeerGame.preset("poisson", horizon=6)
SEEDS = range(3)
VARIED: Any = {"policy.weeks": [3, 4]}
RANGES = {"policy.weeks": "int:2:5"}


@frozen
class Cover:
    """Keep some weeks of demand in stock and on the way."""

    weeks: int = 4

    def decide(self, stage: "Stage") -> "Order":
        """Order what is missing."""
        wanted = self.weeks * stage.incoming_order + stage.backlog
        return Order(max(0, int(wanted - stage.inventory - stage.supply_line)))


def swept(jobs: int, policy: Any = Cover, **more: Any) -> Rows:
    """Play a sweep and return its rows."""
    return sweep(GAME, policy, SEEDS, **{"set": VARIED, "jobs": jobs, **more})


def kept(jobs: int) -> Rows:
    """Play a sweep into a folder, go on with it, and read it."""
    with tempfile.TemporaryDirectory() as folder:
        first = swept(jobs, out=folder)
        assert swept(jobs, out=folder) == first
        return load(folder)


def in_kept_workers(jobs: int) -> Rows:
    """Play a sweep in workers that stay."""
    with workers(jobs) as pool:
        return swept(1, executor=pool)


def an_episode() -> Episode:
    """Play an episode of the class."""
    return play(GAME, Cover, 1)


def branched() -> float | None:
    """Record an episode, and play on from its second decision."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/episode.jsonl"
        play(GAME, "greedy", 1, record=file)
        return play_branch(file, 2, Cover).score


def compared(**other: Any) -> str:
    """Compare a decision with another one, both played on by the class."""
    return str(compare_branches(an_episode(), 2, then=Cover, futures=2, **other))


#: By name, with a number of worker processes; two numbers give equal results.
CALLS: dict[str, Callable[[int], Any]] = {
    "play": lambda _: an_episode().score,
    "sweep": lambda jobs: swept(jobs, set=None),
    "sweep, arguments": swept,
    "sweep, role": lambda jobs: swept(jobs, {"retailer": Cover, "factory": "greedy"}),
    "sweep, role's argument": lambda jobs: swept(
        jobs, {"retailer": Cover}, set={"policy.retailer.weeks": [3, 4]}
    ),
    "design": lambda jobs: swept(jobs, design="factorial"),
    "design, sampled": lambda jobs: swept(jobs, set=RANGES, design="lhs,size=3"),
    "kept rows": kept,
    "kept workers": in_kept_workers,
    "compare": lambda jobs: compare(GAME, Cover, until=99.0, set=VARIED, jobs=jobs).rows,
    "select": lambda jobs: select(GAME, Cover, delta=9.0, set=VARIED, jobs=jobs).rows,
    "tune": lambda jobs: tune(GAME, Cover, RANGES, budget=6, seeds=SEEDS, jobs=jobs).best,
    "problem": lambda jobs: problem(GAME, Cover, RANGES, seeds=SEEDS, jobs=jobs).mean([3]),
    "regret": lambda jobs: regret(an_episode(), Cover, futures=2, jobs=jobs).lines,
    "regret, against": lambda jobs: (
        regret(an_episode(), Cover, against=Cover, futures=2, jobs=jobs).lines
    ),
    "branch": lambda _: branched(),
    "branch, action": lambda _: compared(action=Order(9)),
    "branch, policy": lambda _: compared(policy=Cover),
}


def fault(call: Callable[[int], Any]) -> str:
    """Return what goes wrong with a call; an empty text if nothing does."""
    try:
        alone, together = call(1), call(2)
    except Exception as raised:  # noqa: BLE001 (whatever it is, it is printed)
        return f"{type(raised).__name__}: {raised}"
    if isinstance(alone, Rows) and alone.failed:
        return str(alone.failed[0]["error"])
    return "" if alone == together else "another result in workers"


def main() -> None:
    """Make the calls that are named, or all."""
    for name in sys.argv[1:] or CALLS:
        print(json.dumps({"call": name, "fault": fault(CALLS[name])}), flush=True)


if __name__ == "__main__":
    main()
