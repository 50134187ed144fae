"""Multiple choice: the letter of the answer is the right one."""

import re

from models.reasoning.item import Item
from models.reasoning.scoring.numbers import LETTERS, bracket_number
from models.reasoning.scoring.verdict import Rules, Verdict

__all__ = ["judge", "label_of"]

#: A letter that is no part of a word: "B", "(B)", "B." and "option B".
_ALONE = re.compile(rf"(?<![\w'])[{LETTERS}](?![\w'])")


def judge(item: Item, answer: str, rules: Rules) -> Verdict:
    """Compare labels.

    Raises:
        ValueError: The answer is a character that counts as a digit and is no number, or nan.
        OverflowError: The answer is infinite.
    """
    truth = label_of(item.answer, item.options)
    predicted = _predicted(answer, item.options, rules)
    return Verdict.single(correct=predicted == truth, predicted=predicted, truth=truth)


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
        ValueError: It counts as digits and is no number, such as a superscript.
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
