"""Beer Games that are played together: questions, answers, score and metrics by lane."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NoReturn

import numpy as np

from desim.errors import UsageError, WrongAction
from desim.lanes.lane_arguments import lane_numbers, lane_seeds
from desim.lanes.lane_columns import Array, Columns
from desim.lanes.lane_protocols import NoLanes
from desim.schema import codec
from desim.short_repr import short_repr
from models.beer_game import rules
from models.beer_game.lanes.chain import LaneChain
from models.beer_game.lanes.exact_range import ExactRange
from models.beer_game.lanes.lane_score import metrics, score
from models.beer_game.lanes.weekly_demand import weekly_demand
from models.beer_game.params import BeerGameParams
from models.beer_game.rules import LARGEST
from models.beer_game.stage import Order, Stage


class BeerGameLanes:
    """Beer Games of one set of parameters, one a seed.

    Args:
        params: The parameters.
        seeds: The seeds of the episodes.
        roles: The stages that are asked; the others follow the rule `opponents`.

    Raises:
        NoLanes: Orders of a rule may be fractions, the chain keeps cash, a price or a quantity is
            outside the exact range, or no seed was given.
        UsageError: A seed is not a whole number of at least 0.
    """

    _chain: LaneChain
    _range: ExactRange
    _over: bool
    _steps: int
    _most: int
    _played: bool

    def __init__(self, params: BeerGameParams, seeds: Sequence[int], roles: Sequence[str]) -> None:
        _check(params, roles)
        self._params = params
        self._seeds = lane_seeds(seeds)
        self._seats = {name: row for row, name in enumerate(params.stages) if name in roles}
        self._most = 0
        self._order = codec(Order)
        self._opening: Array = None
        self._begin()

    def __len__(self) -> int:
        return len(self._seeds)

    @property
    def ended(self) -> Array:
        """Whether the episode of each lane has ended; all lanes end with the last week."""
        return np.full(len(self), self._over)

    @property
    def decisions(self) -> Array:
        """The number of decisions that each lane has answered, of all stages."""
        answered = self._steps * len(self._seats)
        return np.full(len(self), answered, dtype=np.int64)

    def reset(self) -> dict[str, Columns]:
        """Begin the episodes again and return the first questions by stage."""
        if self._played:
            self._begin()
        return self.questions()

    def step(self, actions: Mapping[str, Mapping[str, Array]]) -> dict[str, Columns]:
        """Place the orders of all stages that were asked, and play up to the next questions.

        Args:
            actions: By stage, the `quantity` of every lane in units.

        Raises:
            UsageError: The episodes have ended.
            UsageError: A stage has no answer.
            WrongAction: An answer does not fit the schema; nothing has changed.
            NoLanes: A fraction was ordered where the chain deals in fractions, or a figure could
                leave the exact range; nothing has changed.
        """
        if self._over:
            raise UsageError("the episodes have ended; reset the lanes to play them again")
        units, most = {}, 0
        for role, row in self._seats.items():
            units[row], largest = self._units(role, actions)
            most = max(most, largest)
        self._next_week(most)
        self._steps, self._played = self._steps + 1, True
        if self._params.blind:
            self._chain.work()
            self._chain.place(units)
            self._over = self._chain.week == self._params.horizon
        else:
            self._chain.place(units)
            self._work()
        return self.questions()

    def questions(self) -> dict[str, Columns]:
        """Return the open questions by stage; none once the episodes have ended."""
        if self._over:
            return {}
        return {role: self._stage(role, row) for role, row in self._seats.items()}

    def score(self) -> Array:
        """Return minus the cost of the stages with a player so far, in money."""
        return score(self._chain)

    def metrics(self) -> dict[str, list[Any]]:
        """Return the metrics of every lane by name."""
        return metrics(self._chain)

    def end_reasons(self) -> list[str]:
        """Return why each episode ended; empty texts for those under way."""
        return ["horizon" if self._over else ""] * len(self)

    def fork(self, rows: Array) -> "BeerGameLanes":
        """Return new lanes that continue lanes of these; these do not change.

        Args:
            rows: The number of the lane that each new one continues.

        Raises:
            UsageError: A row is not the number of a lane.
        """
        taken = lane_numbers(rows, len(self))
        fork: BeerGameLanes = copy(self)
        numbers = np.asarray(taken, dtype=np.int64)
        fork._seeds = [self._seeds[row] for row in taken]
        fork._chain = self._chain.fork(numbers)
        fork._range = copy(self._range)
        fork._opening, fork._played = None, True
        return fork

    # -- inside ----------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin the episodes and play up to the first questions."""
        self._range = ExactRange.at_start(self._params)
        self._steps, self._over, self._played = 0, False, False
        if self._opening is None:
            self._opening = self._drawn()
        self._chain = LaneChain(self._params, [*self._seats.values()], self._opening)
        if not self._params.blind or not self._seats:
            self._next_week(0)
            self._work()

    def _next_week(self, largest: int) -> None:
        """Check that the next week stays exact if no player orders more than *largest* units."""
        self._range.next_week(self._chain, largest, self._most)

    def _work(self) -> None:
        """Play the weeks without a question, and the next week up to its questions."""
        chain, params = self._chain, self._params
        while chain.week < params.horizon:
            chain.work()
            if self._seats and chain.week > params.forced_weeks:
                return
            self._next_week(0)
            chain.place({})
        self._over = True

    def _drawn(self) -> Array:
        """Return the demand of each week and lane."""
        drawn = weekly_demand(self._params, self._seeds)
        self._most = max(self._most, int(drawn.max()))
        return drawn

    def _units(self, role: str, actions: Mapping[str, Mapping[str, Array]]) -> tuple[Array, int]:
        """Return the units that a stage orders, at least 0, and the largest of them."""
        quantity = self._quantity(role, actions)
        if quantity.dtype != np.int64:
            quantity = self._whole(role, quantity)
        # Twice as fast on a thousand lanes as `min` and `max`.
        least, most = int(np.minimum.reduce(quantity)), int(np.maximum.reduce(quantity))
        if least < -LARGEST or most > LARGEST:
            self._refuse(role, quantity)
        return np.maximum(quantity, 0) if least < 0 else quantity, max(0, most)

    def _quantity(self, role: str, actions: Mapping[str, Mapping[str, Array]]) -> Array:
        """Return the quantities of a stage as they were given."""
        answer = actions.get(role)
        if answer is None:
            raise UsageError(f"{role!r} has not answered at t={self._chain.week}")
        if len(answer) != 1 or "quantity" not in answer:
            names = ", ".join(map(str, answer)) or "nothing"
            raise WrongAction(f"{role!r} answered with columns {names}; expected quantity")
        quantity = np.asarray(answer["quantity"])
        if quantity.shape not in {(), (len(self),)}:
            raise WrongAction(
                f"{role!r} answered with an array of shape {quantity.shape}; "
                f"expected one entry for each of {len(self)} lanes"
            )
        return quantity

    def _whole(self, role: str, quantity: Array) -> Array:
        """Return quantities of another type of numbers as whole units, cut as the chain does."""
        if quantity.dtype.kind not in "iuf":
            self._refuse(role, quantity)
        given = quantity.astype(np.float64)
        if not np.all(np.abs(given) <= LARGEST):  # also for NaN
            self._refuse(role, quantity)
        whole = np.trunc(given)
        if not self._params.whole_units and np.any((whole != given) & (given > 0)):
            raise NoLanes(
                f"{role!r} ordered a fraction of a unit; lanes take whole orders, or whole_units"
            )
        return whole.astype(np.int64)

    def _refuse(self, role: str, quantity: Array) -> NoReturn:
        """Raise the error of the first quantity that does not fit the schema."""
        given = quantity.tolist()
        for lane, units in enumerate(given if isinstance(given, list) else [given]):
            try:
                self._order.read({"do": "order", "quantity": units})
            except WrongAction as wrong:
                raise WrongAction(
                    f"{role!r} answered in lane {lane} at t={self._chain.week}: {wrong}"
                ) from None
        raise WrongAction(f"{role!r} answered with an array of {quantity.dtype}; expected numbers")

    def _stage(self, role: str, row: int) -> Columns:
        chain, params = self._chain, self._params
        return Columns(
            Stage,
            {
                "week": chain.week,
                "role": role,
                **chain.observed(row),
                "horizon": params.horizon,
                "opponents": params.opponents if params.names_opponents else "",
                "target_inventory": params.target_inventory,
            },
        )


def _check(params: BeerGameParams, roles: Sequence[str]) -> None:
    """Refuse what the arrays cannot play exactly."""
    if params.opening_cash is not None:
        raise NoLanes(f"opening_cash={params.opening_cash} was given; lanes keep no cash")
    if rules.weights(params.opponents) and not set(params.stages) <= set(roles):
        raise NoLanes(
            f"opponents={short_repr(params.opponents)} was given; lanes weigh neither what "
            "inventory lacks nor the backlog"
        )
    averages = rules.memory(params.opponents) > 1 and not set(params.stages) <= set(roles)
    if averages and not params.whole_units:
        raise NoLanes(
            f"opponents={short_repr(params.opponents)} was given without whole_units; its orders "
            "are fractions, and lanes deal in whole units"
        )
