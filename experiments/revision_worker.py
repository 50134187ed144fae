"""Plays works of one revision on request; `revisions.py` starts one process for each revision.

It imports the desim that PYTHONPATH names and uses only what old revisions have too. A line
`WORK TIMES` on standard input is answered with the processor seconds that the work took, or with
`none` where the revision does not have it.
"""

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Work = Callable[[], object]

#: The multiples of a world's published horizon that are measured.
HORIZONS = (1, 2, 4, 8)


def _beer_game(preset: str, policy: str, times: int) -> Work:
    from desim import play
    from models.beer_game import BeerGame

    return partial(play, BeerGame.preset(preset, horizon=52 * times), policy, 1)


def _edt(times: int) -> Work:
    from attrs import evolve

    from desim import play
    from models.edt import EnterpriseDigitalTwin

    scenario = EnterpriseDigitalTwin().scenario
    longer = evolve(scenario, stoptime=times * scenario.stoptime)
    return partial(play, EnterpriseDigitalTwin(scenario=longer), "simple", 1)


def _arena(policy: str) -> Work:
    from desim import play
    from models.enterprise_arena import EnterpriseArena

    return partial(play, EnterpriseArena(), policy, 1)


def _long_arena(times: int) -> Work:
    """The published table ends after 132 months; drawn months do not, and this lender lasts."""
    from desim import play
    from models.enterprise_arena import EnterpriseArena

    lender = EnterpriseArena.preset("regime", horizon=132 * times, opening_cash=1e9)
    return partial(play, lender, "never_raise", 1)


def _yc_bench(policy: str, times: int) -> Work:
    from desim import play
    from models.yc_bench import YCBench

    return partial(play, YCBench(horizon_years=times), policy, 1)


def _enterprise(times: int) -> Work:
    from desim import play
    from models.enterprise import Enterprise
    from policies.heuristics.enterprise import lineups

    group = Enterprise.preset("group", months=7 * times)  # its treasury plans 60 months at most
    return partial(play, group, lineups(group)["tuned"], 1)


def _questions(model: str, policy: str) -> Work:
    from desim import play

    return partial(play, model, policy, 1)


def _recorded() -> Work:
    from desim import play
    from models.beer_game import BeerGame

    path = Path(tempfile.mkdtemp()) / "episode.jsonl"

    def work() -> None:
        path.unlink(missing_ok=True)
        play(BeerGame.preset("poisson"), "benchmark", 1, record=path)

    return work


def _sweep(seeds: int, policy: str, **how: Any) -> Work:
    from desim import sweep

    return partial(sweep, "beer_game/poisson", [policy], range(seeds), **how)


def _lanes(model: str, policy: str) -> Work:
    """A thousand episodes at once, whose draws are kept from the second time on."""
    from desim.catalog import model as named
    from desim.episodes.lineup import resolve
    from desim.lanes.play_lanes import lanes_of, play_lanes

    world, seeds = named(model), range(1_000)

    def work() -> None:
        made = resolve(world, policy, 0).policies
        play_lanes(lanes_of(world, tuple(made), seeds), made)

    return work


def _regret(weeks: int) -> Work:
    from desim import play, regret
    from models.beer_game import BeerGame

    episode = play(BeerGame.preset("poisson", horizon=weeks), "order_up_to", 1)
    return partial(regret, episode, "order_up_to", futures=4)


def _rollout(times: int) -> Work:
    return _beer_game("poisson", "rollout,samples=2,candidates=2,depth=4", times)


def _tune() -> Work:
    from desim import tune

    ranges = {"policy.target": "int:0:60"}
    return partial(tune, "beer_game/poisson", "base_stock", ranges=ranges, budget=200)


def _command(*arguments: str) -> Work:
    return partial(subprocess.run, [sys.executable, *arguments], check=True, capture_output=True)


def _works() -> dict[str, Callable[[], Work]]:
    """Return the maker of each work by its name."""
    made: dict[str, Callable[[], Work]] = {}
    for times in HORIZONS:
        each: dict[str, Callable[[], Work]] = {
            "beer-game-one-seat": partial(_beer_game, "firmbench", "constant,quantity=400", times),
            "beer-game-four-seats": partial(_beer_game, "poisson", "benchmark", times),
            "yc-bench-greedy": partial(_yc_bench, "greedy", times),
            "enterprise": partial(_enterprise, times),
            "enterprise-arena-drawn": partial(_long_arena, times),
            "edt": partial(_edt, times),
        }
        made |= {f"{name}-x{times}": maker for name, maker in each.items()}
    return made | {
        "yc-bench-focus": partial(_yc_bench, "focus", 1),
        "enterprise-arena": partial(_arena, "raise_when_free"),
        "consulting": partial(_questions, "consulting", "framework"),
        "reasoning": partial(_questions, "reasoning", "random"),
        "beer-game-recorded": _recorded,
        "beer-game-sweep-100": partial(_sweep, 100, "benchmark"),
        "beer-game-sweep-2-jobs": partial(_sweep, 2, "benchmark", jobs=2),
        "beer-game-lanes": partial(_lanes, "beer_game/poisson", "order_up_to"),
        "enterprise-arena-lanes": partial(_lanes, "enterprise_arena", "raise_below"),
        "beer-game-tune-200": _tune,
        "beer-game-rollout": partial(_rollout, 1),
        "beer-game-rollout-x2": partial(_rollout, 2),
        "beer-game-regret-13": partial(_regret, 13),
        "import-desim": partial(_command, "-c", "import desim"),
        "desim-help": partial(_command, "-m", "desim", "--help"),
    }


WORKS = _works()


def _processor_seconds() -> float:
    """Return the processor time of this process and of the commands that it has run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Answer the requests."""
    warm: dict[str, Any] = {}
    for line in sys.stdin:
        name, times = line.split()
        if name not in warm:
            # Whatever an old revision raises means that it does not have the work.
            warm[name] = None
            with contextlib.suppress(Exception):
                work = WORKS[name]()
                work()
                warm[name] = work
        if (work := warm[name]) is None:
            answer = "none"
        else:
            start = _processor_seconds()
            for _ in range(int(times)):
                work()
            answer = repr(_processor_seconds() - start)
        print(answer, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
