"""Quantity extraction: equal numbers, or equal spans where a side has no number.

By the paper's rule the spans alone are compared.
"""

import math
import re

from models.reasoning.item import Item
from models.reasoning.scoring.numbers import first_number, predicted_number
from models.reasoning.scoring.verdict import Rules, Verdict

__all__ = ["judge"]

_TOLERANCE = 1e-6

_SIGNS = str.maketrans("", "", ",$%")


def judge(item: Item, answer: str, rules: Rules) -> Verdict:
    """Compare the numbers, or the normalised spans unless both sides have a number."""
    if rules.spans == "text":
        # Trimmed again, as "$ 9" has a space behind its sign; the code compares it as a number.
        given, right = (_normalised(_bare(text)).strip() for text in (answer, item.answer))
        return Verdict.single(correct=given == right, predicted=given, truth=right)
    predicted, truth = predicted_number(answer), first_number(item.answer)
    if predicted is None or truth is None:
        equal = _normalised(answer) == _normalised(item.answer)
    else:
        equal = math.isclose(predicted, truth, rel_tol=0, abs_tol=_TOLERANCE)
    return Verdict.single(correct=equal, predicted=predicted, truth=truth)


def _bare(answer: str) -> str:
    """Return a span without the brackets that the instruction asks for."""
    plain = answer.strip()
    return plain[2:-2] if plain.startswith("[[") and plain.endswith("]]") else plain


def _normalised(span: str) -> str:
    return re.sub(r"\s+", " ", span.lower().strip().translate(_SIGNS))
