"""Generated cases: every figure follows from the facts, and no half shows the other."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from desim import play
from models.consulting import Consulting
from models.consulting.case import Case
from models.consulting.drawn import cases, templates

ALL = [*cases("tuning"), *cases("report")]


def told(case: Case) -> Callable[[str], list[float]]:
    """Return a function that returns the numbers of the fact about a topic."""
    facts = {fact.topic: fact.fact for fact in case.gated}
    return lambda topic: [
        float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", facts[topic])
    ]


def market_entry(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """Vans, share, years; a part of the demand; the margin; investment and its limit."""
    vans, share = of("market size")
    [years], [part] = of("lifetime and replacement"), of("competition and share")
    price, build, freight = of("price and cost")
    once, running, limit = of("investment and workshops")
    fleet = vans * share / 100
    sales = fleet / years * part / 100
    unit = price - build - freight
    profit = sales * unit - running
    figures = [fleet, fleet / years, sales, unit, sales * unit, profit, once / profit]
    return figures, once / profit < limit


def price_point(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """The cartridges of one instrument, and both prices."""
    buyers, many, low, few, high = of("demand and price")
    make, refill, sold = of("unit cost")
    tests, weeks, life = of("use and lifetime")
    refills = tests * weeks * life * (sold - refill)
    first, second = (
        buyers * share / 100 * (price - make + refills)
        for share, price in ((many, low), (few, high))
    )
    return [refills, first, second], first > second


def bottleneck(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """Scanning before and after one more station, behind a belt."""
    volume, evenings, hours = of("volume and time")
    stations, each = of("scanning capacity")
    [belt], [refund], [rent] = of("sorting belt"), of("delay cost"), of("station cost")
    rates = [min(count * each, belt) for count in (stations, stations + 1)]
    late = [max(0.0, volume - hours * rate) * refund * evenings for rate in rates]
    saving = late[0] - late[1]
    return [rates[0], volume - hours * rates[0], late[0], saving], saving > rent


def takeover(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """The target alone and with synergies, less what joining costs."""
    profit, multiple = of("profit and value")
    shops, saved, lost = of("overlapping shops")
    bought, discount = of("purchasing")
    [integration], [asking] = of("integration cost"), of("asking price")
    closing = shops * (saved - lost)
    synergies = closing + bought * discount / 100
    highest = (profit + synergies) * multiple - integration
    return [profit * multiple, closing, synergies, highest], highest > asking


def make_or_buy(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """Both yearly costs, and the volume at which they meet."""
    [pieces], [foundry], [inspection] = (
        of("volume"),
        of("fixed cost of the foundry"),
        of("inspection"),
    )
    own, bought = sum(of("material and labour")), sum(of("supplier's offer"))
    making, buying = pieces * own + foundry, pieces * bought + inspection
    even = (foundry - inspection) / (bought - own)
    return [making, buying, abs(making - buying), even], making > buying


def price_rise(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """All members at today's margin, the rest of them at a higher one."""
    members, fee = of("members and fee")
    [cost], [rise], [leave] = of("cost of a member"), of("the rise"), of("members who leave")
    before, staying = members * (fee - cost), members * (100 - leave) / 100
    after = staying * (fee + rise - cost)
    return [before, staying, after, 100 * (1 - (fee - cost) / (fee + rise - cost))], after > before


def fleet_renewal(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """Fuel and repair saved in a year against the loss of value."""
    vans, distance = of("fleet and distance")
    fuel, power = of("fuel")
    repair, care = of("repair")
    price, years, resale = of("price of a new van")
    saved = distance * (fuel - power) / 100 + repair - care
    lost = (price - resale) / years
    return [saved, lost, vans * (saved - lost)], saved > lost


def night_shift(of: Callable[[str], list[float]]) -> tuple[list[float], bool]:
    """What is turned away and can be made at night, against wages and energy."""
    orders, made, days = of("orders and output")
    [capacity], [energy] = of("night capacity"), of("energy")
    price, material = of("price and material")
    workers, wage = of("wages")
    earned = min(orders - made, capacity) * (price - material)
    spent = workers * wage + energy
    return [orders - made, earned, spent, (earned - spent) * days], earned > spent


WORKED = {
    each.__name__: each
    for each in (
        *(market_entry, price_point, bottleneck, takeover),
        *(make_or_buy, price_rise, fleet_renewal, night_shift),
    )
}


@pytest.mark.parametrize("name", WORKED)
def test_every_figure_follows_from_the_facts(name: str) -> None:
    """Worked out anew from the numbers in the facts, in each case; so is what to recommend."""
    [template] = [each for each in templates() if each.id == name]
    mine = [case for case in ALL if case.id.rpartition("_")[0] == name]
    decided = Counter[bool]()
    for case in mine:
        assert case.rubric
        figures, good = WORKED[name](told(case))
        assert [each.value for each in case.rubric.numbers] == pytest.approx(figures), case.id
        right, wrong = (template.yes if good else template.no)[0], case.rubric.recommendation
        assert right[0] == wrong[0], case.id
        decided[good] += 1
    assert min(decided[True], decided[False]) >= len(mine) // 10


@pytest.mark.parametrize("preset", ["drawn", "held_out"])
def test_drawn_cases_are_played(preset: str) -> None:
    """The seed chooses the case; its record needs no file."""
    model = Consulting.preset(preset)
    scores = [play(model, "framework", seed=seed).score for seed in range(8)]
    assert len({play(model, "silent", seed=seed).metrics["case"] for seed in range(8)}) == 8
    assert all(0 <= score <= 10 for score in scores)
