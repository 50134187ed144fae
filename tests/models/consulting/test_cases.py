"""The shipped cases: every number that a good answer needs follows from what may be told."""

import re
from collections.abc import Callable, Mapping

import pytest

from models.consulting.case import Case
from models.consulting.case_file import shipped

CASES = {case.id: case for case in shipped()}

#: Numbers that the texts write as words.
WORDS = {"half": 0.5, "quarter": 0.25, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5}
WORDS |= {"six": 6, "eight": 8, "ten": 10}

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:\s+million)?|[a-z]+", re.IGNORECASE)


def numbers(text: str) -> list[float]:
    """Return the numbers of a text in order, millions multiplied out."""
    found = (_number(match) for match in _NUMBER.findall(text))
    return [number for number in found if number is not None]


def _number(text: str) -> float | None:
    if text[0].isalpha():
        return WORDS.get(text.lower())
    digits, _, unit = text.partition(" ")
    return float(digits.replace(",", "")) * (1_000_000 if unit.strip() else 1)


#: The numbers told about a topic, "" for opening and background.
Told = Callable[[str], list[float]]


def told(case: Case) -> Told:
    """Return a function of a topic that returns the numbers of its fact."""
    facts = {fact.topic: fact.fact for fact in case.gated} | {"": case.public}
    return lambda topic: numbers(facts[topic])


def market_entry(of: Told) -> dict[str, float]:
    """Vans that can be replaced, renewed every few years; a share of that; contribution."""
    _, vans, share = of("market size")
    fleet = vans * share / 100
    [years] = of("lifetime and replacement")
    demand = fleet / years
    sales = demand / of("competition and share")[-1]
    price, build, freight = of("price and cost")
    _, once, running, _ = of("investment and workshops")
    unit = price - build - freight
    profit = sales * unit - running
    return {
        "potential fleet in bikes": fleet,
        "demand a year in bikes": demand,
        "Hafenrad's sales a year in bikes": sales,
        "contribution of a bike in crowns": unit,
        "contribution a year in crowns": sales * unit,
        "profit a year in crowns": profit,
        "payback, paid back in years": once / profit,
    }


def profitability(of: Told) -> dict[str, float]:
    """Two years' results; the part of the orders that is new business, and its commission."""
    before, _, after, orders, _ = of("sales and revenue")
    commission = orders * of("platform commission")[0] / 100
    new = orders * (1 - of("customers")[0] / 100)
    [ingredients] = of("ingredient cost")
    wages, rent_before, _, rent_after, office, _ = of("fixed cost")
    margin = 1 - ingredients / 100
    first = before * margin - wages - rent_before - office
    last = after * margin - wages - rent_after - office - commission
    assert after - before == pytest.approx(new)
    return {
        "fall of the profit, euros": first - last,
        "commission paid, euros": commission,
        "what the platform costs on balance, euros": commission - new * margin,
        "commission without loss, percent": 100 * new * margin / orders,
    }


def pricing(of: Told) -> dict[str, float]:
    """Cartridges over a tester's life, and what all testers sold at a price bring."""
    make, refill, cartridge = of("unit cost")
    weekly, weeks, years = of("use and lifetime")
    life = weekly * weeks * years * (cartridge - refill)
    farms, *demand = of("demand and price")
    total = {
        price: farms * share / 100 * (price - make + life)
        for share, price in zip(demand[::2], demand[1::2], strict=True)
    }
    assert max(total, key=lambda price: total[price]) == 2_000
    return {
        "cartridge contribution over a tester's life, euros": life,
        "contribution at 2,000 euros": total[2_000],
        "contribution at 3,000 euros": total[3_000],
    }


def operations(of: Told) -> dict[str, float]:
    """The slowest of four steps, before and after one more station."""
    volume, evenings, hours = of("volume and time")
    doors, unloaded, people, loaded = of("loading capacity")
    stations, each = of("scanning capacity")
    steps = [doors * unloaded, stations * each, of("sorting belt")[0], people * loaded]
    more = [steps[0], (stations + 1) * each, *steps[2:]]
    late, later = (volume - hours * min(rates) for rates in (steps, more))
    refund = of("delay cost")[-1] * evenings
    assert min(steps) == steps[1]
    assert min(more) == more[2]
    return {
        "parcels an hour at the slowest step": min(steps),
        "late parcels an evening": late,
        "refunds a year, euros": late * refund,
        "saving by one more station, euros a year": (late - later) * refund,
        "refunds that the belt would still cause, euros a year": later * refund,
    }


def merger(of: Told) -> dict[str, float]:
    """The target alone, and synergies at the same multiple less what joining costs."""
    profit, _, multiple = of("profit and value")
    shops, saved, sales, kept, margin = of("overlapping shops")
    closing = shops * (saved - sales * (1 - kept / 100) * margin)
    bought, discount, _, office = of("purchasing synergies")
    synergies = closing + bought * discount / 100 + office
    highest = multiple * (profit + synergies) - of("integration cost")[-1]
    assert highest > of("asking price")[0]
    return {
        "value of the target alone, euros": multiple * profit,
        "net saving from closing shops, euros a year": closing,
        "synergies, euros a year": synergies,
        "highest price, euros": highest,
    }


def public_sector(of: Told) -> dict[str, float]:
    """What a car trip less costs by each proposal, and the two best ones together."""
    trips, (wanted, budget) = of("")[0], of("target and budget")
    buses, replaced = of("free buses")
    parks, spaces, building, years, shuttle, by_bus = of("car parks")
    kilometres, each, life, upkeep, cycled = of("cycle lanes")
    bused, parked = trips * replaced / 100, parks * spaces * (1 - by_bus)
    lanes = kilometres * each / life + upkeep
    assert max(bused, parked, cycled) < trips * wanted / 100 < bused + cycled
    assert buses + lanes < budget
    return {
        "euros a year for a daily trip, free buses": buses / bused,
        "euros a year for a daily trip, car parks": (building / years + shuttle) / parked,
        "euros a year for a daily trip, cycle lanes": lanes / cycled,
        "trips replaced by lanes and free buses": bused + cycled,
        "cost of lanes and free buses, euros a year": buses + lanes,
    }


WORKED: Mapping[str, Callable[[Told], dict[str, float]]] = {
    "market_entry": market_entry,
    "merger": merger,
    "operations": operations,
    "pricing": pricing,
    "profitability": profitability,
    "public_sector": public_sector,
}


def test_six_cases_ship() -> None:
    """Of all three lengths, each worked out below."""
    assert [*CASES] == [*WORKED]
    assert {case.length for case in CASES.values()} == {"short", "medium", "long"}


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.id)
def test_the_numbers_of_a_rubric_follow_from_the_facts(case: Case) -> None:
    """The arithmetic is here, its inputs are read from the texts."""
    assert case.rubric is not None
    worked = WORKED[case.id](told(case))
    assert [*worked] == [figure.name for figure in case.rubric.numbers]
    for figure in case.rubric.numbers:
        # As exact as the rubric writes it, and well within the error that it allows.
        assert figure.value == pytest.approx(worked[figure.name], rel=figure.tolerance / 5)


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.id)
def test_a_case_is_complete(case: Case) -> None:
    """Six to ten facts, and something of every part of a rubric."""
    assert case.rubric is not None
    assert 6 <= len(case.gated) <= 10
    assert all((case.title, case.opening, case.open, case.internal))
    rubric = case.rubric
    assert all((rubric.numbers, rubric.drivers, rubric.recommendation, rubric.structure))
    assert rubric.against
