"""Sums of what policies used: calls, tokens, seconds, money; and the share of default actions."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["MOST_DEFAULTS", "UsageSums", "default_share", "is_played"]

#: The largest share of default actions with which an episode counts as played.
MOST_DEFAULTS = 0.5


def default_share(usage: Mapping[str, float]) -> float | None:
    """Return the share of decisions, 0 to 1, that were the role's default action.

    Args:
        usage: Sums with `decisions` and `default_actions`, which a policy notes that may fail to
            decide, such as a language model whose replies cannot be read.

    Returns:
        The share; None where no decisions are counted.
    """
    decisions = usage.get("decisions", 0)
    return usage.get("default_actions", 0) / decisions if decisions else None


def is_played(usage: Mapping[str, float]) -> bool:
    """Return whether at most `MOST_DEFAULTS` of the decisions were default actions."""
    share = default_share(usage)
    return share is None or share <= MOST_DEFAULTS


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
