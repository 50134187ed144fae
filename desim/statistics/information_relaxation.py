"""Bounds of a problem of decisions under uncertainty that pay for knowing the future.

A policy that knows the noise to come is bounded by a shortest path, but no fair policy comes near.
Brown, Smith and Sun (Information Relaxations and Duality in Stochastic Dynamic Programs, Operations
Research 58, 2010) charge it for what it knows. Let H_t(x) be any guess of the cost to go, 0 after
the last period, and Q_t(x, a) the mean of the cost of action a plus the guess for the next state.
The charge is Q less the cost and the guess that really follow. It is 0 on average for a policy that
does not know the noise, so charged costs have the mean of the costs. Along a path the guesses
cancel but for the first one, and

    B(path) = H_1(x_1) + min over actions of the sum of Q_t(x_t, a_t) - H_t(x_t)

has a mean of at most the cost of every such policy. Where H is the optimal cost to go, Q is at
least H and B is the optimum on every path. A poor guess still bounds, from further away.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any, Generic, TypeAlias, TypeVar

from attrs import define, field, frozen

X = TypeVar("X", bound=Hashable)

#: Returns a number of cost for a period from 0 on and a state.
CostToGo: TypeAlias = Callable[[int, X], float]
#: Returns an action for a period from 0 on and a state.
Rule: TypeAlias = Callable[[int, X], Any]


@frozen
class FiniteProblem(Generic[X]):
    """A problem of finitely many periods, actions and outcomes of the noise.

    Attributes:
        periods: Number of decisions.
        start: The first state.
        actions: Returns the actions of a period and state, at least one.
        noise: The probability of each outcome, equal and independent in all periods; it is known
            after the action.
        step: Returns cost and next state of a period, state, action and outcome.
    """

    periods: int
    start: X
    actions: Callable[[int, X], Sequence[Any]]
    noise: Mapping[Any, float]
    step: Callable[[int, X, Any, Any], tuple[float, X]]

    def expected(self, then: CostToGo[X], period: int, state: X, action: Any) -> float:
        """Return the mean of an action's cost plus the cost to go from the next state."""
        found = []
        for outcome, chance in self.noise.items():
            cost, after = self.step(period, state, action, outcome)
            found.append(chance * (cost + then(period + 1, after)))
        return math.fsum(found)

    def optimal(self) -> "BackwardCosts[X]":
        """Return the lowest expected costs to go."""
        return BackwardCosts(self)

    def costs_of(self, rule: Rule[X]) -> "BackwardCosts[X]":
        """Return the expected costs to go of a rule."""
        return BackwardCosts(self, rule)


@define(eq=False)
class BackwardCosts(Generic[X]):
    """Expected costs to go by backward recursion over the states that are reached.

    Attributes:
        problem: The problem.
        rule: The rule that acts; None for the cheapest action.
    """

    problem: FiniteProblem[X]
    rule: Rule[X] | None = None
    _known: dict[tuple[int, X], tuple[float, Any]] = field(factory=dict, init=False, repr=False)

    def __call__(self, period: int, state: X) -> float:
        """Return the expected cost to go."""
        return self._at(period, state)[0]

    def action(self, period: int, state: X) -> Any:
        """Return the action: the rule's, or the first of the cheapest ones."""
        return self._at(period, state)[1]

    def _at(self, period: int, state: X) -> tuple[float, Any]:
        problem, key = self.problem, (period, state)
        if period >= problem.periods:
            return 0.0, None
        if key not in self._known:
            rule = self.rule
            actions = [rule(period, state)] if rule else problem.actions(period, state)
            costs = [problem.expected(self, period, state, action) for action in actions]
            at = costs.index(min(costs))
            self._known[key] = costs[at], actions[at]
        return self._known[key]


@frozen(slots=False)
class Relaxation(Generic[X]):
    """A problem whose noise is known beforehand, for a charge.

    Attributes:
        problem: The problem.
        guess: The guess of the cost to go that sets the charge, fixed before paths are drawn; None
            charges nothing, which is perfect information.
    """

    problem: FiniteProblem[X]
    guess: CostToGo[X] | None = None

    def bound(self, path: Sequence[Any]) -> float:
        """Return B of a path: the outcome of the noise in each period."""
        costs = {self.problem.start: self._first}
        for period, outcome in enumerate(path):
            after: dict[X, float] = {}
            for state, paid in costs.items():
                for action in self.problem.actions(period, state):
                    cost, then = self._charged(period, state, action, outcome)
                    after[then] = min(after.get(then, math.inf), paid + cost)
            costs = after
        return min(costs.values())

    def cost(self, rule: Rule[X], path: Sequence[Any]) -> float:
        """Return the cost of a rule on a path with the charges, whose mean is that of its cost."""
        state, costs = self.problem.start, [self._first]
        for period, outcome in enumerate(path):
            cost, state = self._charged(period, state, rule(period, state), outcome)
            costs.append(cost)
        return math.fsum(costs)

    def gap(self, rule: Rule[X], path: Sequence[Any]) -> float:
        """Return what the rule costs more than B, at least 0: the most that can be gained."""
        return self.cost(rule, path) - self.bound(path)

    def mean(self, of: Callable[[Sequence[Any]], float]) -> float:
        """Return the mean over all paths of a number of a path, such as `bound`."""
        noise = self.problem.noise
        return math.fsum(
            math.prod(noise[outcome] for outcome in path) * of(path)
            for path in product(noise, repeat=self.problem.periods)
        )

    @cached_property
    def _first(self) -> float:
        return self.guess(0, self.problem.start) if self.guess else 0.0

    def _charged(self, period: int, state: X, action: Any, outcome: Any) -> tuple[float, X]:
        """Return Q - H and the next state; the cost itself without a charge."""
        cost, then = self.problem.step(period, state, action, outcome)
        if self.guess is None:
            return cost, then
        return self._mean_cost(period, state, action) - self.guess(period, state), then

    def _mean_cost(self, period: int, state: X, action: Any) -> float:
        key = period, state, action
        if key not in self._means:
            self._means[key] = self.problem.expected(self._to_go, period, state, action)
        return self._means[key]

    @cached_property
    def _means(self) -> dict[tuple[int, X, Any], float]:
        return {}

    def _to_go(self, period: int, state: X) -> float:
        """Return the guess, which is 0 after the last period."""
        return self.guess(period, state) if self.guess and period < self.problem.periods else 0.0
