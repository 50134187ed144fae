"""A bound on the score of every policy in a world with capped requests, and a plan close to it.

The luck of an episode is drawn before it starts and no action changes it: the market, the noise,
and for each month the draw, the fill and the delay of a request made in it. An officer changes the
score by tool calls, which only cost, and by requests. So

    score <= multiple x trailing revenue + closing cash without requests + V,

with V an upper bound on what requests add to the closing cash, or 0 where that is negative, as a
bankrupt lender scores 0.

Where the score is the value added, equity adds as much as is owed for it, and a note costs its
interest, of which lower tax returns a part. So V is 0: requests only carry the lender to the
horizon, and the plan is made of equity alone, or of nothing where survival adds no value.

V comes from backward dynamic programming. A state is a month in which no request is under way, the
number of equity rounds closed, and the closing debt: what the notes drawn so far will still owe at
the horizon. The officer of a state waits a month, or requests equity or debt, at most one request a
month and none until its outcome is due. The programme is a relaxation: every sequence of commands
maps to a path of it that adds at least as much.

(a) Solvency is not tested. A test only takes sequences away.
(b) Equity of the largest size. Success depends on month and rounds alone, which are in the state; a
    smaller amount adds less. A request that fails, or is due after the last month, adds nothing
    and takes months, so waiting is as good. A refused request has no effect, and
    `max_raise_multiple` only lowers the amount that arrives.
(c) Debt of any size, in steps: each step has the value of its largest amount and the closing debt
    of its smallest. A note adds its closing debt less its interest to the closing cash, and
    nothing where that is negative. What the state holds is never above the true closing debt.
(d) Leverage is understated: debt by closing debt x term / (term - months left), which only a note
    just drawn attains, and book equity is overstated by the most that as many rounds can have
    brought, without any interest on notes. So the chance is overstated and the rate understated.
(e) Interest lowers tax, by at most all tax accrued in an episode without requests. That tax is
    added for policies that borrow; the others are bounded by the programme without debt.
(f) Amounts rounded to cents: each note adds the most that rounding can make of it.

Without worthwhile debt (b) is exact, and the bound is attained if its requests keep the lender
solvent. Whether a bound is attained is decided by playing the best plan of `search` in the model.

Requests of a world without a bound of its own have no useful bound: its score pays for every dollar
raised, and the largest request it accepts, 10**12 dollars, only keeps its books exact.
"""

from functools import lru_cache
from typing import ClassVar, Self

from attrs import define, field, frozen

from desim import Model, Run
from desim.catalog.known_scores import KnownBound
from desim.core.roles import Knowledge
from desim.episodes.lineup import WorldSeat
from desim.episodes.prefix import open_decisions
from desim.errors import UsageError
from models.enterprise_arena.actions import FundRaisingRequest, Pass
from models.enterprise_arena.observation import Month
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.rules import UNBOUNDED
from policies.informed.enterprise_arena.luck import Luck
from policies.informed.enterprise_arena.relaxation import Relaxation
from policies.informed.enterprise_arena.search import WIDTH, Requests, search


@frozen
class KnownPlan:
    """Requests planned on known luck.

    Attributes:
        requests: By month; the other months pass.
        score: Score of the requests, dollars, as played by the model.
        bound: Upper bound on the score of every policy, dollars.
    """

    requests: Requests
    score: float
    bound: float


@define
class KnownLuck:
    """Play the best requests found for the luck of the seed.

    The policy knows the market's future and the outcome of every request, so it is a yardstick and
    no rule that an officer could follow. The notes of each decision hold the plan's score and the
    bound.

    Attributes:
        plan: The requests.
        notes: Score and bound of the plan, dollars.
    """

    knows: ClassVar[Knowledge] = "future"
    needs_world_seed: ClassVar[bool] = True

    plan: KnownPlan
    notes: dict[str, float] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.notes = {"score": self.plan.score, "bound": self.plan.bound}

    @classmethod
    def seated(cls, seat: WorldSeat, width: int = WIDTH) -> Self:
        """Plan the requests and build the policy.

        Args:
            seat: The officer of a world with capped requests.
            width: Plans that the search keeps in each month, at least 1.

        Raises:
            UsageError: The seat belongs to another world, or *width* is below 1.
        """
        if width < 1:
            raise UsageError(f"width={width} was given; it is at least 1")
        if not isinstance(seat.model, ArenaParams):
            raise UsageError("known_luck reads the lender's luck and plays no other world")
        plan = known_plan(seat.model, seat.world_seed, width)
        if plan is None:
            raise UsageError(
                "known_luck plans requests up to largest_request; this world has none, or one in "
                f"which not even {UNBOUNDED:,.0f} dollars carry the lender to the horizon"
            )
        return cls(plan)

    def decide(self, month: Month) -> FundRaisingRequest | Pass:
        """Submit the request of the month, or pass."""
        return self.plan.requests.get(month.current_month, Pass())


def score_bound(model: ArenaParams, seed: int) -> KnownBound | None:
    """Return an upper bound on the score of every policy, dollars.

    It is proved where the best plan found attains it. It is None where requests are not capped, and
    where not even opening cash of 10**12 dollars would carry the lender to the horizon.
    """
    plan = known_plan(model, seed)
    if plan is None:
        return None
    return KnownBound(plan.bound, "proved" if plan.score == plan.bound else "relaxation")


@lru_cache(maxsize=64)
def known_plan(params: ArenaParams, seed: int, width: int = WIDTH) -> KnownPlan | None:
    """Search for good requests and compute the bound; None as for `score_bound`."""
    luck = Luck.of(params, seed) if params.largest_request < UNBOUNDED else None
    if luck is None:
        return None
    if params.score_of == "value_added":
        requests = search(Relaxation(luck, borrows=False), width)
        score = _played(params, seed, requests)
        bound = max(0.0, round(luck.score(0.0), 2))
        return KnownPlan(requests, score, bound) if score > 0 else KnownPlan({}, 0.0, bound)
    relaxation = Relaxation(luck)
    requests = search(relaxation, width)
    return KnownPlan(requests, _played(params, seed, requests), _bound(luck, relaxation))


def _bound(luck: Luck, relaxation: Relaxation) -> float:
    """Return the bound of the module's docstring, dollars."""
    added = relaxation.bound
    if luck.tax:
        added = max(added + luck.tax, Relaxation(luck, borrows=False).bound)
    return max(0.0, luck.score(added))


def _played(params: ArenaParams, seed: int, requests: Requests) -> float:
    """Return the score of the requests, by playing them."""
    assert isinstance(params, Model)
    run = Run(params, seed)
    for decision in open_decisions(run):
        run.answer(decision, requests.get(run.world.now, Pass()))
    return run.result().score
