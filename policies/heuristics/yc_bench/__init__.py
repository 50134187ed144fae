"""The named rules of YC-Bench: the four published ones, focus."""

from policies.heuristics.yc_bench.focus import Focus
from policies.heuristics.yc_bench.published import Greedy, Prestige, Random, Throughput

__all__ = ["Focus", "Greedy", "Prestige", "Random", "Throughput", "baselines"]


def baselines(_: object) -> tuple[str, ...]:
    """Return the specs that play this world headlessly; greedy and random are added by name."""
    return ("throughput", "prestige", "focus,tasks=1", "focus")
