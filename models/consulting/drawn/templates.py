"""Cases that are generated from templates: texts with places for numbers that are drawn.

A template names its numbers with their ranges, its words with their choices, and two sets of
recommendations: for a plan that is good by its formulas, and for one that is not. So no text that
was learned by heart fits a case, and what to recommend depends on the numbers.
"""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
from attrs import frozen

from desim.core.streams import generator
from desim.schema import from_plain
from models.consulting.case import Case, Length
from models.consulting.drawn.formulas import FORMULAS
from models.consulting.rules.words import numbers

if TYPE_CHECKING:  # numpy is loaded when a case is drawn
    from numpy.random import Generator

#: The templates for tuning a policy, and those for reports on it, which no tuning has seen.
Half = Literal["tuning", "report"]
HALVES: tuple[Half, ...] = get_args(Half)

#: Cases of a half.
CASES = 200

#: Draws of one case, at most; a draw that is of no use is repeated.
_DRAWS = 1_000

#: The relative error of a figure that counts as right.
_TOLERANCE = 0.02

#: A plan gains or loses at least this share, so that no rounding of figures decides what is right.
_CLEAR = 0.05

#: Results that may be negative.
_SIGNED = ("balance", "gain", "total", "night", "year", "change", "later")

_FOLDER = Path(__file__).with_name("texts")


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A template, as its file has it.

    Attributes:
        id: Its name.
        set: The half to which it belongs.
        title: The title of the case.
        length: The length of the case.
        words: Choices by name.
        draws: Lowest and highest number and step, by name.
        opening: The opening of the case, with places.
        open: The open part of the case, with places.
        gated: Topics and facts, with places.
        internal: The solution, with places for results.
        numbers: Figures of the rubric, each with the name of a result.
        drivers: The drivers of the rubric.
        structure: The structure of the rubric.
        yes: Phrases of a right and of a wrong recommendation where the plan is good.
        no: The same where it is not.
        canary: A line by which a corpus of texts shows that it holds the file; not used.
    """

    id: str
    set: Half
    title: str
    length: Length
    words: dict[str, list[str]]
    draws: dict[str, tuple[int, int, int]]
    opening: str
    open: str
    gated: list[tuple[str, str]]
    internal: str
    numbers: list[tuple[str, str]]
    drivers: list[list[str]]
    structure: list[str]
    yes: tuple[list[str], list[str]]
    no: tuple[list[str], list[str]]
    canary: str = ""


@frozen
class _Drawn:
    """A draw: the words and numbers of the texts, and the results that follow."""

    words: Mapping[str, str]
    given: Mapping[str, int]
    results: Mapping[str, float]

    def fill(self, text: str) -> str:
        """Return a text with its places filled."""
        return text.format(**self.words, **self.given, **self.results)


@cache
def templates() -> tuple[Template, ...]:
    """Return the templates that ship, ordered by id."""
    files = sorted(_FOLDER.glob("*.json"))
    return tuple(msgspec.json.decode(file.read_bytes(), type=Template) for file in files)


@cache
def cases(half: str) -> tuple[Case, ...]:
    """Return the cases of a half: of each template in turn, every one with other numbers."""
    return tuple(case_at(half, number) for number in range(CASES))


@lru_cache(maxsize=CASES)
def case_at(half: str, number: int) -> Case:
    """Return a case of a half by its number, from 0."""
    mine = [each for each in templates() if each.set == half]
    return case(mine[number % len(mine)], number // len(mine))


def case(template: Template, number: int) -> Case:
    """Return a case of a template.

    Args:
        template: The template.
        number: Which of its cases, from 0; the draws depend on it and the template's id alone.
    """
    stream = generator(number, "consulting", template.id)
    for _ in range(_DRAWS):
        drawn = _drawn(template, stream)
        made = _case(template, number, drawn)
        if _is_clear(drawn) and _is_hidden(made):
            return made
    raise ValueError(f"template {template.id} gives no case with a clear answer; widen its ranges")


def _drawn(template: Template, stream: "Generator") -> _Drawn:
    words = {name: each[int(stream.integers(len(each)))] for name, each in template.words.items()}
    given = {
        name: low + step * int(stream.integers((high - low) // step + 1))
        for name, (low, high, step) in template.draws.items()
    }
    return _Drawn(words, given, FORMULAS[template.id](given))


def _case(template: Template, number: int, drawn: _Drawn) -> Case:
    right, wrong = template.yes if drawn.results["balance"] > 0 else template.no
    rubric = {
        "numbers": [
            {"name": name, "value": drawn.results[key], "tolerance": _TOLERANCE}
            for name, key in template.numbers
        ],
        "drivers": template.drivers,
        "recommendation": [*map(drawn.fill, right)],
        "against": [*map(drawn.fill, wrong)],
        "structure": template.structure,
    }
    facts = [{"topic": topic, "fact": drawn.fill(fact)} for topic, fact in template.gated]
    parts = {name: drawn.fill(getattr(template, name)) for name in ("opening", "open", "internal")}
    names = {"id": f"{template.id}_{number}", "title": template.title, "length": template.length}
    made: Case = from_plain({**names, **parts, "gated": facts, "rubric": rubric}, Case)
    return made


def _is_clear(drawn: _Drawn) -> bool:
    """Return whether the plan is clearly good or bad, and every other result is above 0.

    A result of -1 is not defined, such as the payback of a loss.
    """
    others = [value for name, value in drawn.results.items() if name not in _SIGNED]
    return abs(drawn.results["balance"]) >= _CLEAR and min(others) > 0


def _is_hidden(made: Case) -> bool:
    """Return whether no text for the candidate states a figure of the rubric."""
    told = {value for text in _texts(made) for value in numbers(text)}
    rubric: Any = made.rubric
    return all(
        all(abs(value - abs(figure.value)) > figure.tolerance * abs(figure.value) for value in told)
        for figure in rubric.numbers
    )


def _texts(made: Case) -> Iterator[str]:
    yield made.public
    yield from (fact.fact for fact in made.gated)
