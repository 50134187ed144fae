"""Cases that are generated from templates: texts with places for numbers that are drawn.

A template names its numbers with their ranges, its words with their choices, and two sets of
recommendations: for a plan that is good by its formulas, and for one that is not. So no text that
was learned by heart fits a case, and what to recommend depends on the numbers.
"""

from collections.abc import Callable, Mapping
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

#: Cases of a half.
CASES = 200

#: Draws of one case, at most; a draw that is of no use is repeated.
_DRAWS = 1_000

#: The relative error of a figure that counts as right.
_TOLERANCE = 0.02

#: A plan gains or loses at least this share, so that no rounding of figures decides what is right.
_CLEAR = 0.05

#: Results that may be negative; other results below 0 are not defined, as the payback of a loss.
_SIGNED = {"balance", "gain", "total", "night", "year", "change", "later"}

_FOLDER = Path(__file__).with_name("templates")


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A template, as its file has it; texts have places for words, numbers and results.

    Attributes:
        set: The half to which it belongs.
        words: Choices by name.
        draws: Lowest and highest number and step, by name.
        gated: Topics and facts.
        numbers: Figures of the rubric, each with the name of a result.
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
    drivers: list[tuple[str, ...]]
    structure: list[str]
    yes: tuple[list[str], list[str]]
    no: tuple[list[str], list[str]]
    canary: str = ""


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
    """Return a case of a template; its draws depend on the number and the template's id alone."""
    stream = generator(number, "consulting", template.id)
    for _ in range(_DRAWS):
        words, given = _drawn(template, stream)
        results = FORMULAS[template.id](given)
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
    texts = (made.public, *(fact.fact for fact in made.gated))
    told = {value for text in texts for value in numbers(text)}
    figures = made.rubric.numbers if made.rubric else ()
    return all(
        abs(value - abs(figure.value)) > figure.tolerance * abs(figure.value)
        for figure in figures
        for value in told
    )


# -- what follows from the numbers of a case -------------------------------------------------------

#: Numbers and results of a case by name; `balance` is the relative gain of the plan, above 0 where
#: it is to be recommended.
Numbers = Mapping[str, int]
Results = dict[str, float]

_WEEKS = 52


def market_entry(of: Numbers) -> Results:
    """Vans that can be replaced, renewed every few years; a part of that; contribution."""
    fleet = of["vans"] * of["share"] / 100
    demand = fleet / of["years"]
    sales = demand * of["part"] / 100
    unit = of["price"] - of["build"] - of["freight"]
    yearly = sales * unit
    profit = yearly - of["running"]
    payback = of["once"] / profit if profit > 0 else -1.0
    found = {"fleet": fleet, "demand": demand, "sales": sales, "unit": unit, "yearly": yearly}
    balance = 1 - payback / of["limit"]
    return {**found, "profit": profit, "payback": payback, "balance": balance}


def price_point(of: Numbers) -> Results:
    """Cartridges over the life of an instrument, and what all buyers at a price bring."""
    refills = of["tests"] * _WEEKS * of["life"] * (of["sold"] - of["refill"])
    at_low, at_high = (
        of["buyers"] * of[share] / 100 * (of[price] - of["make"] + refills)
        for price, share in (("low", "many"), ("high", "few"))
    )
    balance = at_low / at_high - 1
    return {"refills": refills, "at_low": at_low, "at_high": at_high, "balance": balance}


def bottleneck(of: Numbers) -> Results:
    """The slowest of two steps, before and after one more station."""
    slowest = min(of["stations"] * of["each"], of["belt"])
    widened = min((of["stations"] + 1) * of["each"], of["belt"])
    late, later = (max(0, of["volume"] - of["hours"] * rate) for rate in (slowest, widened))
    refund = of["refund"] * of["evenings"]
    saving = (late - later) * refund
    found = {"slowest": slowest, "late": late, "later": later, "refunds": late * refund}
    return {**found, "saving": saving, "balance": saving / of["rent"] - 1}


def takeover(of: Numbers) -> Results:
    """The target alone, and synergies at the same multiple less what joining costs."""
    alone = of["profit"] * of["multiple"]
    closing = of["shops"] * (of["saved"] - of["lost"])
    savings = of["bought"] * of["discount"] / 100
    synergies = closing + savings
    highest = alone + synergies * of["multiple"] - of["integration"]
    found = {"alone": alone, "closing": closing, "savings": savings, "synergies": synergies}
    return {**found, "highest": highest, "balance": highest / of["asking"] - 1}


def make_or_buy(of: Numbers) -> Results:
    """The yearly cost of both ways, and the volume at which they are equal."""
    own = of["material"] + of["labour"]
    making = of["pieces"] * own + of["fixed"]
    buying = of["pieces"] * (of["quote"] + of["freight"]) + of["check"]
    dearer = of["quote"] + of["freight"] - own
    even = (of["fixed"] - of["check"]) / dearer if dearer > 0 else -1.0
    found = {"making": making, "buying": buying, "gap": abs(making - buying), "even": even}
    return {**found, "balance": making / buying - 1}


def price_rise(of: Numbers) -> Results:
    """The contribution of all members before a rise, and of those who stay after it."""
    margin = of["fee"] - of["serve"]
    before = of["members"] * margin
    staying = of["members"] * (1 - of["leave"] / 100)
    after = staying * (margin + of["rise"])
    even = 100 * of["rise"] / (margin + of["rise"])
    found = {"before": before, "staying": staying, "after": after, "even": even}
    return {**found, "change": after - before, "balance": after / before - 1}


def fleet_renewal(of: Numbers) -> Results:
    """The yearly saving of an electric van, less its loss of value."""
    running = of["distance"] * (of["fuel"] - of["power"]) / 100 + of["repair"] - of["care"]
    decline = (of["price"] - of["resale"]) / of["years"]
    total = of["vans"] * (running - decline)
    found = {"running": running, "decline": decline, "gain": running - decline}
    return {**found, "total": total, "balance": running / decline - 1}


def night_shift(of: Numbers) -> Results:
    """The margin of refused orders that a night shift can make, less wages and energy."""
    missing = max(0, of["orders"] - of["made"])
    extra = min(missing, of["capacity"])
    earned = extra * (of["price"] - of["material"])
    spent = of["workers"] * of["wage"] + of["energy"]
    found = {"missing": missing, "extra": extra, "earned": earned, "spent": spent}
    night = earned - spent
    return {**found, "night": night, "year": night * of["days"], "balance": earned / spent - 1}


#: The formulas by the id of their template.
FORMULAS: Mapping[str, Callable[[Numbers], Results]] = {
    each.__name__: each
    for each in (
        *(market_entry, price_point, bottleneck, takeover),
        *(make_or_buy, price_rise, fleet_renewal, night_shift),
    )
}
