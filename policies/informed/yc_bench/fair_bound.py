"""An upper bound on the mean score of founders who do not know which tasks will be drawn.

The relaxed problem is that of `relaxation.py`, points 1 to 6, but a replacement is not known before
the task in its slot is accepted. Charge w cents for a unit of work and a for an acceptance, so that
a task adds v = max(0, reward - w work) at most. With W units that can be done and A acceptances
that can be made, a founder's score is at most

    capital - salaries + w W + a A + sum over slots of the sum over accepted tasks of (v - a).

Let V be the value of a replacement that is drawn, and u >= 0. The charge a is the highest value
over all kinds of slots of u + E max(0, V - u). Guess that a slot which shows a task of value v is
worth max(0, v - u) from then on. This is at least the value of an acceptance, v - a +
E max(0, V - u) <= v - u, and no less than 0, without any. So the guess is at least the optimum
(in the words of `desim.statistics.information_relaxation`, Q is at most H for every action), and
given the first market the mean score is at most

    capital - salaries + w W + a A + sum over the slots of the first market of max(0, v - u).

Any w and u give a bound; both are searched. E max(0, V - u) is computed with rewards that are
rounded up by at most a 4,000th of their range; quantities are whole and exact.

Draws have to be fresh. With one counter for a run they are. With one for each slot, number 1,000 of
a slot is number 0 of the next, so that a founder of more acceptances may know what is to come;
there the bound holds up to 1,000 acceptances.
"""

import math
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from scipy.optimize import minimize

from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.draw_market import GENERATIONS
from policies.informed.yc_bench.relaxation import RelaxedYear, relaxed_year
from policies.informed.yc_bench.work_capacity import most_stops

Array: TypeAlias = NDArray[np.float64]

#: Cells of the rewards that a draw can have.
_CELLS = 4_000
#: Logarithm of the highest price in cents.
_HIGHEST = 40.0


def fair_score_bound(
    model: YCBenchParams, seed: int, acceptances: int | None = None
) -> float | None:
    """Return what no founder's mean score exceeds, given the first market of a seed, in dollars.

    The mean over seeds is an estimate of the bound over all seeds.

    Args:
        model: The parameters.
        seed: The episode's.
        acceptances: Tasks accepted at most; None for as many as commands can accept.

    Returns:
        None where `relaxation.score_bound` returns None, where a world file knows replacements, or
        where draws may repeat.
    """
    year = relaxed_year(model, seed)
    if year is None or year.world.foreseen or not year.world.tasks:
        return None
    if acceptances is None:
        least = min(gain.work for gain in [*year.world.known(), *year.world.drawn()])
        stops = most_stops(model, year.world.staff, least)
        acceptances = (stops or 0) * model.max_questions_per_tick
    if model.replacement_stream != "run" and acceptances > GENERATIONS:
        return None
    return FairYear(year, acceptances).bound() / 100


@frozen(eq=False, slots=False)
class FairYear:
    """The relaxed problem of a founder who does not know the draws.

    Attributes:
        year: Work, money and tasks.
        acceptances: Tasks accepted at most.
    """

    year: RelaxedYear
    acceptances: int

    def bound(self) -> float:
        """Return the lowest bound that is found, in cents."""
        start = np.log([float(np.median(self._first[:, 0] / self._first[:, 1])), 1_000.0])
        found: Any = minimize(self._at, start, method="Nelder-Mead")
        # A bankrupt founder has less than nothing, and no pay is below 0.
        return max(-1.0, self.year.fixed) + float(found.fun)

    def _at(self, logarithms: Array) -> float:
        """Return the most that tasks bring at a price of work and a threshold."""
        unit, threshold = np.exp(np.minimum(logarithms, _HIGHEST)).tolist()
        charge = threshold + max(draws.mean_above(threshold, unit) for draws in self._draws)
        shown = self._first[:, 0] - unit * self._first[:, 1] - threshold
        paid = unit * float(self.year.work) + charge * self.acceptances
        return float(paid + np.maximum(0.0, shown).sum())

    @cached_property
    def _first(self) -> Array:
        """Reward and work of the tasks of the first market."""
        return np.array([(gain.reward, gain.work) for gain in self.year.world.known()], float)

    @cached_property
    def _draws(self) -> list["Draws"]:
        """The draws of each kind of slot; clients that draw alike are one kind."""
        world = self.year.world
        kinds = {}
        for client, prestige in world.kinds():
            who = world.clients[client]
            factor = who.reward_multiplier if world.params.replacements_multiplied else None
            kinds[who.adversarial, factor, prestige] = Draws.of(self.year, client, prestige)
        return list(kinds.values())


@frozen
class Draws:
    """The replacements of one kind of slot.

    Attributes:
        rewards: Cents, ascending.
        chance: The probability of each reward and all higher ones, and 0.
        paid: The mean pay from each reward and all higher ones, cents, and 0.
        work: Units by drawn quantity.
        work_chance: The probability of each.
    """

    rewards: Array
    chance: Array
    paid: Array
    work: Array
    work_chance: Array

    @classmethod
    def of(cls, year: RelaxedYear, client: int, prestige: int) -> "Draws":
        """Return the draws of the slots of a client with a required prestige."""
        world, params = year.world, year.world.params
        low, high, _ = params.reward_funds_cents
        ends = np.linspace(low, high, _CELLS + 1)
        least, most, _ = params.required_qty
        whole = np.arange(int(least), int(most) + 2)
        top, bottom = int(high), int(least)
        gains = [world.drawn_gain(client, prestige, math.ceil(at), bottom) for at in ends[1:]]
        works = [world.drawn_gain(client, prestige, top, int(at)).work for at in whole[:-1]]
        rewards = np.array([gain.reward for gain in gains], float)
        chance = np.diff(_below(ends, *params.reward_funds_cents))
        return cls(
            rewards,
            _from_each(chance),
            _from_each(rewards * chance),
            np.array(works, float),
            np.diff(_below(whole, *params.required_qty)),
        )

    def mean_above(self, threshold: float, unit: float) -> float:
        """Return the mean of what the value of a draw exceeds a threshold by.

        Args:
            threshold: Cents, 0 or more.
            unit: Cents charged for a unit of work.
        """
        cost = threshold + unit * self.work
        at = np.searchsorted(self.rewards, cost)
        return float(self.work_chance @ (self.paid[at] - cost * self.chance[at]))


def _from_each(values: Array) -> Array:
    """Return the sums from each place to the end, and 0 behind it."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


def _below(at: Any, low: float, high: float, mode: float) -> Array:
    """Return the probability that a triangular draw is below each of some numbers."""
    at = np.clip(np.asarray(at, float), low, high)
    rising = (at - low) ** 2 / ((high - low) * max(mode - low, 1e-300))
    falling = 1 - (high - at) ** 2 / ((high - low) * max(high - mode, 1e-300))
    below: Array = np.where(at < mode, rising, falling)
    return below
