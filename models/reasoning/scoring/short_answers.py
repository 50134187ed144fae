"""The scorers of short answers: a choice, a value, a program's number, a quantity, tags."""

import math
import re
from typing import Any

from models.reasoning.item import LETTERS, Item
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded, extraction

#: A letter on its own, not within a word: "B", "(B)", "B." and "option B".
_ALONE = re.compile(rf"(?<![\w'])[{LETTERS}](?![\w'])")

#: A number with commas, decimals and an exponent; a sign counts only directly before it.
_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")

#: A number with a comma before every three digits.
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")

#: A right number below this size is near zero, where a relative tolerance has no meaning.
_NEAR_ZERO = 1e-6

#: Tolerances of a program's number: the absolute one near zero, by the rule, and the relative one.
ABSOLUTE = {"code": 0.01, "paper": 1e-6}
RELATIVE = 0.01

#: The absolute tolerance of a quantity.
TOLERANCE = 1e-6


def judge_choice(item: Item, answer: str, rules: ReasoningParams) -> Graded:
    """Compare letters; raises on digits that `int` refuses, nan and infinity, as published."""
    truth = label_of(item.answer, item.options)
    predicted = _predicted(answer, item.options, rules)
    return Graded(answer, predicted == truth, predicted, truth)


def _predicted(answer: str, options: tuple[str, ...], rules: ReasoningParams) -> str:
    letters = LETTERS[: len(options)]
    number = extraction.bracket_number(answer)
    # Half to even, as Python rounds.
    if number is not None and 0 <= (index := round(number)) < len(options):
        return letters[index]
    label = label_of(answer, options)
    if rules.letters == "pattern" and label not in letters:
        alone = [found for found in _ALONE.findall(answer) if found in letters]
        return alone[-1] if alone else label
    return label


def label_of(text: str, options: tuple[str, ...]) -> str:
    """Return the option that a letter, a number from 0 or its text names; others in capitals."""
    plain = text.strip()
    letters = LETTERS[: len(options)]
    if len(plain) == 1 and plain.upper() in letters:
        return plain.upper()
    if plain.isdigit() and (index := int(plain)) < len(options):
        return letters[index]
    texts = [option.strip().lower() for option in options]
    return letters[texts.index(plain.lower())] if plain.lower() in texts else plain.upper()


def judge_value(item: Item, answer: str, _: ReasoningParams) -> Graded:
    """Compare the whole answer, else the field of a JSON object in it, else its last number."""
    given = [_plain(text) for text in (answer, _field(answer)) if text is not None]
    right = _plain(item.answer)
    truth = extraction.to_float(right)
    if truth is None:
        return Graded(answer, right in given)
    last = [found.replace(",", "") for found in _NUMBER.findall(answer)[-1:]]
    numbers = (extraction.to_float(text) for text in (*given, *last))
    number = next((each for each in numbers if each is not None), None)
    return Graded(answer, number == truth, number, truth)


def _plain(text: str) -> str:
    """Return a text without the spaces around it and the commas between thousands."""
    return _THOUSANDS.sub(lambda found: found.group().replace(",", ""), text.strip())


def _field(answer: str) -> str | None:
    """Return `final_answer` of the outermost JSON object of a text as text."""
    start, end = answer.find("{"), answer.rfind("}")
    parsed = extraction.parsed_object(answer[start : end + 1]) if 0 <= start < end else None
    value: Any = (parsed or {}).get("final_answer")
    return str(value) if isinstance(value, str | int | float) else None


def judge_program(item: Item, answer: str, rules: ReasoningParams) -> Graded:
    """Compare numbers; texts where the item's answer holds no number."""
    truth = extraction.first_number(item.answer)
    if truth is None:
        return Graded(answer, answer.strip().lower() == item.answer.strip().lower())
    predicted = extraction.predicted_number(answer)
    difference = math.nan if predicted is None else abs(predicted - truth)
    if abs(truth) < _NEAR_ZERO:
        is_close = difference <= ABSOLUTE[rules.near_zero]
    else:
        # A plain quotient as published, so that 70.7 against 70 fails by the last bit.
        is_close = difference / abs(truth) <= RELATIVE
    return Graded(answer, is_close, predicted, truth)


def judge_quantity(item: Item, answer: str, rules: ReasoningParams) -> Graded:
    """Compare the numbers; the spans unless both sides have one, or by the paper's rule."""
    if rules.spans == "text":
        # Trimmed again, as "$ 9" has a space behind its sign; the code compares it as a number.
        given, right = (_normalised(_bare(text)).strip() for text in (answer, item.answer))
        return Graded(answer, given == right, given, right)
    predicted, truth = extraction.predicted_number(answer), extraction.first_number(item.answer)
    if predicted is None or truth is None:
        is_equal = _normalised(answer) == _normalised(item.answer)
    else:
        is_equal = math.isclose(predicted, truth, rel_tol=0, abs_tol=TOLERANCE)
    return Graded(answer, is_equal, predicted, truth)


def _bare(answer: str) -> str:
    """Return a span without the brackets that the instruction asks for."""
    plain = answer.strip()
    return plain[2:-2] if plain.startswith("[[") and plain.endswith("]]") else plain


def _normalised(span: str) -> str:
    return re.sub(r"\s+", " ", span.lower().strip().translate(extraction.SIGNS))


def judge_tag(item: Item, answer: str, _: ReasoningParams) -> Graded:
    """Count the labels between commas that agree with the one in their place; more are ignored."""
    given, right = ([_label(text) for text in one.split(",")] for one in (answer, item.answer))
    matched = sum(one == other for one, other in zip(given, right, strict=False))
    return Graded(answer, matched == len(right), answer, item.answer, matched, len(right))


def _label(text: str) -> int | float | str:
    """Read a number in Python's notation, with or without "$"; "(5)" and "2+3" are texts here."""
    plain = text.strip().lower()
    number = plain.replace("$", "").strip()
    if not number.isascii():
        return plain
    try:
        return int(number, 0)  # refuses 007, as Python does
    except ValueError:
        # The only letter allowed is the e of an exponent: "inf" and "nan" are no literals.
        is_decimal = {*number} <= {*"0123456789e.+-_"} and {".", "e"} & {*number}
    value = extraction.to_float(number) if is_decimal else None
    return plain if value is None else value
