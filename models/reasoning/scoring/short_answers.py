"""The scorers of short answers: a choice, a value, a program's number, a quantity, tags."""

import math
import re
from typing import Any

from models.reasoning.item import LETTERS, Item
from models.reasoning.scoring import Graded, Rules
from models.reasoning.scoring.extraction import parsed_object
from models.reasoning.scoring.numbers import (
    SIGNS,
    bracket_number,
    first_number,
    predicted_number,
    to_float,
)

# -- multiple choice: the letter of the answer is the right one ------------------------------------

#: A letter on its own, not within a word: "B", "(B)", "B." and "option B".
_ALONE = re.compile(rf"(?<![\w'])[{LETTERS}](?![\w'])")


def judge_choice(item: Item, answer: str, rules: Rules) -> Graded:
    """Compare labels.

    Raises:
        ValueError: The answer is nan, or of digits that `int` refuses, such as superscripts.
        OverflowError: The answer is infinite.
    """
    truth = label_of(item.answer, item.options)
    predicted = _predicted(answer, item.options, rules)
    return Graded.whole(answer, correct=predicted == truth, predicted=predicted, truth=truth)


def _predicted(answer: str, options: tuple[str, ...], rules: Rules) -> str:
    number = bracket_number(answer)
    # Half to even, as Python rounds: nan and infinity raise here, as published.
    index = None if number is None else round(number)
    if index is not None and 0 <= index < len(options):
        return LETTERS[index]
    label = label_of(answer, options)
    if rules.letters == "pattern" and label not in LETTERS[: len(options)]:
        letters = [found for found in _ALONE.findall(answer) if found in LETTERS[: len(options)]]
        return letters[-1] if letters else label
    return label


def label_of(text: str, options: tuple[str, ...]) -> str:
    """Return the letter of an option that is named by letter, number from 0 or its whole text.

    A text that names no option is returned in capitals.

    Raises:
        ValueError: The text is of digits that `int` refuses, such as superscripts.
    """
    plain = text.strip()
    letters = LETTERS[: len(options)]
    if len(plain) == 1 and plain.upper() in letters:
        return plain.upper()
    if plain.isdigit() and (index := int(plain)) < len(options):
        return letters[index]
    texts = [option.strip().lower() for option in options]
    if plain.lower() in texts:
        return letters[texts.index(plain.lower())]
    return plain.upper()


# -- formula value: the number of an answer is exactly the right one -------------------------------

#: A number with commas, decimals and an exponent; a sign counts only directly before it.
_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")

#: A number with a comma before every three digits.
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")


def judge_value(item: Item, answer: str, _: Rules) -> Graded:
    """Compare the whole answer, else the field of a JSON object in it, else its last number.

    A right answer that is no number is compared as a text. Thousands commas are left out.
    """
    field = _field(answer)
    right, *given = (_plain(text) for text in (item.answer, answer, field or ""))
    truth = to_float(right)
    if truth is None:
        equal = right == given[0] or (field is not None and right == given[1])
        return Graded.whole(answer, correct=equal)
    last = [found.replace(",", "") for found in _NUMBER.findall(answer)[-1:]]
    numbers = (to_float(text) for text in (*given, *last))
    number = next((each for each in numbers if each is not None), None)
    return Graded.whole(answer, correct=number == truth, predicted=number, truth=truth)


def _plain(text: str) -> str:
    """Return a text without the spaces around it and the commas between thousands."""
    return _THOUSANDS.sub(lambda found: found.group().replace(",", ""), text.strip())


def _field(answer: str) -> str | None:
    """Return `final_answer` of the outermost JSON object of a text as text."""
    start, end = answer.find("{"), answer.rfind("}")
    parsed = parsed_object(answer[start : end + 1]) if 0 <= start < end else None
    value: Any = (parsed or {}).get("final_answer")
    return str(value) if isinstance(value, str | int | float) else None


# -- program synthesis: the program's number is within one percent of the right one ----------------

#: A right number below this size is near zero, where a relative tolerance has no meaning.
_NEAR_ZERO = 1e-6

#: The absolute tolerance there, by the rule; the relative one elsewhere.
ABSOLUTE = {"code": 0.01, "paper": 1e-6}
RELATIVE = 0.01


def judge_program(item: Item, answer: str, rules: Rules) -> Graded:
    """Compare numbers; texts where the item's answer holds no number."""
    truth = first_number(item.answer)
    if truth is None:
        equal = answer.strip().lower() == item.answer.strip().lower()
        return Graded.whole(answer, correct=equal)
    predicted = predicted_number(answer)
    close = predicted is not None and _close(predicted, truth, ABSOLUTE[rules.near_zero])
    return Graded.whole(answer, correct=close, predicted=predicted, truth=truth)


def _close(predicted: float, truth: float, absolute: float) -> bool:
    difference = abs(predicted - truth)
    if abs(truth) < _NEAR_ZERO:
        return difference <= absolute
    # A plain quotient as published, so that 70.7 against 70 fails by the last bit.
    return difference / abs(truth) <= RELATIVE


# -- quantity extraction: equal numbers, or equal spans where a side has no number -----------------

#: The absolute tolerance of a quantity.
TOLERANCE = 1e-6


def judge_quantity(item: Item, answer: str, rules: Rules) -> Graded:
    """Compare the numbers, or the normalised spans unless both sides have a number.

    By the paper's rule the spans alone are compared.
    """
    if rules.spans == "text":
        # Trimmed again, as "$ 9" has a space behind its sign; the code compares it as a number.
        given, right = (_normalised(_bare(text)).strip() for text in (answer, item.answer))
        return Graded.whole(answer, correct=given == right, predicted=given, truth=right)
    predicted, truth = predicted_number(answer), first_number(item.answer)
    if predicted is None or truth is None:
        equal = _normalised(answer) == _normalised(item.answer)
    else:
        equal = math.isclose(predicted, truth, rel_tol=0, abs_tol=TOLERANCE)
    return Graded.whole(answer, correct=equal, predicted=predicted, truth=truth)


def _bare(answer: str) -> str:
    """Return a span without the brackets that the instruction asks for."""
    plain = answer.strip()
    return plain[2:-2] if plain.startswith("[[") and plain.endswith("]]") else plain


def _normalised(span: str) -> str:
    return re.sub(r"\s+", " ", span.lower().strip().translate(SIGNS))


# -- tagging: labels between commas, each compared with the label in its place ---------------------

#: The characters of a number in Python's notation, in any base.
_CHARACTERS = frozenset("0123456789abcdefox.+-_")


def judge_tag(item: Item, answer: str, _: Rules) -> Graded:
    """Count the labels in which an answer agrees; further ones of the answer are ignored."""
    right = _labels(item.answer)
    matched = sum(map(_equal, _labels(answer), right))
    return Graded(matched == len(right), answer, answer, item.answer, matched, len(right))


def _labels(text: str) -> list[str]:
    return [label.strip().lower() for label in text.split(",")]


def _equal(given: str, right: str) -> bool:
    if given == right:
        return True
    numbers = _number(given), _number(right)
    return None not in numbers and numbers[0] == numbers[1]


def _number(label: str) -> int | float | None:
    """Return a label that is one number in Python's notation, with or without a dollar sign.

    The published code evaluates the label as an expression; here "(5)" and "2+3" are texts.
    """
    label = label.replace("$", "").strip()
    if not label or not _CHARACTERS.issuperset(label):
        return None
    try:
        return int(label, 0)  # refuses 007, as Python does
    except ValueError:
        # The only letter allowed is the e of an exponent: "inf" and "nan" are no literals.
        is_decimal = {".", "e"} & {*label} and not {*label} & {*"abcdfox"}
    return to_float(label) if is_decimal else None
