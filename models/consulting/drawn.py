"""Cases that are generated from templates: texts with places for numbers that are drawn."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from desim.core.streams import generator
from models.consulting.case import Case, Fact, Figure, Length, Rubric
from models.consulting.rules.words import numbers

if TYPE_CHECKING:  # numpy is loaded when a case is drawn
    from numpy.random import Generator

#: The templates for tuning a policy, and those for reports on it, which no tuning has seen.
Half = Literal["tuning", "report"]
HALVES: tuple[Half, ...] = get_args(Half)

CASES = 200  # of a half
_DRAWS = 1_000  # of one case at most; a draw that is of no use is repeated
_TOLERANCE = 0.02  # the relative error of a figure that counts as right
_CLEAR = 0.05  # share that a plan gains or loses at least, so that no rounding decides

#: Results that may be negative; other results below 0 are not defined, as the payback of a loss.
_SIGNED = {"balance", "gain", "total", "night", "year", "change", "later"}

#: Functions that a formula may call.
_FUNCTIONS = {"__builtins__": {"abs": abs, "max": max, "min": min}}


class Template(msgspec.Struct, frozen=True):
    """A template, as its file has it; texts have places for words, numbers and results."""

    id: str
    set: Half
    title: str
    length: Length
    words: dict[str, list[str]]  # choices by name
    draws: dict[str, tuple[int, int, int]]  # lowest and highest number and step by name
    #: Formulas of the draws and of earlier results, by name; `balance` is the relative gain of the
    #: plan, above 0 where it is to be recommended.
    results: dict[str, str]
    opening: str
    open: str
    gated: list[tuple[str, str]]
    internal: str
    numbers: list[tuple[str, str]]  # figures of the rubric, each with the name of a result
    drivers: list[tuple[str, ...]]
    structure: list[str]
    yes: tuple[list[str], list[str]]  # right and wrong recommendations where the plan is good
    no: tuple[list[str], list[str]]  # the same where it is not


@cache
def templates() -> tuple[Template, ...]:
    """Return the templates that ship, ordered by id."""
    files = sorted(Path(__file__).with_name("templates").glob("*.json"))
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
    """Return a case of a template; its draws depend on the number and the template's id alone."""
    stream = generator(number, "consulting", template.id)
    for _ in range(_DRAWS):
        words, given = _drawn(template, stream)
        results = _results(template, given)
        made = _filled(template, number, {**words, **given, **results})
        undefined = min(value for name, value in results.items() if name not in _SIGNED) <= 0
        if abs(results["balance"]) >= _CLEAR and not undefined and _is_hidden(made):
            return made
    raise ValueError(f"template {template.id} gives no case with a clear answer; widen its ranges")


def _drawn(template: Template, stream: "Generator") -> tuple[dict[str, str], dict[str, int]]:
    words = {name: each[int(stream.integers(len(each)))] for name, each in template.words.items()}
    given = {
        name: low + step * int(stream.integers((high - low) // step + 1))
        for name, (low, high, step) in template.draws.items()
    }
    return words, given


def _results(template: Template, given: Mapping[str, int]) -> dict[str, float]:
    known: dict[str, float] = {**given}
    for name, formula in template.results.items():
        known[name] = eval(formula, _FUNCTIONS, known)  # noqa: S307 (only files that ship)
    return {name: known[name] for name in template.results}


def _filled(template: Template, number: int, places: Mapping[str, str | float]) -> Case:
    def fill(text: str) -> str:
        return text.format(**places)

    right, wrong = template.yes if float(places["balance"]) > 0 else template.no
    return Case(
        id=f"{template.id}_{number}",
        title=template.title,
        length=template.length,
        opening=fill(template.opening),
        open=fill(template.open),
        gated=tuple(Fact(topic, fill(fact)) for topic, fact in template.gated),
        internal=fill(template.internal),
        rubric=Rubric(
            numbers=tuple(
                Figure(name, float(places[result]), _TOLERANCE) for name, result in template.numbers
            ),
            drivers=tuple(template.drivers),
            recommendation=tuple(map(fill, right)),
            against=tuple(map(fill, wrong)),
            structure=tuple(template.structure),
        ),
    )


def _is_hidden(made: Case) -> bool:
    """Return whether no text for the candidate states a figure of the rubric."""
    told = numbers("\n".join([made.public, *(fact.fact for fact in made.gated)]))
    figures = made.rubric.numbers if made.rubric else ()
    return all(
        abs(value - abs(figure.value)) > figure.tolerance * abs(figure.value)
        for figure in figures
        for value in told
    )
