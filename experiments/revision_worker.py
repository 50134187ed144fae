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


def _edt(policy: str) -> Work:
    from desim import play
    from models.edt import EnterpriseDigitalTwin

    return partial(play, EnterpriseDigitalTwin(), policy, 1)


def _arena(policy: str) -> Work:
    from desim import play
    from models.enterprise_arena import EnterpriseArena

    return partial(play, EnterpriseArena(), policy, 1)


def _yc_bench(policy: str, times: int) -> Work:
    from desim import play
    from models.yc_bench import YCBench

    return partial(play, YCBench(horizon_years=times), policy, 1)


def _enterprise(times: int) -> Work:
    from desim import play
    from models.enterprise import Enterprise
    from policies.heuristics.enterprise import lineups

    group = Enterprise.preset("group", months=12 * times)
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


def _sweep() -> Work:
    from desim import sweep

    return partial(sweep, "beer_game/poisson", ["benchmark"], range(100))


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
        }
        made |= {f"{name}-x{times}": maker for name, maker in each.items()}
    return made | {
        "yc-bench-focus": partial(_yc_bench, "focus", 1),
        "enterprise-arena": partial(_arena, "raise_when_free"),
        "edt": partial(_edt, "simple"),
        "consulting": partial(_questions, "consulting", "framework"),
        "reasoning": partial(_questions, "reasoning", "random"),
        "beer-game-recorded": _recorded,
        "beer-game-sweep-100": _sweep,
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
