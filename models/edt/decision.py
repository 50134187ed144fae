"""The decision of the published game: read from an answer, repaired as published, or refused.

`{"C": consultants, "R": risk level, "P": [0 | [1, start step, deadline step], ...]}` with one entry
a project. The published code repairs whatever comes, in two passes: the agent's (`first_pass`) and
the scenario's (`second_pass`). `fault` names the first code of reference SPEC section 8 instead.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from models.edt.scenario import Scenario

__all__ = ["Limits", "Plan", "Window", "fault", "first_pass", "second_pass"]

#: The published environment never runs longer, so no step of a decision lies behind it.
STEP_LIMIT = 96

_KEYS = ("C", "R", "P")
_ENTRY = 3


@frozen
class Window:
    """When an accepted project is open.

    Attributes:
        start: Step at which it becomes ready, at least 0; work starts one step later.
        deadline: Step with which it ends, not before start.
    """

    start: int
    deadline: int


@frozen
class Plan:
    """A decision that can be applied.

    Attributes:
        consultants: How many of the scenario's consultants are kept, from the front.
        revenue_risk: R, 0 to 1.
        projects: A window, or none for a project that is left out, one for each project.
    """

    consultants: int
    revenue_risk: float
    projects: tuple[Window | None, ...]

    def raw(self) -> dict[str, Any]:
        """Write it as the published decision object."""
        windows = [[1, w.start, w.deadline] if w else 0 for w in self.projects]
        return {"C": self.consultants, "R": self.revenue_risk, "P": windows}


@frozen
class Limits:
    """What a decision may hold in one scenario, and what takes the place of what it lacks.

    Attributes:
        consultants: C at most, and where none is given.
        revenue_risk: R where none is given.
        horizon: The last step a window may name.
        windows: By project, where none is given.
    """

    consultants: int
    revenue_risk: float
    horizon: int
    windows: tuple[Window, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> "Limits":
        """Read them from a scenario; its follow-on projects are not decided on."""
        span = (scenario.stoptime - scenario.starttime) / scenario.dt
        horizon = min(round(span), STEP_LIMIT)

        def step(time: float) -> int:
            return _clip(round((time - scenario.starttime) / scenario.dt), horizon)

        windows = tuple(
            Window(step(p.start_time), step(p.deadline))
            for p in scenario.projects
            if not p.is_follow_on
        )
        return cls(len(scenario.consultants), scenario.revenue_risk_level, horizon, windows)


def first_pass(raw: Mapping[str, Any], limits: Limits) -> Plan:
    """Repair a decision as the published agent side does."""
    plan = _repaired(raw, limits, unflagged=limits.windows)
    if not any(plan.projects):
        plan = Plan(plan.consultants, plan.revenue_risk, limits.windows)
    if any(plan.projects) and not plan.consultants:
        plan = Plan(min(1, limits.consultants), plan.revenue_risk, plan.projects)
    return plan


def second_pass(raw: Mapping[str, Any], limits: Limits) -> Plan:
    """Repair a decision as the published scenario side does."""
    return _repaired(raw, limits, unflagged=(None,) * len(limits.windows))


def _repaired(raw: Mapping[str, Any], limits: Limits, unflagged: tuple[Window | None, ...]) -> Plan:
    """Apply rules 1 to 3; `unflagged` stands for a list of three that does not begin with 1."""
    count = _int(raw.get("C"))
    risk = _float(raw.get("R"))
    entries = raw.get("P")
    windows: tuple[Window | None, ...] = limits.windows
    if isinstance(entries, list | tuple) and len(entries) == len(windows):
        windows = tuple(
            _window(entry, usual, other, limits.horizon)
            for entry, usual, other in zip(entries, limits.windows, unflagged, strict=True)
        )
    return Plan(
        limits.consultants if count is None else _clip(count, limits.consultants),
        limits.revenue_risk if risk is None else min(max(risk, 0.0), 1.0),
        windows,
    )


def _window(entry: Any, usual: Window, unflagged: Window | None, horizon: int) -> Window | None:
    if entry is None or (isinstance(entry, int | float) and entry == 0):
        return None
    if not isinstance(entry, list | tuple) or len(entry) != _ENTRY:
        return usual
    if _int(entry[0]) != 1:
        return unflagged
    start, deadline = _int(entry[1]), _int(entry[2])
    first = usual.start if start is None else _clip(start, horizon)
    last = usual.deadline if deadline is None else _clip(deadline, horizon)
    return Window(first, max(first, last))


def _clip(value: int, highest: int) -> int:
    return min(max(value, 0), highest)


def _float(value: Any) -> float | None:
    """Read a number as Python's `float` does; None for what is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _int(value: Any) -> int | None:
    """Read a number and cut it toward zero."""
    number = _float(value)
    return None if number is None or math.isinf(number) else int(number)


# -- strict ----------------------------------------------------------------------------------------


def fault(raw: Any, limits: Limits) -> str:
    """Name what is wrong with a decision: the first code that applies, and why; empty if none.

    Args:
        raw: The decision as plain JSON values.
        limits: What the scenario allows.
    """
    return next(_faults(raw, limits), "")


def _faults(raw: Any, limits: Limits) -> Iterator[str]:
    if not isinstance(raw, Mapping):
        yield f"not_object: one object with C, R and P is expected, not {raw!r:.60}"
        return
    yield from (f"unknown_key: {key!r} is none of C, R, P" for key in raw if key not in _KEYS)
    missing = [f"missing_key: {key} is missing" for key in _KEYS if key not in raw]
    yield from missing
    if missing:
        return
    yield from _scalar_faults(raw["C"], raw["R"], limits)
    count = len(limits.windows)
    if not isinstance(raw["P"], list | tuple):
        yield f"P_type: a list of {count} entries is expected, not {raw['P']!r:.60}"
    elif len(raw["P"]) != count:
        yield f"P_length: {count} entries are expected, not {len(raw['P'])}"
    else:
        yield from _entry_faults(raw["P"], limits.horizon)
        yield from _sense_faults(raw["C"], raw["P"], limits)


def _scalar_faults(count: Any, risk: Any, limits: Limits) -> Iterator[str]:
    if type(count) is not int:
        yield f"C_type: C is a whole number, not {count!r:.60}"
    elif not 0 <= count <= limits.consultants:
        yield f"C_range: C is 0 to {limits.consultants}, not {count}"
    if type(risk) not in {int, float}:
        yield f"R_type: R is a number, not {risk!r:.60}"
    elif not 0 <= risk <= 1:
        yield f"R_range: R is 0 to 1, not {risk}"


def _entry_faults(entries: Any, horizon: int) -> Iterator[str]:
    """Go through all entries for one code before the next."""
    windows = [(at, e) for at, e in enumerate(entries) if type(e) is not int or e != 0]
    for at, entry in windows:
        if not isinstance(entry, list | tuple) or len(entry) != _ENTRY:
            yield f"entry_form: P[{at}] is 0 or [1, start, deadline], not {entry!r:.60}"
            return
    for at, (flag, *_) in windows:
        if type(flag) is not int or flag != 1:
            yield f"entry_flag: P[{at}] begins with 1, not {flag!r:.60}"
    yield from _step_faults({at: entry[1:] for at, entry in windows}, horizon)


def _step_faults(windows: Mapping[int, Any], horizon: int) -> Iterator[str]:
    for at, steps in windows.items():
        if any(type(step) is not int for step in steps):
            yield f"step_type: steps of P[{at}] are whole numbers, not {steps!r:.60}"
            return
    for at, steps in windows.items():
        if any(not 0 <= step <= horizon for step in steps):
            yield f"step_range: steps of P[{at}] are 0 to {horizon}, not {[*steps]}"
    for at, (start, deadline) in windows.items():
        if deadline < start:
            yield f"step_order: P[{at}] ends at {deadline}, before it starts at {start}"


def _sense_faults(count: Any, entries: Any, limits: Limits) -> Iterator[str]:
    """Ask for a project and a consultant where the scenario has any."""
    if not any(isinstance(entry, list | tuple) for entry in entries):
        if entries:
            yield "no_project: at least one project is needed"
    elif count == 0 and limits.consultants:
        yield "no_consultant: projects were chosen and nobody works on them"
