"""From the manager's answer to a plan: read, then repaired or refused.

The decision object in an answer, which is a text or a JSON value of any shape.

The published repair of a decision: two passes that accept anything.

The agent side of the published code makes the first pass, its scenario side the second. Rules 1 to
3 and both passes: reference SPEC section 8.

The strict check of a decision: the first fault, by its code of reference SPEC section 8.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from desim.schema.untrusted import refuse_constant
from desim.short_repr import short_repr
from models.edt.actions import Answer, Decide
from models.edt.planning.decision import ENTRY, DecisionLimits, Plan, Window


def extracted(given: Any) -> Mapping[str, Any]:
    """Return the decision object in an answer, as the published code extracts it.

    In a text it is the first part in balanced braces; `final_answer` is unwrapped. An answer
    without an object gives an empty one, so that every default applies.
    """
    value = _object_in(given) if isinstance(given, str) else given
    if isinstance(value, Mapping) and "final_answer" in value:
        inner = value["final_answer"]
        value = _object_in(inner) if isinstance(inner, str) else inner
    return value if isinstance(value, Mapping) else {}


def parsed(given: Any) -> Any:
    """Return the JSON value of an answer; a text is parsed, any other value is returned as it is.

    Raises:
        ValueError: The text is not valid JSON.
    """
    return json.loads(given, parse_constant=refuse_constant) if isinstance(given, str) else given


def _object_in(text: str) -> Any:
    whole = _loaded(text)
    return whole if isinstance(whole, Mapping) else _loaded(_first_braces(text))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_braces(text: str) -> str:
    """Return the text from the first opening brace to the one that closes it; empty if none."""
    start = text.find("{")
    depth, quoted, escaped = 0, False, False
    for at in range(max(start, 0), len(text)):
        letter = text[at]
        if quoted:
            quoted, escaped = escaped or letter != '"', letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
            if not depth:
                return text[start : at + 1]
    return ""


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


_KEYS = ("C", "R", "P")


def fault(raw: Any, limits: DecisionLimits) -> str:
    """Return the first code that applies to a decision, and the reason; empty without a fault.

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


def judged(answer: Decide | Answer, limits: DecisionLimits, mode: str) -> tuple[str, Plan | None]:
    """Return the reason for which an answer is refused and None, or "" and its plan.

    Args:
        answer: The manager's answer.
        limits: The limits of the scenario.
        mode: "repair": both published passes; "second_pass": the scenario's alone, which accepts a
            firm without consultants; "strict": no repair.
    """
    given = answer.given if isinstance(answer, Answer) else answer.raw()
    if mode == "strict":
        return _strictly(given, limits)
    raw = extracted(given)
    if mode == "repair":
        raw = first_pass(raw, limits).raw()
    return "", second_pass(raw, limits)


def _strictly(given: Any, limits: DecisionLimits) -> tuple[str, Plan | None]:
    try:
        raw = parsed(given)
    except (ValueError, RecursionError) as error:
        return f"not_json: {error}", None
    reason = fault(raw, limits)
    return (reason, None) if reason else ("", second_pass(raw, limits))
