"""Sums of what policies used: calls, tokens, seconds, money."""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desim.episode import Step

__all__ = ["summed"]


def summed(steps: Iterable["Step"]) -> dict[str, dict[str, float]]:
    """Sum by role what stands under "usage" in the notes of its decisions.

    Whole numbers stay whole; sums of others are exactly rounded. What is no number is left out.
    """
    figures: dict[str, dict[str, list[float]]] = {}
    for step in steps:
        usage = (step.notes or {}).get("usage")
        for name, value in usage.items() if isinstance(usage, Mapping) else ():
            if isinstance(value, int | float) and not isinstance(value, bool):
                figures.setdefault(step.role, {}).setdefault(name, []).append(value)
    return {
        role: {name: _sum(values) for name, values in named.items()}
        for role, named in figures.items()
    }


def _sum(values: list[float]) -> float:
    whole = all(isinstance(value, int) for value in values)
    return sum(values) if whole else math.fsum(values)
