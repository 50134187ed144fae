"""How long does work take, when several works are run in turn?"""

import time
from collections.abc import Callable

Work = Callable[[], object]


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
