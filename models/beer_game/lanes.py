"""The twin of the game on arrays: many episodes that are played together, equal to `weeks.py`."""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from math import gcd
from typing import Any, NamedTuple, NoReturn

import numpy as np

from desim.core.streams import check_seed, generator
from desim.errors import UsageError, WrongAction
from desim.lanes import Array, Columns, NoLanes
from desim.schema import codec
from desim.short_repr import short_repr
from models.beer_game import demand, rules
from models.beer_game.chain import DIGITS, prices
from models.beer_game.params import BeerGameParams
from models.beer_game.report import BULLWHIP_WEEKS, scaled_variance
from models.beer_game.rules import LARGEST
from models.beer_game.stage import Order, Stage

#: Whole numbers below it are exact as doubles.
EXACT = 2**53

#: In a week no quantity, nor any sum on the way to an order, exceeds so many times the largest one
#: of before: units on hand, owed and under way can each double, and a rule adds up to all of them.
_GROWTH = 8

#: The scaled variance of fewer units, over the number of weeks, fits 64 bits.
_ROOT = 2**31

#: The arrays with an entry a lane, along their last axis, which a fork takes.
_ARRAYS = (
    *("_demand", "_on_hand", "_owed", "_line", "_shipped", "_standing", "_summed"),
    *("_held", "_late", "_goods", "_incoming", "_ordered"),
)


class BeerGameLanes:
    """Beer Games of one set of parameters, one a seed.

    An array has a row for each stage, beginning at the customers, and a column for each lane. Three
    tables have such an array by week: the goods that arrive in it, the orders that arrive in it,
    and the orders that are placed in it. An entry that was observed never changes.

    See `BeerGame.lanes` and `desim.lanes.Lanes`.
    """

    def __init__(self, params: BeerGameParams, seeds: Sequence[int], roles: Sequence[str]) -> None:
        self._params, self._stages = params, len(params.stages)
        self._seats = {name: row for row, name in enumerate(params.stages) if name in roles}
        self._all_played = len(self._seats) == self._stages
        self._check()
        self._scored = [*self._seats.values()] or [params.stages.index(params.controlled)]
        self._prices = _Scaled.of(params)
        self._rule, self._memory = _rule(params), rules.memory(params.opponents)
        self._divisor = rules.divisor(params.opponents)
        self._counts_orders = params.supply_line == "ordered"
        self._order = codec(Order)
        self._demand = _demand(params, _checked(seeds))
        self._begin()

    def _check(self) -> None:
        params = self._params
        if params.opening_cash is not None:
            raise NoLanes(f"opening_cash={params.opening_cash} was given; lanes keep no cash")
        rule = f"opponents={short_repr(params.opponents)} was given"
        if not self._all_played and rules.weights(params.opponents):
            raise NoLanes(f"{rule}; lanes weigh neither what inventory lacks nor the backlog")
        averages = rules.memory(params.opponents) > 1 and not self._all_played
        if averages and not params.whole_units:
            raise NoLanes(
                f"{rule} without whole_units; its orders are fractions, and lanes deal in whole "
                "units"
            )

    def _begin(self) -> None:
        params, weeks, n = self._params, self._params.horizon, self._stages
        self._units, self._cost = self._opening_units(), 0
        self._most = int(self._demand.max(initial=0))
        self._week = self._placed = self._steps = 0
        self._fresh = True
        shape = n, self._demand.shape[1]
        longest = max(params.ship_delay, params.production_weeks)
        self._goods = np.zeros((weeks + longest, *shape), int)
        self._goods[: params.ship_delay, :-1] = params.flow
        self._goods[: params.production_weeks, -1] = params.flow
        self._incoming = np.zeros((weeks + params.order_delay, *shape), int)
        self._incoming[: params.order_delay] = params.flow
        self._incoming[:weeks, 0] = self._demand
        self._ordered = np.zeros((weeks, *shape), int)
        self._on_hand, self._owed = np.full(shape, params.target_inventory), np.zeros(shape, int)
        delay = params.ship_delay + (params.order_delay if self._counts_orders else 0)
        self._line = np.full(shape, params.flow * delay)
        self._line[-1] = params.flow * params.production_weeks
        self._summed = np.full(shape, params.flow * self._memory)
        self._shipped = self._standing = np.zeros(shape, int)
        self._held, self._late = np.zeros((2, *shape), int)
        if not params.blind or not self._seats:
            self._raise_bounds(0)
            self._work_until_asked()

    # -- the protocol ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._demand.shape[1])

    @property
    def _over(self) -> bool:
        return self._placed == self._params.horizon

    @property
    def ended(self) -> Array:
        """Whether the episode of each lane has ended; all lanes end with the last week."""
        return np.full(len(self), self._over)

    @property
    def decisions(self) -> Array:
        """The number of decisions that each lane has answered, of all stages."""
        return np.full(len(self), self._steps * len(self._seats))

    def reset(self) -> dict[str, Columns]:
        """Begin the episodes again and return the first questions by stage."""
        if not self._fresh:
            self._begin()
        return self.questions()

    def step(self, actions: Mapping[str, Mapping[str, Array]]) -> dict[str, Columns]:
        """Place the `quantity` that each stage has ordered, and play up to the next questions."""
        if self._over:
            raise UsageError("the episodes have ended; reset the lanes to play them again")
        units = {row: self._units_of(role, actions) for role, row in self._seats.items()}
        self._raise_bounds(max(int(each.max(initial=0)) for each in units.values()))
        self._steps, self._fresh = self._steps + 1, False
        if self._params.blind:
            self._work()
            self._place(units)
        else:
            self._place(units)
            self._work_until_asked()
        return self.questions()

    def questions(self) -> dict[str, Columns]:
        """Return the open questions by stage; none once the episodes have ended."""
        if self._over:
            return {}
        return {role: self._observed(role, row) for role, row in self._seats.items()}

    def end_reasons(self) -> list[str]:
        """Return why each episode ended; empty texts for those under way."""
        return ["horizon" if self._over else ""] * len(self)

    def fork(self, rows: Array) -> "BeerGameLanes":
        """Return new lanes that continue those of these numbers."""
        taken = np.asarray(rows)
        if taken.dtype.kind not in "iu" or not np.all((taken >= 0) & (taken < len(self))):
            raise UsageError(
                f"rows={short_repr(rows)} was given; a row is the number of a lane, from 0 to "
                f"{len(self) - 1:,}"
            )
        fork: BeerGameLanes = copy(self)
        for name in _ARRAYS:
            setattr(fork, name, np.take(getattr(self, name), taken, axis=-1))
        fork._fresh = False
        return fork

    # -- answers and observations ------------------------------------------------------------------

    def _units_of(self, role: str, actions: Mapping[str, Mapping[str, Array]]) -> Array:
        answer = actions.get(role)
        if answer is None:
            raise UsageError(f"{role!r} has not answered at t={self._week}")
        if [*answer] != ["quantity"]:
            names = ", ".join(map(str, answer)) or "nothing"
            raise WrongAction(f"{role!r} answered with columns {names}; expected quantity")
        given = np.asarray(answer["quantity"])
        if given.shape not in {(), (len(self),)}:
            raise WrongAction(
                f"{role!r} answered with an array of shape {given.shape}; "
                f"expected one entry for each of {len(self)} lanes"
            )
        if given.dtype.kind not in "iuf" or not np.all((given >= -LARGEST) & (given <= LARGEST)):
            self._refuse(role, given)
        units = given.astype(np.int64)
        if not self._params.whole_units and np.any((units != given) & (given > 0)):
            raise NoLanes(
                f"{role!r} ordered a fraction of a unit; lanes take whole orders, or whole_units"
            )
        return np.maximum(units, 0)

    def _refuse(self, role: str, given: Array) -> NoReturn:
        """Raise the error of the first quantity that does not fit the schema."""
        for lane, units in enumerate(np.atleast_1d(given).tolist()):
            try:
                self._order.read({"do": "order", "quantity": units})
            except WrongAction as wrong:
                raise WrongAction(
                    f"{role!r} answered in lane {lane} at t={self._week}: {wrong}"
                ) from None
        raise WrongAction(f"{role!r} answered with an array of {given.dtype}; expected numbers")

    def _observed(self, role: str, row: int) -> Columns:
        params, week = self._params, self._week
        nothing = np.zeros(len(self), int)
        figures = {
            "week": week,
            "role": role,
            "inventory": self._on_hand[row] + 0,  # the array itself changes
            "backlog": self._owed[row] + 0,
            "incoming_order": self._incoming[week - 1, row] if week else nothing,
            "incoming_delivery": self._goods[week - 1, row] if week else nothing,
            "outgoing_delivery": self._shipped[row],
            "supply_line": self._line[row] + self._early_echo(row),
            "last_order": self._ordered[self._placed - 1, row] if self._placed else nothing,
            "horizon": params.horizon,
            "opponents": params.opponents if params.names_opponents else "",
            "target_inventory": params.target_inventory,
        }
        return Columns(Stage, figures)

    def _early_echo(self, row: int) -> Any:
        """Return the orders of a rule that come back before players at the week's end observe."""
        echoes = self._counts_orders and self._params.brewery_echo and row == self._stages - 2
        asked_later = not self._params.blind and self._params.stages[-1] not in self._seats
        return self._standing[-1] if echoes and asked_later else 0

    # -- the week ----------------------------------------------------------------------------------

    def _work_until_asked(self) -> None:
        """Play the weeks without a question, and the next week up to its questions."""
        while self._week < self._params.horizon:
            self._work()
            if self._seats and self._week > self._params.forced_weeks:
                return
            self._raise_bounds(0)
            self._place({})

    def _work(self) -> None:
        """Receive, ship, add up the costs and compute the orders of the rule."""
        week, params = self._week, self._params
        self._week += 1
        self._on_hand += self._goods[week]
        self._line -= self._goods[week]
        self._owed += self._incoming[week]
        self._shipped = shipped = np.minimum(self._on_hand, self._owed)
        if self._week in params.strike_weeks:
            shipped[-1] = 0
        self._on_hand -= shipped
        self._owed -= shipped
        self._goods[week + params.ship_delay, :-1] = shipped[1:]
        if not self._counts_orders:
            self._line[:-1] += shipped[1:]
        self._held += np.maximum(self._on_hand * self._prices.per_unit, self._prices.floor)
        self._late += self._owed
        if not self._all_played:
            self._standing = self._by_rule()

    def _by_rule(self) -> Array:
        """Return the order of each stage's rule in units, at least 0."""
        week, incoming = self._week - 1, self._incoming[self._week - 1]
        if self._memory > 1:
            before = week - self._memory
            past = self._incoming[before] if before >= 0 else self._params.flow
            self._summed = self._summed + incoming - past
            # The rules add the mean to whole numbers and cut the sum, so the mean can be cut.
            incoming = self._summed // self._memory
        want = self._params.target_inventory
        return np.maximum(self._rule(incoming, self._on_hand, self._owed, self._line, want), 0)

    def _place(self, units: Mapping[int, Array]) -> None:
        """Mail the orders of all stages, those of players by row, and start production."""
        params, week = self._params, self._week - 1
        ordered = self._ordered[week]
        if self._week <= params.forced_weeks:
            ordered[:] = params.flow
        else:
            ordered[:] = self._standing
            for row, quantity in units.items():
                ordered[row] = quantity
        self._placed = self._week
        mailed = ordered[:-1]
        if params.brewery_echo and self._stages > 1:
            mailed = mailed + 0
            mailed[-1] += ordered[-1]
        self._incoming[week + params.order_delay, 1:] = mailed
        self._goods[week + params.production_weeks, -1] = ordered[-1]
        self._line[-1] += ordered[-1]
        if self._counts_orders:
            self._line[:-1] += mailed

    # -- the exact range ---------------------------------------------------------------------------

    def _opening_units(self) -> int:
        params, divisor = self._params, self._divisor
        weeks = params.order_delay + params.ship_delay + params.production_weeks
        units = max(params.target_inventory, params.flow * max(weeks, divisor))
        if max(units, divisor) >= EXACT:
            raise NoLanes(
                f"target_inventory={params.target_inventory}, initial flow={params.flow} and "
                f"opponents={short_repr(params.opponents)} were given; lanes take less than {EXACT}"
            )
        return units

    def _raise_bounds(self, given: int) -> None:
        """Raise the bounds on quantities and costs to those of the next week, or raise `NoLanes`.

        *given* is the largest order of a player. The arrays are read where the bounds are too weak,
        since these grow faster.
        """
        if not self._fits(given):
            self._units, self._cost = self._largest(), self._largest_cost()
            if not self._fits(given):
                raise NoLanes(
                    "a quantity or cost could leave the exact range of lanes in week "
                    f"{self._week + 1}; play this episode alone"
                )
        self._units, self._cost = self._next_bounds(given)

    def _fits(self, given: int) -> bool:
        units, cost = self._next_bounds(given)
        # A mean is computed from the sum over its weeks.
        return max(units * self._divisor, cost) < EXACT

    def _next_bounds(self, given: int) -> tuple[int, int]:
        prices, least = self._prices, rules.ANCHOR + rules.DESIRED
        largest = max(self._units, given, self._most, self._params.target_inventory, least)
        units = _GROWTH * largest
        # At least 1, because backlogs are added up without a cost as well.
        weekly = prices.floor + max(1, prices.per_unit + prices.per_owed) * units
        return units, self._cost + self._stages * weekly * prices.over

    def _largest(self) -> int:
        """Return the largest number of units in any place, order or shipment."""
        states = (self._on_hand, self._owed, self._line, self._standing, self._summed)
        under_way = (self._goods[self._week :], self._incoming[self._week :])
        return max(self._params.flow, *(int(each.max(initial=0)) for each in (*states, *under_way)))

    def _largest_cost(self) -> int:
        return int(self._costs().sum(axis=0).max(initial=0)) * self._prices.over

    # -- figures -----------------------------------------------------------------------------------

    def _costs(self) -> Array:
        return self._held + self._late * self._prices.per_owed

    def score(self) -> Array:
        """Return minus the cost of the stages with a player so far, in money."""
        return -self._prices.money(self._costs()[self._scored].sum(axis=0))

    def metrics(self) -> dict[str, list[Any]]:
        """Return the metrics of `report.metrics`, each with an entry a lane."""
        costs, scored, stages = self._costs(), self._scored, self._params.stages
        weeks, everywhere = self._placed, [*range(self._stages)]
        orders, incoming = map(self._variances, (self._ordered, self._incoming))

        def money(rows: Sequence[int]) -> list[float]:
            found: list[float] = self._prices.money(costs[rows].sum(axis=0)).tolist()
            return found

        def bullwhip(low: int, high: int) -> list[float | None]:
            if weeks < BULLWHIP_WEEKS:
                return [None] * len(self)
            pairs = zip(orders[high], incoming[low], strict=True)
            return [over / base if base else None for over, base in pairs]

        return {
            "weeks_completed": [weeks] * len(self),
            "total_cost_controlled": money(scored),
            "total_cost_supply_chain": money(everywhere),
            "bullwhip_controlled": bullwhip(scored[0], scored[-1]),
            "avg_backlog_controlled": self._owed[scored].sum(axis=0).astype(float).tolist(),
            "mean_backlog_controlled": (self._late[scored].sum(axis=0) / max(1, weeks)).tolist(),
            "bullwhip_supply_chain": bullwhip(0, self._stages - 1),
            **{f"bullwhip_{name}": bullwhip(row, row) for row, name in enumerate(stages)},
            **{f"cost_{name}": money([row]) for row, name in enumerate(stages)},
        }

    def _variances(self, table: Array) -> list[list[int]]:
        """Return by stage the scaled variance of the units of each lane, exactly."""
        found = []
        for row in range(self._stages):
            units = table[: self._placed, row]
            narrow = int(units.max(initial=0)) * len(units) < _ROOT
            scaled = scaled_variance(units if narrow else units.astype(object))
            found.append(np.broadcast_to(scaled, len(self)).tolist())
        return found


class _Scaled(NamedTuple):
    """Prices in units of their greatest common divisor, which is `over / below` in money."""

    per_unit: int
    per_owed: int
    floor: int
    over: int
    below: int

    @classmethod
    def of(cls, params: BeerGameParams) -> "_Scaled":
        per_unit, per_owed, floor, _ = prices(params)
        if not isinstance(per_unit, int) or not isinstance(per_owed, int):
            raise NoLanes(
                f"holding_cost={params.holding_cost} and backlog_cost={params.backlog_cost} were "
                f"given; lanes take prices of at most {DIGITS} decimals"
            )
        unit, book = gcd(per_unit, per_owed, floor) or 1, 10**DIGITS
        common = gcd(unit, book)
        own, whole = unit // common, book // common
        return cls(per_unit // unit, per_owed // unit, floor // unit, own, whole)

    def money(self, cost: Array) -> Array:
        """Return costs in money, as `Book.money` rounds them."""
        return cost * self.over / self.below


def _rule(params: BeerGameParams) -> Any:
    """Return the rule of stages without a player as a function of arrays."""
    rule, base = rules.rule(params.opponents, upstream=False), params.opponents.partition(":")[0]
    if base == "benchmark":
        last = params.stages[-1]
        levels: Any = np.array([[rules.desired(upstream=name == last)] for name in params.stages])
        return partial(rules.benchmark, desired=levels)
    return partial(_in_doubles, rule) if base == "smoothing" else rule


def _in_doubles(rule: Any, *facts: Any) -> Array:
    """Return the whole number of units of a rule that divides."""
    *arrays, want = facts
    return rule(*(each.astype(np.float64) for each in arrays), want).astype(np.int64)


def _demand(params: BeerGameParams, seeds: tuple[int, ...]) -> Array:
    """Return the units that customers order by week and lane."""
    if not params.deterministic:
        return _drawn(params.demand, params.horizon, seeds)
    return np.repeat(_drawn(params.demand, params.horizon, (0,)), len(seeds), axis=1)


@lru_cache(maxsize=4)  # a search plays the same seeds again and again
def _drawn(text: str, weeks: int, seeds: tuple[int, ...]) -> Array:
    drawn = [demand.weekly(text, weeks, partial(generator, seed, "demand")) for seed in seeds]
    units = np.array(drawn, dtype=np.int64).T.copy()
    units.flags.writeable = False  # kept for the next game
    return units


def _checked(seeds: Sequence[int]) -> tuple[int, ...]:
    try:
        listed = tuple(seeds)
    except TypeError:
        raise UsageError(f"seeds={short_repr(seeds)} was given; expected a list") from None
    for seed in listed:
        check_seed(seed)
    if not listed:
        raise NoLanes("no seed was given; a lane is one episode")
    return listed
