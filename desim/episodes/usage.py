"""Sums of what policies used: calls, tokens, seconds, money."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["UsageSums"]


class UsageSums:
    """By role the sums of the numbers under the key `usage` in the notes of its decisions.

    Whole numbers stay whole; sums of others are exactly rounded. Other values are left out.
    """

    def __init__(self) -> None:
        self._figures: dict[str, dict[str, list[float]]] = {}

    def add(self, role: str, notes: Mapping[str, Any] | None) -> None:
        """Add the notes of a decision."""
        usage = (notes or {}).get("usage")
        for name, value in usage.items() if isinstance(usage, Mapping) else ():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._figures.setdefault(role, {}).setdefault(name, []).append(value)

    def totals(self) -> dict[str, dict[str, float]]:
        """Return the sums so far."""
        return {
            role: {name: _sum(values) for name, values in named.items()}
            for role, named in self._figures.items()
        }


def _sum(values: list[float]) -> float:
    whole = all(isinstance(value, int) for value in values)
    return sum(values) if whole else math.fsum(values)
