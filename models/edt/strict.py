"""The strict check of a decision: the first fault, by its code of reference SPEC section 8."""

from collections.abc import Iterator, Mapping
from typing import Any

from desim.short_repr import short_repr
from models.edt.decision import ENTRY, DecisionLimits

__all__ = ["fault"]

_KEYS = ("C", "R", "P")


def fault(raw: Any, limits: DecisionLimits) -> str:
    """Return the first code that applies to a decision, and the reason; empty if none does.

    Args:
        raw: The decision as plain JSON values.
        limits: The limits of the scenario.
    """
    return next(_faults(raw, limits), "")


def _faults(raw: Any, limits: DecisionLimits) -> Iterator[str]:
    if not isinstance(raw, Mapping):
        yield f"not_object: one object with C, R and P is expected, not {short_repr(raw, 60)}"
        return
    yield from (
        f"unknown_key: {short_repr(key)} is none of C, R, P" for key in raw if key not in _KEYS
    )
    missing = [f"missing_key: {key} is missing" for key in _KEYS if key not in raw]
    yield from missing
    if missing:
        return
    yield from _scalar_faults(raw["C"], raw["R"], limits)
    count = len(limits.windows)
    if not isinstance(raw["P"], list | tuple):
        yield f"P_type: a list of {count} entries is expected, not {short_repr(raw['P'], 60)}"
    elif len(raw["P"]) != count:
        yield f"P_length: {count} entries are expected, not {len(raw['P'])}"
    else:
        yield from _entry_faults(raw["P"], limits.horizon)
        yield from _sense_faults(raw["C"], raw["P"], limits)


def _scalar_faults(count: Any, risk: Any, limits: DecisionLimits) -> Iterator[str]:
    if type(count) is not int:
        yield f"C_type: C is a whole number, not {short_repr(count, 60)}"
    elif not 0 <= count <= limits.consultants:
        yield f"C_range: C is 0 to {limits.consultants}, not {short_repr(count, 60)}"
    if type(risk) not in {int, float}:
        yield f"R_type: R is a number, not {short_repr(risk, 60)}"
    elif not 0 <= risk <= 1:
        yield f"R_range: R is 0 to 1, not {short_repr(risk, 60)}"


def _entry_faults(entries: Any, horizon: int) -> Iterator[str]:
    """Check all entries for one code before the next code."""
    windows = [(at, e) for at, e in enumerate(entries) if type(e) is not int or e != 0]
    for at, entry in windows:
        if not isinstance(entry, list | tuple) or len(entry) != ENTRY:
            yield f"entry_form: P[{at}] is 0 or [1, start, deadline], not {short_repr(entry, 60)}"
            return
    for at, (flag, *_) in windows:
        if type(flag) is not int or flag != 1:
            yield f"entry_flag: P[{at}] begins with 1, not {short_repr(flag, 60)}"
    yield from _step_faults({at: entry[1:] for at, entry in windows}, horizon)


def _step_faults(windows: Mapping[int, Any], horizon: int) -> Iterator[str]:
    for at, steps in windows.items():
        if any(type(step) is not int for step in steps):
            yield f"step_type: steps of P[{at}] are whole numbers, not {short_repr(steps, 60)}"
            return
    for at, steps in windows.items():
        if any(not 0 <= step <= horizon for step in steps):
            yield f"step_range: steps of P[{at}] are 0 to {horizon}, not {[*steps]}"
    for at, (start, deadline) in windows.items():
        if deadline < start:
            yield f"step_order: P[{at}] ends at {deadline}, before it starts at {start}"


def _sense_faults(count: Any, entries: Any, limits: DecisionLimits) -> Iterator[str]:
    """Check that a project and a consultant are chosen where the scenario has any."""
    if not any(isinstance(entry, list | tuple) for entry in entries):
        if entries:
            yield "no_project: at least one project is needed"
    elif count == 0 and limits.consultants:
        yield "no_consultant: projects were chosen and no consultant to work on them"
