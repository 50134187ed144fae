"""The numbers of a message, sorted by the word or sign next to them: money, per cent, years, parts.

It reads the usual wording of interviewers, in digits or in words up to twelve. It does not parse
English: numbers of one kind are identified by their order.
"""

import re

from attrs import field, frozen

_UP_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_WORDS = {word: float(number) for number, word in enumerate(_UP_TO_TWELVE.split(), 1)}
_WORDS["twice"] = 2.0
_PARTS = {"half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "": 1.0}

#: Digits of a number that are read.
_DIGITS = 30

_NUMBER = rf"\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(_WORDS)})\b"
_QUANTITY = re.compile(
    rf"""
    \bhalf\ an?\ (?:year|hour|day)\b | \band\ a\ half\b  # durations, whose half is no part
    | \bone\ (?:[a-z]+\ )?in\ (?P<one_in>{_NUMBER})
    | \b(?P<part>half|a\ third|a\ quarter)\b
    | (?:(?P<sign>[€$£])\W*)? (?P<number>{_NUMBER})
      (?:\W*(?P<scale>thousand|million|billion)\b)?
      (?:[^\w%]*(?P<unit>%|percent\b|years?\b|(?:euro|crown|dollar|pound|franc|eur|usd|gbp)s?\b))?
    """,
    re.VERBOSE,
)


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

    money: list[float] = field(factory=list)
    percents: list[float] = field(factory=list)
    years: list[float] = field(factory=list)
    parts: list[float] = field(factory=list)
    counts: list[float] = field(factory=list)


def quantities(text: str) -> Quantities:
    """Return the numbers of a message.

    >>> quantities("Six doors; a third of 1.2 million euros goes, 4 % in two years.")
    ... # doctest: +NORMALIZE_WHITESPACE
    Quantities(money=[1200000.0], percents=[0.04], years=[2.0],
               parts=[0.3333333333333333], counts=[6.0])
    """
    found = Quantities()
    for match in _QUANTITY.finditer(text.lower()):
        if match["part"]:
            found.parts.append(_PARTS[match["part"]])
        elif match["one_in"]:
            if of := _value(match["one_in"]):
                found.parts.append(1 / of)
        elif match["number"]:
            value, unit = _value(match["number"]) * _SCALES[match["scale"] or ""], match["unit"]
            if unit in ("%", "percent"):
                found.percents.append(value / 100)
            elif unit in ("year", "years"):
                found.years.append(value)
            else:
                (found.money if unit or match["sign"] else found.counts).append(value)
    return found


def _value(number: str) -> float:
    return _WORDS.get(number) or float(number.replace(",", "")[:_DIGITS])
