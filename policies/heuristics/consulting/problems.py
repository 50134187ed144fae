"""Kinds of problems that a consultant meets: what to say and to ask, and what to work out.

Each kind is recognised by words of the first message; what is said and asked is in `problems.toml`.
The calculations read the numbers of the answers by their order (`quantities.py`), so they fit the
cases that ship and others with similar wording; results that need an answer that is missing or
reads otherwise are left out.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from policies.heuristics.consulting.quantities import Quantities

#: Quantities of the answers by the key of the question; the first message has the key `OPENING`.
Answers = Mapping[str, Quantities]
OPENING = "opening"

#: Yields sentences, each a result; a missing answer or number ends it with an error.
Work = Callable[[Answers], Iterator[str]]


@frozen
class Problem:
    """A kind of problem.

    Attributes:
        cues: Words of a first message by which it is recognised.
        structure: The first answer.
        questions: Questions by key, the most important one first.
        recommendation: The recommendation, with its reasons.
        work: Calculations, each independent of the others.
    """

    cues: Sequence[str]
    structure: str
    questions: Mapping[str, str]
    recommendation: str
    work: Sequence[Work]

    def results(self, answers: Answers) -> Iterator[str]:
        """Yield the sentences that follow from the answers."""
        for work in self.work:
            # Numbers may be missing or make no sense.
            with suppress(LookupError, ValueError, ArithmeticError):
                yield from work(answers)


def problem_in(message: str) -> Problem:
    """Return the kind whose words occur most in a message; of equal ones the first."""
    text = message.lower()
    counts = [sum(cue in text for cue in each.cues) for each in PROBLEMS]
    best = max(counts)
    return PROBLEMS[counts.index(best)] if best else GENERAL


def _n(value: float) -> str:
    """Write a number: from 100 on without decimals, a smaller one with two."""
    large = abs(value) >= 100  # noqa: PLR2004
    return f"{value:,.0f}" if large else f"{value:.2f}".rstrip("0").rstrip(".")


def _entry(of: Answers) -> Iterator[str]:
    size = of["size"]
    potential = max(size.counts) * size.percents[0]
    yield f"That is a potential of {_n(potential)}."
    demand = potential / of["life"].years[0]
    yield f"Renewed over its life it is a demand of {_n(demand)} a year."
    share = of["share"]
    sales = demand * (*share.parts, *share.percents)[-1]
    yield f"Our part would be sales of {_n(sales)} a year."
    price, *costs = of["price"].money
    unit = price - sum(costs)
    yield f"Each leaves a contribution of {_n(unit)}, in a year {_n(sales * unit)}."
    once, running = of["investment"].money[:2]
    profit = sales * unit - running
    yield f"After running cost the profit is {_n(profit)} a year."
    yield f"So payback takes {_n(once / profit)} years."


def _channel(of: Answers) -> Iterator[str]:
    orders, rate = of["sales"].money[2], of["commission"].percents[0]
    paid = orders * rate
    yield f"The commission on these orders is {_n(paid)}."
    new = orders * (1 - of["customers"].percents[0])
    margin = 1 - of["ingredients"].percents[0]
    earned = new * margin
    yield f"New business earns {_n(earned)}, so on balance the platform costs {_n(paid - earned)}."
    yield f"Without a loss the commission could be {_n(100 * earned / orders)} %."


def _fall(of: Answers) -> Iterator[str]:
    before, after, orders = of["sales"].money[:3]
    ingredients = of["ingredients"].percents[0]
    _, rent, later = of["fixed"].money[:3]
    paid = orders * of["commission"].percents[0]
    fall = later - rent + paid - (after - before) * (1 - ingredients)
    yield f"Commission and rent explain a fall of the profit by {_n(fall)}."


def _price(of: Answers) -> Iterator[str]:
    make, refill, sold = of["cost"].money[:3]
    times, weeks = of["use"].counts[:2]
    life = times * weeks * of["use"].years[0] * (sold - refill)
    yield f"Over its life each buyer brings a contribution of {_n(life)} from cartridges."
    demand = of["demand"]
    buyers = max(demand.counts)
    for share, price in zip(demand.percents, demand.money, strict=True):
        total = buyers * share * (price - make + life)
        yield f"A price of {_n(price)} brings a contribution of {_n(total)}."


def _bottleneck(of: Answers) -> Iterator[str]:
    volume, days, hours = of["volume"].counts[:3]
    doors, unloaded, people, loaded = of["ends"].counts[:4]
    stations, each = of["scanning"].counts[:2]
    belt = of["belt"].counts[0]
    rates = [doors * unloaded, stations * each, belt, people * loaded]
    late = max(0.0, volume - hours * min(rates))
    yield f"The slowest step does {_n(min(rates))} an hour, so {_n(late)} are late."
    refund = of["late"].money[0] * days
    yield f"Their refunds cost {_n(late * refund)} a year."
    rates[1] += each
    later = max(0.0, volume - hours * min(rates))
    yield f"One more station saves {_n((late - later) * refund)} a year."
    yield f"The belt then still costs {_n(later * refund)}."


def _target_value(of: Answers) -> Iterator[str]:
    profit, multiple = of["profit"].money[0], of["profit"].counts[0]
    yield f"Alone the target is worth {_n(profit * multiple)}."
    shops = of["shops"]
    saved, sales = shops.money[:2]
    lost = sales * (1 - shops.percents[0]) * shops.parts[-1]
    closing = shops.counts[0] * (saved - lost)
    yield f"Closing overlapping shops saves {_n(closing)} a year after the customers lost."
    bought, office = of["savings"].money[:2]
    synergies = closing + bought * of["savings"].percents[0] + office
    yield f"Synergies are {_n(synergies)} a year."
    highest = multiple * (profit + synergies) - of["integration"].money[0]
    yield f"After integration the highest price is {_n(highest)}."


def _per_trip(of: Answers) -> Iterator[str]:
    trips, buses = max(of[OPENING].counts), of["buses"]
    bused = trips * buses.percents[0]
    yield f"Free buses cost {_n(buses.money[0] / bused)} a year per trip."
    lanes = of["lanes"]
    (length, replaced), (each, upkeep) = lanes.counts[:2], lanes.money[:2]
    yearly = length * each / lanes.years[0] + upkeep
    yield f"Cycle lanes cost {_n(yearly / replaced)} a year per trip."
    yield (
        f"Lanes and free buses replace {_n(bused + replaced)} trips and cost "
        f"{_n(buses.money[0] + yearly)} a year."
    )


def _parks(of: Answers) -> Iterator[str]:
    parks = of["parks"]
    (number, spaces), (build, run) = parks.counts[:2], parks.money[:2]
    fewer = number * spaces * (1 - parks.parts[0])
    yield f"The car parks cost {_n((build / parks.years[0] + run) / fewer)} a year per trip."


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WORK: Mapping[str, Sequence[Work]] = {
    "entry": (_entry,),
    "profit": (_channel, _fall),
    "price": (_price,),
    "process": (_bottleneck,),
    "merger": (_target_value,),
    "public": (_per_trip, _parks),
}

#: The kinds; a tie goes to the earlier one.
PROBLEMS = [Problem(**_TEXTS[kind], work=work) for kind, work in _WORK.items()]

GENERAL = Problem(**_TEXTS["general"], work=())
