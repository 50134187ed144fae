"""Rules of YC-Bench that know hidden facts, with searches and bounds."""

from policies.informed.yc_bench.focus import Focus, LearningFocus
from policies.informed.yc_bench.oracle import Oracle

__all__ = ["Focus", "LearningFocus", "Oracle"]
