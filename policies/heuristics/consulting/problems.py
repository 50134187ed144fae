"""Kinds of problems that a consultant meets: how to structure them, what to ask, what to work out.

Each kind is recognised by words of the first message. Its calculations read the numbers of the
answers by their order (`quantities.py`), so they fit the cases that ship and others with similar
wording; results that need an answer that is missing or reads otherwise are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from attrs import field, frozen

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
        work: Calculations, each independent of the others.
        recommendation: The recommendation, with its reasons.
    """

    cues: tuple[str, ...]
    structure: str
    questions: Mapping[str, str]
    recommendation: str
    work: tuple[Work, ...] = field(default=())

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


_ENTRY = Problem(
    ("start selling", "enter", "new market", "neighbouring country", "abroad"),
    "I take it that the client wants an entry that pays back. I would look at the market and its "
    "demand, at competition, at price and cost, at the investment, and at the risks.",
    {
        "size": "First, how large is the market?",
        "life": "What is the lifetime of a product, and when does its replacement follow?",
        "share": "What does competition look like, and which market share could we win?",
        "price": "What are the price and the cost of a unit?",
        "investment": "Which investment and which running cost would it need?",
        "regulation": "Which regulation or subsidy matters?",
    },
    "I recommend entering, with a small start. First, because the entry pays back within the "
    "owners' limit. Second, because good service and repair win customers. Third, because growth "
    "in the home market is limited. The main risk is that regulation or competitors lower the "
    "price; a pilot limits it.",
    (_entry,),
)


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


_PROFIT = Problem(
    ("lost money", "profit has", "profits have", "loss"),
    "I take it that the client wants its profit back. I would split it into revenue, by customers "
    "and price, and cost, fixed and variable, look for what changed, and weigh the risk of a cure.",
    {
        "sales": "First, how did sales and revenue develop?",
        "commission": "Which commission does the platform keep?",
        "customers": "Who are the customers, and are they new ones?",
        "ingredients": "What do ingredients cost?",
        "fixed": "How did the fixed cost develop, such as wages and rent?",
        "own": "What would ordering of our own need?",
    },
    "I recommend to renegotiate, and to leave the platform if the commission stays. First, because "
    "its commission is higher than what the new business earns. Second, because most orders "
    "replace sales that the client had anyway. Third, because rent and energy cannot be changed "
    "soon. The risk is to lose the new customers.",
    (_channel, _fall),
)


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


_PRICE = Problem(
    ("which price", "what price", "how much to charge", "pricing"),
    "I take it that the client wants the most it can earn over time. I would look at demand and "
    "its value to customers, at cost, at the alternative they have today, at competitors, and at "
    "what they buy afterwards, such as cartridges.",
    {
        "demand": "First, what is the demand at each price?",
        "cost": "What is the unit cost, and that of cartridges?",
        "use": "What is the use over the lifetime?",
        "alternative": "Which laboratory or other alternative do they have?",
        "competitors": "What do competitors offer?",
    },
    "I recommend the price that brings most over the life of a buyer: choose the low price. First, "
    "because recurring sales of cartridges earn more than the first sale. Second, because demand "
    "falls quickly with the price. Third, because a competitor will find most buyers taken. The "
    "risk is a competitor who copies the refill.",
    (_price,),
)


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


_PROCESS = Problem(
    ("missed", "too slow", "loses its time", "depot", "waiting time", "bottleneck"),
    "I take it that the client wants everything done in time at least cost. I would compare the "
    "capacity of the steps, unloading, scanning, sorting and loading, with the volume, find the "
    "bottleneck, and weigh the cost of delay against the cost of a remedy.",
    {
        "volume": "First, which volume arrives in which time window?",
        "ends": "What is the capacity of unloading and loading?",
        "scanning": "What is the capacity of scanning?",
        "belt": "What is the capacity of the sorting belt?",
        "late": "What does a delay cost?",
        "more": "Which investment do more stations need?",
    },
    "I recommend one more scanning station, and the belt after it. First, because scanning is the "
    "bottleneck. Second, because the refunds for late parcels cost more than the station. Third, "
    "because the belt is the next limit. The risk is that the volume grows on.",
    (_bottleneck,),
)


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


_MERGER = Problem(
    ("should buy", "acquire", "takeover", "merge", "may pay"),
    "I take it that the client wants a purchase that is worth its price. I would value the target "
    "alone, then the synergies, from cost and from customers, then integration and its risk, and "
    "compare the sum with the price.",
    {
        "profit": "First, what are the profit and the value of the target?",
        "shops": "Which shops are overlapping?",
        "savings": "What would joint purchasing and one head office save?",
        "integration": "What is the cost of integration?",
        "price": "What is the asking price?",
        "people": "How do culture and people fit?",
    },
    "I recommend buying, up to the highest price and no further. First, because the synergies are "
    "worth more than the premium. Second, because joint purchasing brings a discount. Third, "
    "because closing overlapping shops saves more than it loses. The main risk is integration: "
    "people may leave.",
    (_target_value,),
)


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


_PUBLIC = Problem(
    ("city", "council", "mayor", "ministry", "public"),
    "I take it that the council wants to reach its target for the least money. I would compare "
    "cost and effect of each proposal in one unit, then check target, budget, the views of "
    "residents, and the risk.",
    {
        "target": "First, what are the target and the budget?",
        "buses": "What do free buses cost, and what do they achieve?",
        "parks": "What do the car parks cost, and what do they achieve?",
        "lanes": "What do the cycle lanes cost, and what do they achieve?",
        "residents": "What do residents and shops think?",
    },
    "I recommend cycle lanes and free buses together. First, because they have the lowest cost per "
    "trip. Second, because together they reach the target within the budget. Third, because most "
    "residents are for them. The risk is that some people would switch either way.",
    (_per_trip, _parks),
)

#: The kinds; a tie goes to the earlier one.
PROBLEMS = (_ENTRY, _PROFIT, _PRICE, _PROCESS, _MERGER, _PUBLIC)

GENERAL = Problem(
    (),
    "I would look at the market and its customers, at competition, at revenue and cost, at "
    "capacity and investment, and at the risks.",
    {
        "market": "First, how large is the market?",
        "customers": "What do customers value?",
        "competition": "What does competition look like?",
        "price": "What are the price and the cost of a unit?",
        "investment": "Which investment would it need?",
        "capacity": "What is the capacity?",
        "risk": "Which risks or regulation matter?",
    },
    "I recommend to go on with a small start. First, because the market allows it. Second, because "
    "price and cost leave a margin. The main risk is competition, which a small start limits.",
)
