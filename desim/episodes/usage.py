"""The usage that policies note, summed, and whether an episode counts as played."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from desim.errors import BadRecord
from desim.records.episode import Episode

#: The largest share of default actions with which an episode counts as played.
MOST_DEFAULTS = 0.5


def default_share(usage: Mapping[str, float]) -> float | None:
    """Return the share of decisions, 0 to 1, that were default actions; None if none are noted."""
    decisions = usage.get("decisions", 0)
    return usage.get("default_actions", 0) / decisions if decisions else None


def is_played(usage: Mapping[str, float]) -> bool:
    """Return whether at most `MOST_DEFAULTS` of the decisions were default actions."""
    share = default_share(usage)
    return share is None or share <= MOST_DEFAULTS


def unplayed_roles(usages: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return the roles that mostly took their default action; one makes an episode not played."""
    return tuple(role for role, usage in usages.items() if not is_played(usage))


def usage_in_all(usages: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sums of several usages by name, as floats."""
    sums = defaultdict[str, float](float)
    for usage in usages:
        for name, value in usage.items():
            sums[name] += value
    return dict(sums)


def recorded_usage(record: Path) -> dict[str, float]:
    """Return the sums that decisions on record have noted; none if it is missing or damaged."""
    sums = UsageSums()
    try:
        for step in Episode.read(record, whole=False, keep_steps=False).steps:
            sums.add("", step.notes)
    except BadRecord:
        return {}  # its job fails with a sentence
    return sums.totals().get("", {})


class UsageSums:
    """By role the sums of the numbers under the key `usage` in the notes of its decisions.

    Whole numbers stay whole; sums of others are exactly rounded. Other values are left out.
    """

    def __init__(self) -> None:
        self._figures = defaultdict[str, dict[str, list[float]]](dict)

    def add(self, role: str, notes: Mapping[str, Any] | None) -> None:
        """Add the notes of a decision."""
        usage = (notes or {}).get("usage")
        for name, value in usage.items() if isinstance(usage, Mapping) else ():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._figures[role].setdefault(name, []).append(value)

    def totals(self) -> dict[str, dict[str, float]]:
        """Return the sums so far."""
        return {
            role: {name: _sum(values) for name, values in named.items()}
            for role, named in self._figures.items()
        }


def _sum(values: list[float]) -> float:
    whole = all(isinstance(value, int) for value in values)
    return sum(values) if whole else math.fsum(values)
