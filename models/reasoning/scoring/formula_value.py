"""Formula value: the number of an answer is exactly the right one."""

import re
from typing import Any

from models.reasoning.item import Item
from models.reasoning.scoring.extraction import parsed_object
from models.reasoning.scoring.verdict import Rules, Verdict

__all__ = ["judge"]

#: A number with commas, decimals and an exponent; a sign counts only directly before it.
_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")


def judge(item: Item, answer: str, _: Rules) -> Verdict:
    """Compare the whole answer, else the field of a JSON object in it, else its last number."""
    right, truth = item.answer.strip(), _float(item.answer)
    whole = _float(answer)
    if whole is not None and truth is not None:
        return Verdict.single(correct=whole == truth, predicted=whole, truth=truth)
    field = _field(answer)
    number = _float(field)
    if number is not None and truth is not None:
        return Verdict.single(correct=number == truth, predicted=number, truth=truth)
    last = _last_number(answer)
    number = None if last is None else _float(last.replace(",", ""))
    texts = {answer.strip(), *(one.strip() for one in (field, last) if one is not None)}
    equal = right in texts or (number is not None and number == truth)
    return Verdict.single(correct=equal, predicted=number, truth=truth)


def _field(answer: str) -> str | None:
    """Return `final_answer` of the outermost JSON object of a text as text."""
    start, end = answer.find("{"), answer.rfind("}")
    parsed = parsed_object(answer[start : end + 1]) if 0 <= start < end else None
    value: Any = (parsed or {}).get("final_answer")
    return str(value) if isinstance(value, str | int | float) else None


def _last_number(answer: str) -> str | None:
    found = _NUMBER.findall(answer)
    return str(found[-1]) if found else None


def _float(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return None
