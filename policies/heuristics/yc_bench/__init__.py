"""The named policies of YC-Bench: the four published bots, focus, the planner."""

from policies.heuristics.yc_bench.focus import Focus, LearningFocus
from policies.heuristics.yc_bench.planner import Planner
from policies.heuristics.yc_bench.published import (
    PublishedGreedy,
    PublishedPrestige,
    PublishedRandom,
    PublishedThroughput,
)

__all__ = [
    "Focus",
    "LearningFocus",
    "Planner",
    "PublishedGreedy",
    "PublishedPrestige",
    "PublishedRandom",
    "PublishedThroughput",
    "baselines",
]


def baselines(_: object) -> tuple[str, ...]:
    """Return the specs with which this world is played headlessly."""
    return (
        "published_greedy",
        "published_random",
        "published_throughput",
        "published_prestige",
        "focus,tasks=1",
        "focus",
        "learning_focus",
        "planner",
    )
