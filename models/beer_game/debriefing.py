"""The debriefing of a game: orders over demand, what was owed, amplification, costs, the demand."""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from desim.core.reported import Debriefing, Overlay
from desim.show.column import Column
from desim.show.labels import number_text
from models.beer_game.score import bullwhip
from models.beer_game.state import Chain, Echelon, shown

#: The line of the customers' demand.
DEMAND = "customers"

#: Levels of a demand that a sentence lists; one with more changes is summed up.
_MOST_LEVELS = 4

_UNITS = Column("units", period="week")
_MONEY = Column("money")


def debriefing(chain: Chain) -> Debriefing:
    """Return what explains a game; amplification is against the customers' demand.

    The demand is that of the weeks played. Amplification is the population variance of a stage's
    orders over that of the customers' demand.

    Source: Chen, Drezner, Ryan and Simchi-Levi (2000), Quantifying the bullwhip effect in a simple
    supply chain, Management Science 46(3), equation 5 and the definition before it.
    """
    stages, customers = chain.echelons, chain.echelons[0]
    demand = [float(shown(row[1])) for row in customers.log]
    return Debriefing(
        (_orders(stages, demand), _stock(stages)),
        {e.name: _costs(chain, e) for e in stages},
        _MONEY,
        {e.name: bullwhip(customers, e) for e in stages},
        _revealed(stages[-1], demand),
        _questions(chain),
    )


def _orders(stages: Sequence[Echelon], demand: Sequence[float]) -> Overlay:
    orders = {e.name: [float(shown(row[3])) for row in e.log] for e in stages}
    return Overlay(
        "Orders of each stage over the customers' demand",
        {DEMAND: demand, **orders},
        _UNITS,
        DEMAND,
    )


def _stock(stages: Sequence[Echelon]) -> Overlay:
    net = {e.name: [float(shown(row[4] - row[5])) for row in e.log] for e in stages}
    return Overlay("Stock of each stage; below zero: units owed", net, _UNITS)


def _costs(chain: Chain, e: Echelon) -> dict[str, float]:
    book = chain.book
    causes = {"holding": e.holding, "backlog": e.backlog}
    return {cause: book.money(book.balance(account)) for cause, account in causes.items()}


def _revealed(last: Echelon, demand: Sequence[float]) -> Overlay | None:
    """Return the demand with the orders of the last stage, which start production."""
    if not demand:
        return None
    made = [float(shown(row[3])) for row in last.log]
    peak = max(made)
    largest, week = number_text(round(peak, 1)), made.index(peak) + 1
    text = f"The largest order of the {last.name} was {largest} units, in week {week}."
    lines = {DEMAND: demand, last.name: made}
    return Overlay("The customers' demand", lines, _UNITS, DEMAND, f"{_demand_text(demand)} {text}")


def _demand_text(demand: Sequence[float]) -> str:
    """Return the demand in words: its levels if these are few, else its mean and range."""
    levels = [(units, sum(1 for _ in weeks)) for units, weeks in groupby(demand)]
    if len(levels) > _MOST_LEVELS:
        mean, low, high = math.fsum(demand) / len(demand), min(demand), max(demand)
        return (
            f"Customers ordered {number_text(round(mean, 1))} units a week on average, between "
            f"{number_text(low)} and {number_text(high)}."
        )
    if len(levels) == 1:
        return f"Customers ordered {number_text(demand[0])} units in every week."
    return f"Customers ordered {', then '.join(_level_texts(levels))}. It never changed again."


def _level_texts(levels: Iterable[tuple[float, int]]) -> Iterable[str]:
    week = 1
    for units, weeks in levels:
        yield f"{number_text(units)} units a week from week {week} on"
        week += weeks


def _questions(chain: Chain) -> tuple[str, ...]:
    params = chain.params
    first = params.stages[0]
    return (
        (
            "What did each seat believe in the middle of the game that the customers ordered? "
            "Where did that belief come from?"
        ),
        (
            f"An order of the {first} takes {params.lead_time(first)} weeks to arrive, even if its "
            "supplier has stock. Who counted, when ordering, what was ordered and had not arrived?"
        ),
        (
            "Which single piece of information, shared by all stages, would have saved most, and "
            "what would it cost a firm to share it?"
        ),
    )
