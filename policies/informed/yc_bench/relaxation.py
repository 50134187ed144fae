"""Upper bounds on the score of YC-Bench, seed by seed, which no founder exceeds.

`score_bound` holds for every policy; `score_bound_within` for those that accept at most so many
tasks, and is the measure of policies of a few thousand acceptances. Both let the founder do more
than the rules do, so that no run earns more, but perhaps none comes near.

**The relaxed problem.** The score of a founder who is not bankrupt is

    capital + rewards of tasks completed in time - fines - salaries,

and that of a bankrupt one is below zero. The rewards are bounded by the best choice of tasks to
complete, where

1. fines are 0, and every task is in time: deadlines are dropped (no reward is below 0, so a fine
   never gives money; a late task pays nothing and costs work, so completing it never helps);
2. every task may be accepted: required prestige and required trust are dropped;
3. every honest client trusts fully from the start, so that its tasks need the least work, and
   adversarial ones swell by the floor only; where prestige scales payouts it is the highest that
   it can be;
4. everybody works at their highest rate from the start: no training, and teams of any size;
5. salaries are those of the start, on the paydays that no founder can skip (`least_wages`);
6. work is a single resource. At any time the shares in which a person's active tasks split that
   person's rate sum to 1 at most: every command and event that changes the set of a person's
   active tasks plans all of them anew. A task is credited with recorded progress up to its last
   plan and with planned hours from there, which are open hours and so hours of progress too. Hence
   the completed tasks together need no more than the sum of the rates times the hours that
   progress counts until the horizon, evenings included, and what rounding adds (`most_work`).

Each of these only adds choices or money, so the optimum is at least every founder's score.

**What an acceptance costs.** Nothing: a task that is accepted and never completed, whether parked
or under way at the horizon, pays no fine, loses no prestige or trust, takes no share of anyone's
time as long as it is not dispatched, and draws its replacement at once. A cancelled task costs
prestige and trust where cancelling works, which 2 and 3 make free. So parked, cancelled and
unfinished acceptances are all covered: they bring 0 and need no work in the relaxed problem.

**Every founder.** Acceptances are limited by `max_questions_per_tick` alone, at every stop of the
clock: with 10,000 commands at each of some 1,500 stops, ten million replacements can be drawn.
Hence no bad luck of the draws is counted on: the supply of the best replacement that can be drawn
for a client is unlimited. The bound takes the known tasks (the first market, which alone is paid
the client's multiplier, and a world file's) by pay for a unit of work, parts of tasks included,
down to the price of that replacement, and fills the rest of the work with it.

**Founders of few acceptances.** A slot's task comes to the market when the one before it has been
accepted, and the seed fixes all of them. Let a be the cents charged for an acceptance and w those
charged for a unit of work. For any a, w >= 0 the Lagrangian

    w (work) + a (acceptances) + sum over slots of max over n of
        sum over the first n tasks of the slot of [max(0, reward - w work) - a]

is at least the relaxed optimum (weak duality): the founder's own n and choice of tasks are among
those that it maximises over, and what is added for unused work and acceptances is not below 0. The
prices are searched in doubles; the value is computed from them in whole numbers and rounded up.
"""

import math
from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.optimize import minimize

from desim.catalog.known_scores import KnownBound
from desim.errors import UsageError
from models.yc_bench.params import YCBenchParams
from policies.informed.yc_bench.task_gains import DrawnWorld
from policies.informed.yc_bench.work_capacity import least_wages, most_work

#: Tasks drawn at most for all chains together.
_MOST_DRAWS = 5_000_000
#: Cents of a task that whole numbers of 64 bits can add up over a chain.
_MOST_REWARD = 10**10
#: Prices are whole multiples of a cent over this.
_GRID = 1000
#: A bankrupt founder has a cent less than nothing, or still less.
_BANKRUPT = -1


@frozen(eq=False)
class RelaxedYear:
    """A drawn world with the limits of the relaxed problem.

    Attributes:
        world: The world.
        work: Units that can be done.
        fixed: Cents of capital less salaries.
    """

    world: DrawnWorld
    work: Fraction
    fixed: int


def score_bound(model: YCBenchParams, seed: int) -> KnownBound | None:
    """Return a score that no policy exceeds, in dollars.

    Args:
        model: The parameters.
        seed: The episode's.

    Returns:
        A relaxation; none where the rules make no bound known: an episode goes on after its end
        (`plays_on`), a reward, salary or amount of work may be below 0 or 1, or rounding completes
        tasks.
    """
    year = relaxed_year(model, seed)
    if year is None:
        return None
    return _bound(year.fixed + _most_paid(year.world, year.work))


def score_bound_within(model: YCBenchParams, seed: int, acceptances: int) -> KnownBound | None:
    """Return a score that no policy exceeds which accepts no more than so many tasks, in dollars.

    Draws a chain of so many tasks for each slot, which takes 25 microseconds a task.

    Args:
        model: The parameters.
        seed: The episode's.
        acceptances: Tasks accepted at most, the metric `tasks_accepted`; 0 or more, and times the
            tasks of the market 5,000,000 at most.

    Returns:
        A relaxation, never above `score_bound`. None if `score_bound` returns None, if replacements
        have no chains, because one counter numbers them all or two tasks share a slot, or if a task
        may pay more than $100M.

    Raises:
        UsageError: The number is outside its range.
    """
    year = relaxed_year(model, seed)
    most = _MOST_DRAWS // max(1, len(year.world.tasks) if year else 1)
    if not 0 <= acceptances <= most:
        raise UsageError(f"acceptances={acceptances} was given; it is between 0 and {most:,}")
    if year is None or not _has_chains(year.world):
        return None
    if not acceptances or not year.world.tasks:
        return _bound(year.fixed)
    chains = _Chains.of(year, acceptances)
    return _bound(year.fixed + min(_most_paid(year.world, year.work), chains.most_paid()))


def _bound(cents: int) -> KnownBound:
    return KnownBound(max(_BANKRUPT, cents) / 100, "relaxation")


def relaxed_year(model: YCBenchParams, seed: int) -> RelaxedYear | None:
    """Return the world of a seed with the limits of the relaxed problem; None as `score_bound`."""
    world = DrawnWorld.of(model, seed)
    if model.plays_on or not world.ordinary:
        return None
    least = min((each.work for each in [*world.known(), *world.drawn()]), default=1)
    work = most_work(model, world.staff, least)
    if work is None:
        return None
    return RelaxedYear(world, work, world.funds - least_wages(model, world.staff))


def _has_chains(world: DrawnWorld) -> bool:
    slots = [task.slot for task in world.tasks]
    if world.params.replacement_stream != "slot" or len(set(slots)) < len(slots):
        return False
    return all(each.reward <= _MOST_REWARD for each in [*world.known(), *world.drawn()])


def _most_paid(world: DrawnWorld, work: Fraction) -> int:
    """Return the cents for which so much work can be sold, with replacements without end."""
    price = max((each.price for each in world.drawn()), default=Fraction(0))
    paid = Fraction(0)
    for task in sorted(world.known(), key=lambda each: each.price, reverse=True):
        if task.price <= price:
            break
        part = min(work, Fraction(task.work))
        paid += part * task.price
        work -= part
    return math.ceil(paid + work * price)


@frozen(eq=False)
class _Chains:
    """The tasks of all slots, one row a slot, as far as they can be accepted.

    Attributes:
        rewards: Cents.
        work: Units; what needs more than can be done needs a little more than that.
        capacity: Units that can be done.
        acceptances: Tasks that can be accepted.
    """

    rewards: NDArray[np.int64]
    work: NDArray[np.int64]
    capacity: Fraction
    acceptances: int

    @classmethod
    def of(cls, year: RelaxedYear, acceptances: int) -> "_Chains":
        """Draw the chains of a world."""
        most = int(year.work) + 1
        shape = (len(year.world.tasks), acceptances)
        rewards, work = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, first in enumerate(year.world.tasks):
            for at, gain in zip(range(acceptances), year.world.chain(first), strict=False):
                rewards[row, at], work[row, at] = gain.reward, min(gain.work, most)
        return cls(rewards, work, year.work, acceptances)

    def most_paid(self) -> int:
        """Return cents that no choice of tasks brings, from the best prices that are found."""
        found = minimize(
            self._lagrangian,
            np.log(self._start()),
            method="Nelder-Mead",
            options={"xatol": 1e-5, "fatol": 1e3, "maxfev": 300},
        )
        unit, acceptance = np.exp(found.x).tolist()
        return self._exact_lagrangian(round(_GRID * unit), round(_GRID * acceptance))

    def _start(self) -> tuple[float, float]:
        """Return prices to start from: work as typical tasks pay it, a tenth of a task's reward."""
        return (
            max(1.0, float(np.median(self.rewards / self.work))),
            max(1.0, float(np.mean(self.rewards)) / 10),
        )

    def _lagrangian(self, logarithms: NDArray[np.float64]) -> float:
        """Return the Lagrangian in cents, in doubles, for the logarithms of the two prices."""
        unit, acceptance = np.exp(logarithms).tolist()
        gains = np.maximum(0.0, self.rewards - unit * self.work) - acceptance
        best = np.maximum(0.0, np.cumsum(gains, axis=1).max(axis=1))
        return float(unit * float(self.capacity) + acceptance * self.acceptances + best.sum())

    def _exact_lagrangian(self, unit: int, acceptance: int) -> int:
        """Return the Lagrangian in cents, rounded up, for prices in thousandths of a cent.

        Prices and products stay below 2 to the power of 63, because higher prices than a task can
        pay, and more work than pays at the price, are cut without changing the value.
        """
        paid = _GRID * self.rewards
        top = int(paid.max(initial=0))
        unit, acceptance = min(unit, top), min(acceptance, top)
        work = np.minimum(self.work, paid // max(unit, 1) + 1)
        gains = np.maximum(0, paid - unit * work) - acceptance
        best = np.maximum(0, np.cumsum(gains, axis=1).max(axis=1))
        chosen: int = sum(best.tolist())
        return math.ceil((unit * self.capacity + acceptance * self.acceptances + chosen) / _GRID)
