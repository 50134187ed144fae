"""The lowest cost that order lists of the played stages can reach, the demand being known.

The bound is the optimum of a linear program of the chain (`chain_program.py` has the argument) and,
for one stage, also the one of `cost_bound.py`. Its order lists are then played in the model. Where
they cost what the bound says, no lists are cheaper and the score is proved. Where one stage is
played among rules, the program may expect of the rules what they do not do; `perfect` then searches
for a list that attains the bound. A gap that remains makes the bound a relaxation.

A policy answers with order lists, whatever it observes or draws, so the bound holds for every
policy on these stages.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from attrs import frozen

from desim.catalog.known_scores import KnownBound
from desim.errors import UsageError, possible
from desim.short_repr import short_repr
from models.beer_game.params import BeerGameParams
from policies.informed.beer_game.chain_program import ChainProgram, Flows
from policies.informed.beer_game.cost_bound import CostBound
from policies.informed.beer_game.perfect import OrderLists, best_plan, played_cost, weekly_rows

#: Most weeks, summed over the stages, of a game whose program is solved; that takes some seconds.
STAGE_WEEKS = 4_000

#: Most weeks of a game in which a list is searched for; the search takes seconds there.
SEARCHED_WEEKS = 104

#: Share of the cost by which a sum of doubles may miss the bound.
_TOLERANCE = 1e-9


@frozen
class ClairvoyantLists:
    """Order lists made with knowledge of the demand.

    Attributes:
        orders: By played stage the units of each week, forced weeks included.
        cost: Cost of the played stages with these lists, in money, as played by the model.
        bound: Lower bound on the cost of any lists of these stages, in money.
    """

    orders: OrderLists
    cost: float
    bound: float

    @property
    def proved(self) -> bool:
        """Whether no lists are cheaper."""
        return self.cost - self.bound <= _TOLERANCE * max(1.0, self.cost)


def score_bound(model: object, seed: int, seats: Sequence[str] = ()) -> KnownBound | None:
    """Return the best score that policies can reach in an episode, or an upper bound on it.

    Args:
        model: The model of the episode.
        seed: The episode's seed, from which random demand is drawn.
        seats: The stages that policies play; none: the stage that is played when no role is named.

    Returns:
        "proved" where order lists attain the value, "relaxation" where none are known that do; None
        for another model, for a game that is too long, or where the solver fails.

    Raises:
        UsageError: A seat is not a stage of the game.
    """
    if not isinstance(model, BeerGameParams):
        return None
    for seat in seats:
        if seat not in model.stages:
            near = possible(str(seat), model.stages)
            raise UsageError(f"seats={short_repr(seat)} was given; {near}")
    played = frozenset(seats or [model.controlled])
    lists = clairvoyant_lists(model, played, 0 if model.deterministic else seed)
    if lists is None:
        return None
    if lists.proved:
        return KnownBound(0.0 - lists.cost, "proved")
    return KnownBound(0.0 - lists.bound, "relaxation")


@lru_cache(maxsize=1_024)
def clairvoyant_lists(
    params: BeerGameParams, played: frozenset[str], seed: int
) -> ClairvoyantLists | None:
    """Return the cheapest order lists found for the played stages, with their lower bound.

    Returns:
        None where the game is longer than `STAGE_WEEKS`, or nothing is proved.
    """
    if params.horizon * len(params.stages) > STAGE_WEEKS:
        return None
    weeks = weekly_rows(params, seed, {})
    stages = frozenset(params.stages.index(stage) for stage in played)
    flows = ChainProgram(params, stages, weeks).solve()
    if flows is None:
        return None
    bounds = [float(flows.bound)] if flows.bound is not None else []
    if len(stages) == 1:
        bounds.append(CostBound(params, min(stages), weeks).cost())
    if not bounds:
        return None
    return _cheapest(params, seed, max(bounds), _candidates(params, played, seed, flows))


def _cheapest(
    params: BeerGameParams,
    seed: int,
    bound: float,
    candidates: Iterator[OrderLists],
) -> ClairvoyantLists:
    """Return the cheapest candidate, or the first that attains the bound."""
    best = None
    for orders in candidates:
        lists = ClairvoyantLists(orders, played_cost(params, seed, orders), bound)
        if best is None or lists.cost < best.cost:
            best = lists
        if best.proved:
            break
    assert best is not None
    return best


def _candidates(
    params: BeerGameParams, played: frozenset[str], seed: int, flows: Flows
) -> Iterator[OrderLists]:
    """Yield order lists: those of the program, then those of the search, which takes longer."""
    yield flows.orders
    if len(played) == 1 and params.horizon <= SEARCHED_WEEKS:
        (stage,) = played
        yield {stage: best_plan(params, stage, seed).orders}
