"""The results that follow from the numbers of a drawn case, and whether its plan is a good one."""

from collections.abc import Callable, Mapping

#: Numbers of a case by name.
Numbers = Mapping[str, int]

#: Results by name; `balance` is the relative gain of the plan, above 0 where it is to
#: be recommended.
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
