"""YC-Bench: a start-up's year of tasks, people, clients and paydays."""

from models.yc_bench.model import YCBench
from models.yc_bench.params import YCBenchParams

__all__ = ["YCBench", "YCBenchParams"]
