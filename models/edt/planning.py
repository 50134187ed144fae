"""From the manager's answer to a plan: read, then repaired as published, or refused with a code.

A decision is `{"C": consultants, "R": risk level, "P": [0 | [1, start step, deadline step], ...]}`
with one entry a project. Rules, passes and codes: reference SPEC section 8.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, frozen

from desim.schema.untrusted import refuse_constant
from desim.short_repr import short_repr
from models.edt.actions import Decide, Window
from models.edt.scenario import Scenario

#: The published environment never runs longer, so decisions name no later step.
STEP_LIMIT = 96

_KEYS = ("C", "R", "P")

#: Length of an entry of P that takes a project: 1, start, deadline.
_ENTRY = 3


@frozen
class DecisionLimits:
    """The defaults of a decision in one scenario, and its ranges.

    C is at most `consultants`, and a window names no step after `horizon`. Follow-ons of the
    scenario are not decided on, and have no window.
    """

    consultants: int
    revenue_risk: float
    horizon: int
    windows: tuple[Window, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> "DecisionLimits":
        """Return the limits of a scenario."""
        span = (scenario.stoptime - scenario.starttime) / scenario.dt
        horizon = min(round(span), STEP_LIMIT)

        def step(time: float) -> int:
            return min(max(round((time - scenario.starttime) / scenario.dt), 0), horizon)

        offered = scenario.offered.values()
        windows = tuple(Window(step(p.start_time), step(p.deadline)) for p in offered)
        return cls(len(scenario.consultants), scenario.revenue_risk_level, horizon, windows)


def judged(given: Any, limits: DecisionLimits, mode: str) -> tuple[str, Decide | None]:
    """Return the reason for which an answer is refused and None, or "" and its plan.

    The answer is the decision object as JSON values of any shape, or a text that contains it.
    """
    if mode == "strict":
        try:
            is_text = isinstance(given, str)
            raw = json.loads(given, parse_constant=refuse_constant) if is_text else given
        except (ValueError, RecursionError) as error:
            return f"not_json: {error}", None
        reason = next(faults(raw, limits), "")
        return (reason, None) if reason else ("", second_pass(raw, limits))
    raw = extracted(given)
    if mode == "repair":
        raw = first_pass(raw, limits).raw()
    return "", second_pass(raw, limits)


# -- reading ---------------------------------------------------------------------------------------


def extracted(given: Any) -> Mapping[str, Any]:
    """Return the decision object in an answer as published: empty if there is none.

    In a text it is the JSON object at the first brace; `final_answer` is unwrapped.
    """
    value = _object_in(given) if isinstance(given, str) else given
    if isinstance(value, Mapping) and "final_answer" in value:
        inner = value["final_answer"]
        value = _object_in(inner) if isinstance(inner, str) else inner
    return value if isinstance(value, Mapping) else {}


def _object_in(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text, max(0, text.find("{")))[0]
    except (ValueError, RecursionError):
        return None


# -- the published repair: the agent side makes the first pass, the scenario side the second -------


def first_pass(raw: Mapping[str, Any], limits: DecisionLimits) -> Decide:
    """Return a decision as the published agent side repairs it."""
    plan = _repaired(raw, limits, unflagged=limits.windows)
    windows = plan.projects if any(plan.projects) else limits.windows
    least = min(1, limits.consultants) if windows else 0
    return evolve(plan, consultants=max(plan.consultants, least), projects=windows)


def second_pass(raw: Mapping[str, Any], limits: DecisionLimits) -> Decide:
    """Return a decision as the published scenario side repairs it."""
    return _repaired(raw, limits, unflagged=(None,) * len(limits.windows))


def _repaired(
    raw: Mapping[str, Any], limits: DecisionLimits, unflagged: tuple[Window | None, ...]
) -> Decide:
    """Apply rules 1 to 3; *unflagged* replaces entries of three items that do not begin with 1."""
    count, risk, entries = _int(raw.get("C")), _float(raw.get("R")), raw.get("P")
    windows: tuple[Window | None, ...] = limits.windows
    if isinstance(entries, list | tuple) and len(entries) == len(windows):
        windows = tuple(
            _window(entry, default, other, limits.horizon)
            for entry, default, other in zip(entries, limits.windows, unflagged, strict=True)
        )
    return Decide(
        limits.consultants if count is None else _clip(count, limits.consultants),
        limits.revenue_risk if risk is None else min(max(risk, 0.0), 1.0),
        windows,
    )


def _window(entry: Any, default: Window, unflagged: Window | None, horizon: int) -> Window | None:
    if entry is None or (isinstance(entry, int | float) and entry == 0):
        return None
    if not isinstance(entry, list | tuple) or len(entry) != _ENTRY:
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
    """Return the number that Python's `float` reads from a value; None if it refuses or is nan."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _int(value: Any) -> int | None:
    """Return `_float` of a value cut toward zero; None also if it is infinite."""
    number = _float(value)
    return None if number is None or math.isinf(number) else int(number)


# -- the strict check ------------------------------------------------------------------------------


def faults(raw: Any, limits: DecisionLimits) -> Iterator[str]:
    """Yield the codes that apply to a decision, each with the reason; the first one counts."""
    if not isinstance(raw, Mapping):
        yield f"not_object: one object with C, R and P is expected, not {short_repr(raw, 60)}"
        return
    yield from (
        f"unknown_key: {short_repr(key)} is none of C, R, P" for key in raw if key not in _KEYS
    )
    if missing := [f"missing_key: {key} is missing" for key in _KEYS if key not in raw]:
        yield missing[0]
        return
    yield from _scalar_faults(raw["C"], raw["R"], limits)
    entries, count = raw["P"], len(limits.windows)
    if not isinstance(entries, list | tuple):
        yield f"P_type: a list of {count} entries is expected, not {short_repr(entries, 60)}"
    elif len(entries) != count:
        yield f"P_length: {count} entries are expected, not {len(entries)}"
    else:
        yield from _entry_faults(entries, limits.horizon)
        if entries and not any(isinstance(entry, list | tuple) for entry in entries):
            yield "no_project: at least one project is needed"
        elif entries and raw["C"] == 0 and limits.consultants:
            yield "no_consultant: projects were chosen and no consultant to work on them"


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
    windows = {at: e for at, e in enumerate(entries) if type(e) is not int or e != 0}
    for at, entry in windows.items():
        if not isinstance(entry, list | tuple) or len(entry) != _ENTRY:
            yield f"entry_form: P[{at}] is 0 or [1, start, deadline], not {short_repr(entry, 60)}"
            return
    for at, (flag, *_) in windows.items():
        if type(flag) is not int or flag != 1:
            yield f"entry_flag: P[{at}] begins with 1, not {short_repr(flag, 60)}"
    yield from _step_faults({at: steps for at, (_, *steps) in windows.items()}, horizon)


def _step_faults(windows: Mapping[int, list[Any]], horizon: int) -> Iterator[str]:
    for at, steps in windows.items():
        if any(type(step) is not int for step in steps):
            yield f"step_type: steps of P[{at}] are whole numbers, not {short_repr(steps, 60)}"
            return
    for at, steps in windows.items():
        if any(not 0 <= step <= horizon for step in steps):
            yield f"step_range: steps of P[{at}] are 0 to {horizon}, not {steps}"
    for at, (start, deadline) in windows.items():
        if deadline < start:
            yield f"step_order: P[{at}] ends at {deadline}, before it starts at {start}"
