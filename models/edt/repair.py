"""The published repair of a decision: two passes that accept anything.

The agent side of the published code makes the first pass, its scenario side the second. Rules 1 to
3 and both passes: reference SPEC section 8.
"""

import math
from collections.abc import Mapping
from typing import Any

from models.edt.decision import ENTRY, DecisionLimits, Plan, Window

__all__ = ["first_pass", "second_pass"]


def first_pass(raw: Mapping[str, Any], limits: DecisionLimits) -> Plan:
    """Return a decision as the published agent side repairs it."""
    plan = _repaired(raw, limits, unflagged=limits.windows)
    if not any(plan.projects):
        plan = Plan(plan.consultants, plan.revenue_risk, limits.windows)
    if any(plan.projects) and not plan.consultants:
        plan = Plan(min(1, limits.consultants), plan.revenue_risk, plan.projects)
    return plan


def second_pass(raw: Mapping[str, Any], limits: DecisionLimits) -> Plan:
    """Return a decision as the published scenario side repairs it."""
    return _repaired(raw, limits, unflagged=(None,) * len(limits.windows))


def _repaired(
    raw: Mapping[str, Any], limits: DecisionLimits, unflagged: tuple[Window | None, ...]
) -> Plan:
    """Apply rules 1 to 3; *unflagged* replaces entries of three items that do not begin with 1."""
    count = _int(raw.get("C"))
    risk = _float(raw.get("R"))
    entries = raw.get("P")
    windows: tuple[Window | None, ...] = limits.windows
    if isinstance(entries, list | tuple) and len(entries) == len(windows):
        windows = tuple(
            _window(entry, default, other, limits.horizon)
            for entry, default, other in zip(entries, limits.windows, unflagged, strict=True)
        )
    return Plan(
        limits.consultants if count is None else _clip(count, limits.consultants),
        limits.revenue_risk if risk is None else min(max(risk, 0.0), 1.0),
        windows,
    )


def _window(entry: Any, default: Window, unflagged: Window | None, horizon: int) -> Window | None:
    if entry is None or (isinstance(entry, int | float) and entry == 0):
        return None
    if not isinstance(entry, list | tuple) or len(entry) != ENTRY:
        return default
    if _int(entry[0]) != 1:
        return unflagged
    start, deadline = _int(entry[1]), _int(entry[2])
    first = default.start if start is None else _clip(start, horizon)
    last = default.deadline if deadline is None else _clip(deadline, horizon)
    return Window(first, max(first, last))


def _clip(value: int, highest: int) -> int:
    return min(max(value, 0), highest)


def _float(value: Any) -> float | None:
    """Return a number as Python's `float` reads it; None if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _int(value: Any) -> int | None:
    """Return a number cut toward zero; None if it is none or infinite."""
    number = _float(value)
    return None if number is None or math.isinf(number) else int(number)
