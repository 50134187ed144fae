"""The named rules of YC-Bench: the four published ones, focus, planner and its oracle."""

from policies.heuristics.yc_bench.focus import Focus
from policies.heuristics.yc_bench.oracle import Oracle
from policies.heuristics.yc_bench.planner import Planner
from policies.heuristics.yc_bench.published import Greedy, Prestige, Random, Throughput

__all__ = ["Focus", "Greedy", "Oracle", "Planner", "Prestige", "Random", "Throughput", "baselines"]


def baselines(_: object) -> tuple[str, ...]:
    """Return the specs that play this world headlessly; greedy and random are added by name.

    `planner` takes seconds an episode and is played by name, as `oracle` is.
    """
    return ("throughput", "prestige", "focus,tasks=1", "focus")
