"""A beam search for the requests that leave the most closing cash, on known luck.

All requests have the largest size, which keeps the search small. Where leverage matters, a smaller
note may make a better plan.
"""

from typing import Any, Self, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen
from numpy.typing import NDArray

from models.enterprise_arena.actions import DEBT, EQUITY, FundRaisingRequest
from policies.informed.enterprise_arena.relaxation import Relaxation

Array: TypeAlias = NDArray[np.float64]
#: The requests of a plan by the months in which they are made.
Requests: TypeAlias = dict[int, FundRaisingRequest]

#: Plans kept in each month.
WIDTH = 300
#: Plans with equal rounds whose closing cash and debt agree up to this share of the largest request
#: count as the same.
_GRAIN = 0.02
#: The possible requests of a month; "" for none.
_INSTRUMENTS = ("", EQUITY, DEBT)


def search(relaxation: Relaxation, width: int = WIDTH) -> Requests:
    """Return the requests of the best solvent plan found; empty if no plan is solvent."""
    found = _Search(relaxation, width).best()
    largest = relaxation.luck.params.largest_request
    return {
        month: FundRaisingRequest(_INSTRUMENTS[chosen], largest)
        for month, chosen in enumerate(found)
        if chosen
    }


@frozen
class _Plans:
    """Plans that have no request under way in a month: one row each; money in cents.

    Attributes:
        rounds: Closed so far.
        chosen: By month: an index of `_INSTRUMENTS`.
        cash: When each month opens, and at the horizon, if nothing more is requested.
        debt: The same for the balance of the notes.
        equity: The same for book equity.
    """

    rounds: NDArray[np.int64]
    chosen: NDArray[np.int8]
    cash: Array
    debt: Array
    equity: Array

    def some(self, which: Any) -> Self:
        """Return copies of the plans of a mask or an array of indices."""
        parts = (self.rounds, self.chosen, self.cash, self.debt, self.equity)
        return type(self)(*(part[which] for part in parts))

    def __add__(self, other: Self) -> Self:
        return type(self)(
            np.concatenate((self.rounds, other.rounds)),
            np.concatenate((self.chosen, other.chosen)),
            np.concatenate((self.cash, other.cash)),
            np.concatenate((self.debt, other.debt)),
            np.concatenate((self.equity, other.equity)),
        )


@define
class _Search:
    """A search under way.

    Attributes:
        relaxation: Values and luck.
        width: Plans kept in each month.
    """

    relaxation: Relaxation
    width: int
    _open: list[_Plans] = field(init=False)

    def best(self) -> list[int]:
        """Return what the best plan chooses in each month."""
        luck = self.relaxation.luck
        start = self._start()
        nothing = start.some(np.zeros(1, bool))
        self._open = [start, *[nothing] * luck.params.horizon]
        for month, now in enumerate(luck.months):
            plans, self._open[month] = self._promising(month), nothing
            self._keep(plans, month, month + 1)
            if now.settles < luck.params.horizon:
                self._keep(self._issued(plans, month), month, now.settles)
                self._keep(self._lent(plans, month), month, now.settles)
        ended = self._open[-1]
        if not len(ended.cash):
            return []
        chosen: list[int] = ended.chosen[ended.cash[:, -1].argmax()].tolist()
        return chosen

    def _start(self) -> _Plans:
        """Return the plan without requests."""
        luck = self.relaxation.luck
        cash = [*(month.cash for month in luck.months), luck.end_cash]
        # No request is made at the horizon, so equity is not needed there.
        equity = [*(month.equity for month in luck.months), 0]
        months = len(luck.months)
        return _Plans(
            rounds=np.zeros(1, np.int64),
            chosen=np.zeros((1, months), np.int8),
            cash=np.array([cash], float),
            debt=np.zeros((1, months + 1)),
            equity=np.array([equity], float),
        )

    def _keep(self, plans: _Plans, now: int, free: int) -> None:
        """Keep those plans that are solvent until the month in which they are free again."""
        solvent = (plans.cash[:, now + 1 : free + 1] >= 0).all(axis=1)
        if solvent.any():
            self._open[free] += plans.some(solvent)

    def _promising(self, month: int) -> _Plans:
        """Return the plans of a month that may still reach the highest closing cash."""
        plans, values = self._open[month], self.relaxation.values
        cash, debt = plans.cash[:, -1], plans.debt[:, -1]
        hope = cash + values[month, plans.rounds, self.relaxation.bucket(debt)]
        order = np.argsort(-hope, kind="stable")
        grain = _GRAIN * 100 * self.relaxation.luck.params.largest_request
        keys = np.stack([plans.rounds, np.floor(cash / grain), np.floor(debt / grain)])
        _, first = np.unique(keys[:, order], axis=1, return_index=True)
        return plans.some(order[np.sort(first)[: self.width]])

    def _issued(self, plans: _Plans, month: int) -> _Plans:
        """Return those plans to which a request for equity brings money, with that money."""
        luck = self.relaxation.luck
        now = luck.months[month]
        succeeds = [luck.equity_succeeds(month, rounds) for rounds in plans.rounds.tolist()]
        plans = plans.some(np.array(succeeds, bool))
        plans.chosen[:, month] = _INSTRUMENTS.index(EQUITY)
        plans.cash[:, now.settles :] += now.received
        plans.equity[:, now.settles :] += now.received
        return evolve(plans, rounds=plans.rounds + 1)

    def _lent(self, plans: _Plans, month: int) -> _Plans:
        """Return those plans to which a request for debt brings money, with the note served."""
        luck = self.relaxation.luck
        now = luck.months[month]
        plans = plans.some(now.draw < luck.debt_chance(month, _leverage(plans, month)))
        rate = luck.contract_rate(now.settles, _leverage(plans, now.settles))
        ages = np.arange(luck.params.horizon + 1 - now.settles)
        owed = now.received * np.maximum(0.0, 1 - ages / luck.params.note_term_months)
        interest = rate[:, None] / 12 * np.concatenate([[0.0], np.cumsum(owed[:-1])])
        plans.chosen[:, month] = _INSTRUMENTS.index(DEBT)
        plans.cash[:, now.settles :] += owed - interest
        plans.debt[:, now.settles :] += owed
        plans.equity[:, now.settles :] -= interest
        return plans


def _leverage(plans: _Plans, month: int) -> Array:
    return np.asarray(plans.debt[:, month] / np.maximum(plans.equity[:, month], 100.0))
