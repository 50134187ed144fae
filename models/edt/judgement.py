"""From the manager's answer to a plan: read, then repaired or refused."""

from typing import Any

from models.edt.actions import Answer, Decide
from models.edt.answer import extracted, parsed
from models.edt.decision import DecisionLimits, Plan
from models.edt.repair import first_pass, second_pass
from models.edt.strict import fault

__all__ = ["judged"]


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
