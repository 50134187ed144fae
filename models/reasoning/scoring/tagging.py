"""Tagging: labels between commas, each compared with the label in its place."""

from models.reasoning.item import Item
from models.reasoning.scoring.verdict import Rules, Verdict

__all__ = ["judge"]

#: The characters of a number in Python's notation, in any base.
_CHARACTERS = frozenset("0123456789abcdefox.+-_")


def judge(item: Item, answer: str, _: Rules) -> Verdict:
    """Count the labels in which an answer agrees; further ones of the answer are ignored."""
    right = _labels(item.answer)
    given = _labels(answer)[: len(right)]
    matched = sum(map(_equal, given, right))
    return Verdict(matched == len(right), answer, item.answer, matched, len(right))


def _labels(text: str) -> list[str]:
    return [label.strip().lower() for label in text.split(",")]


def _equal(given: str, right: str) -> bool:
    if given == right:
        return True
    numbers = _number(given), _number(right)
    return None not in numbers and numbers[0] == numbers[1]


def _number(label: str) -> int | float | None:
    """Return a label that is one number in Python's notation.

    The published code evaluates the label as an expression; here "(5)" and "2+3" are texts.
    """
    if not label or not _CHARACTERS.issuperset(label):
        return None
    try:
        return int(label, 0)  # refuses 007, as Python does
    except ValueError:
        pass
    # Of the letters only the e of an exponent: neither "inf" nor "nan" is a number in Python.
    if not {".", "e"} & {*label} or {*label} & {*"abcdfox"}:
        return None
    try:
        return float(label)
    except ValueError:
        return None
