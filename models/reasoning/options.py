"""Sensible answers to a question: the options of a choice, the labels or the numbers of a text."""

import re

from desim import Option
from models.reasoning.actions import Answer
from models.reasoning.observation import Question
from models.reasoning.scoring.numbers import LETTERS

#: Answers that are offered at most, and characters of the text in which they are looked for.
_MOST, _READ = 8, 20_000

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?%?")
_LABEL = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")


def options(seen: Question) -> list[Option]:
    """Return answers that fit the form; which of them is right cannot be seen, so all have value 0.

    Those of a multiple choice are all letters; of a tagging, labels that the context names; of the
    others, numbers of the context and the question. The last resort is an empty answer.
    """
    found = _found(seen)
    return [Option(Answer(text), 0.0, note=note) for text, note in found] or [
        Option(Answer(""), 0.0, note="no answer")
    ]


def default_action(_: Question) -> Answer:
    """Return an empty answer."""
    return Answer("")


def _found(seen: Question) -> list[tuple[str, str]]:
    if seen.category == "multiple_choice":
        return [
            (f"[[{letter}]]", text) for letter, text in zip(LETTERS, seen.options, strict=False)
        ]
    text = f"{seen.context[:_READ]}\n{seen.question[:_READ]}"
    if seen.category == "tagging":
        return _distinct(_LABEL.findall(text), "{}")
    if seen.category == "formula_completion":
        return [("```python\nreturn 0\n```", "nothing computed")]
    numbers = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return _distinct(numbers, "{}" if seen.category == "formula_value" else "[[{}]]")


def _distinct(texts: list[str], form: str) -> list[tuple[str, str]]:
    return [(form.format(text), "") for text in list(dict.fromkeys(texts))[:_MOST]]
