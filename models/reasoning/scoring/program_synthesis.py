"""Program synthesis: the program's number is within one percent of the right one."""

from models.reasoning.item import Item
from models.reasoning.scoring.numbers import first_number, predicted_number
from models.reasoning.scoring.verdict import Rules, Verdict

__all__ = ["judge"]

#: A right number below this size is near zero, where a relative tolerance has no meaning.
_NEAR_ZERO = 1e-6

#: The absolute tolerance there, by the rule; the relative one elsewhere.
_ABSOLUTE = {"code": 0.01, "paper": 1e-6}
_RELATIVE = 0.01


def judge(item: Item, answer: str, rules: Rules) -> Verdict:
    """Compare numbers; texts where the item's answer holds no number."""
    truth = first_number(item.answer)
    if truth is None:
        equal = answer.strip().lower() == item.answer.strip().lower()
        return Verdict.single(correct=equal, predicted=None, truth=None)
    predicted = predicted_number(answer)
    close = predicted is not None and _close(predicted, truth, _ABSOLUTE[rules.near_zero])
    return Verdict.single(correct=close, predicted=predicted, truth=truth)


def _close(predicted: float, truth: float, absolute: float) -> bool:
    difference = abs(predicted - truth)
    if abs(truth) < _NEAR_ZERO:
        return difference <= absolute
    # A plain quotient as published, so that 70.7 against 70 fails by the last bit.
    return difference / abs(truth) <= _RELATIVE
