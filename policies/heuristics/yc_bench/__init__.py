"""The named policies of YC-Bench: the four published bots, focus, the planner."""

from policies.heuristics.yc_bench.focus import Focus as Focus
from policies.heuristics.yc_bench.focus import LearningFocus as LearningFocus
from policies.heuristics.yc_bench.planner import Planner as Planner
from policies.heuristics.yc_bench.published import PublishedGreedy as PublishedGreedy
from policies.heuristics.yc_bench.published import PublishedPrestige as PublishedPrestige
from policies.heuristics.yc_bench.published import PublishedRandom as PublishedRandom
from policies.heuristics.yc_bench.published import PublishedThroughput as PublishedThroughput


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
