"""The numbers of a message, sorted by the word or sign next to them: money, per cent, years, parts.

It reads the usual wording of interviewers, in digits or in words up to twelve. It does not parse
English: numbers of one kind are identified by their order.
"""

import re
from collections.abc import Iterator

from attrs import fields, frozen

_UP_TO_TWELVE = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_WORDS = {word: float(number) for number, word in enumerate(_UP_TO_TWELVE, 1)} | {"twice": 2.0}

_PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4}

_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}

_CURRENCIES = ("euro", "crown", "dollar", "pound", "franc", "eur", "usd", "gbp")

#: "one in five", "one sale in five"; the mark takes the place of the words before the number.
_ONE_IN = re.compile(r"\bone (?:[a-z]+ )?in ([a-z]+|\d+)")
_PART_MARK = "onein"

#: Durations, whose "half" does not count as a part.
_TIMES = re.compile(r"\bhalf an? (?:year|hour|day)\b|\band a half\b")

_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[a-z]+|[%€$£]")

#: Digits of a number that are read.
_DIGITS = 30


@frozen
class Quantities:
    """The numbers of a message by kind, each in the order of the text.

    Attributes:
        money: Amounts with a currency.
        percents: Shares of one, from per cent.
        years: Numbers of years.
        parts: Parts of one: a quarter, one in five.
        counts: All other numbers.
    """

    money: tuple[float, ...]
    percents: tuple[float, ...]
    years: tuple[float, ...]
    parts: tuple[float, ...]
    counts: tuple[float, ...]


def quantities(text: str) -> Quantities:
    """Return the numbers of a message.

    >>> quantities("Six doors; a third of 1.2 million euros goes, 4 % in two years.")
    ... # doctest: +NORMALIZE_WHITESPACE
    Quantities(money=(1200000.0,), percents=(0.04,), years=(2.0,),
               parts=(0.3333333333333333,), counts=(6.0,))
    """
    found = [*_found(_TIMES.sub(" ", text.lower()))]
    kinds = [each.name for each in fields(Quantities)]
    return Quantities(*(tuple(n for kind, n in found if kind == wanted) for wanted in kinds))


def _found(text: str) -> Iterator[tuple[str, float]]:
    tokens = [*_TOKEN.findall(_ONE_IN.sub(rf"{_PART_MARK} \1", text)), "", ""]
    for at, word in enumerate(tokens[:-2]):
        before, after = tokens[at - 1] if at else "", tokens[at + 1]
        if before == _PART_MARK:
            yield from _part(_number_of(word))
        elif word == "half" or (word in _PARTS and before == "a"):
            yield "parts", _PARTS[word]
        elif (value := _number_of(word)) is not None:
            scale = _SCALES.get(after, 1.0)
            unit = tokens[at + 2] if after in _SCALES else after
            kind = _kind(before, unit)
            yield kind, value * scale / (100 if kind == "percents" else 1)


def _part(of: float | None) -> Iterator[tuple[str, float]]:
    if of:
        yield "parts", 1 / of


def _number_of(word: str) -> float | None:
    if word[:1].isdigit():
        return float(word.replace(",", "")[:_DIGITS])
    return _WORDS.get(word)


def _kind(before: str, after: str) -> str:
    if after.removesuffix("s") in _CURRENCIES or before in ("€", "$", "£"):
        return "money"
    if after in ("%", "percent"):
        return "percents"
    return "years" if after in ("year", "years") else "counts"
