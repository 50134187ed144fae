"""An upper bound on what requests add to the closing cash, by dynamic programming on known luck.

`known_luck` has the argument, in paragraphs (a) to (f), which comments refer to. Money is in cents,
as floats; sums of whole cents below 2**53 are exact.
"""

from functools import cached_property
from typing import TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from policies.informed.enterprise_arena.luck import Luck

Array: TypeAlias = NDArray[np.float64]

#: Buckets of closing debt in one request of the largest size.
_BUCKETS = 50
#: Most values in the table; with more, large debts share the last bucket.
_MOST_VALUES = 4_000_000
#: Leverage is understated by this share, more than floats can overstate it.
_TOLERANCE = 1e-9
#: Book equity counts as at least this much in leverage, cents.
_LEAST_EQUITY = 100.0


@frozen(slots=False)
class Relaxation:
    """Bounds by month, rounds closed and bucket of closing debt: what is owed at the horizon.

    Attributes:
        luck: The luck of the episode.
        borrows: Whether requests for debt are allowed.
        step: Width of a bucket, cents.
    """

    luck: Luck
    borrows: bool = True
    step: float = field(init=False)

    @step.default
    def _width(self) -> float:
        return max(1.0, self.luck.params.largest_request * 100 / _BUCKETS)

    @property
    def bound(self) -> float:
        """An upper bound on what all requests of an episode add to the closing cash, cents."""
        return float(self.values[0, 0, 0])

    @cached_property
    def values(self) -> Array:
        """Upper bounds on what can still be added to the closing cash, cents.

        By month from 0 to the horizon, rounds closed and bucket, for an officer who has no request
        under way when the month opens.
        """
        horizon = self.luck.params.horizon
        values = np.zeros((horizon + 1, self.limit + 1, len(self._debts)))
        for month in reversed(range(horizon)):
            values[month] = values[month + 1]
            if self.luck.months[month].settles < horizon:
                self._issue(values, month)
                if self.borrows:
                    self._borrow(values, month)
        return values

    def bucket(self, debts: Array) -> NDArray[np.int64]:
        """Return the buckets of closing debts in cents."""
        return np.minimum(debts / self.step, len(self._debts) - 1).astype(np.int64)

    def leverage(self, month: int) -> Array:
        """Return a lower bound on leverage when a month opens, by rounds and bucket (d)."""
        params = self.luck.params
        term, left = params.note_term_months, params.horizon - month
        # The note just drawn has the lowest balance now of all notes with one closing balance.
        now = term / (term - left) if left < term else 0.0
        rounding = params.horizon**2
        debts = np.maximum(0.0, (1 - _TOLERANCE) * now * self._debts - rounding)
        return np.asarray(debts / self._equity[month][:, None])

    # -- the recursion -----------------------------------------------------------------------------

    def _issue(self, values: Array, month: int) -> None:
        """Improve the values of a month by requests for equity, all of the largest size (b)."""
        now = self.luck.months[month]
        for rounds in range(self.limit):
            if self.luck.equity_succeeds(month, rounds):
                added = now.received + values[now.settles, rounds + 1]
                np.maximum(values[month, rounds], added, out=values[month, rounds])

    def _borrow(self, values: Array, month: int) -> None:
        """Improve the values of a month by requests for debt, one for each number of buckets (c).

        A request of some size adds its full value, and closing debt rounded down to buckets. A note
        that costs more than it brings adds nothing but what rounding can make of it.
        """
        now = self.luck.months[month]
        succeeds = now.draw < self.luck.debt_chance(month, self.leverage(month))
        left, worth, rounding = self._note(now.settles)
        if not succeeds.any():
            return
        gain = np.maximum(0.0, worth)
        added = int(now.received * left / self.step)
        after = np.pad(values[now.settles], ((0, 0), (0, added)), mode="edge")
        best = np.full_like(worth, -np.inf)
        for buckets in range(added + 1):
            drawn = min(now.received, (buckets + 1) * self.step / left) if left else now.received
            then = after[:, buckets : buckets + len(self._debts)]
            np.maximum(best, drawn * gain + then, out=best)
        reached = np.where(succeeds, best + rounding, -np.inf)
        np.maximum(values[month], reached, out=values[month])

    def _note(self, settles: int) -> tuple[float, Array, Array]:
        """Return the effects of a note of one cent at the horizon, and the most that rounding adds.

        Args:
            settles: The month of the draw.

        Returns:
            The share of the note still owed; the share added to the closing cash, and the most that
            rounding adds to it, in cents, both by rounds and bucket before the draw, as leverage
            raises the rate.
        """
        term = self.luck.params.note_term_months
        months = min(self.luck.params.horizon - settles, term)
        rate = self.luck.contract_rate(settles, self.leverage(settles))
        left, years = 1 - months / term, (months - months * (months - 1) / 2 / term) / 12
        # Half a cent a month for each of instalment and interest, and interest on what instalments
        # that are rounded down leave.
        return left, left - rate * years, months * (1 + months * abs(rate) / 12)

    # -- limits ------------------------------------------------------------------------------------

    @cached_property
    def limit(self) -> int:
        """A number of rounds after which no request for equity succeeds."""
        months = range(len(self.luck.months))
        return next(
            rounds
            for rounds in range(len(months) + 1)
            if rounds == len(months)
            or not any(self.luck.equity_succeeds(month, rounds) for month in months)
        )

    @cached_property
    def _equity(self) -> Array:
        """An upper bound on book equity when a month opens, by month and rounds, cents."""
        months = self.luck.months
        if min(month.rate for month in months) < 0:
            # Notes earn: their interest would have to be added.
            return np.full((len(months), self.limit + 1), np.inf)
        without = np.array([[float(month.equity)] for month in months])
        return np.maximum(without + self._raised + self.luck.tax, _LEAST_EQUITY)

    @cached_property
    def _raised(self) -> Array:
        """The most equity that can have arrived by month and rounds, cents; -inf if none can."""
        months = self.luck.months
        raised = np.full((len(months), self.limit + 1), -np.inf)
        raised[0, 0] = 0.0
        for month, luck in enumerate(months):
            raised[month] = np.maximum(raised[month], raised[max(0, month - 1)])
            if luck.settles < len(months):
                for rounds in range(self.limit):
                    if self.luck.equity_succeeds(month, rounds):
                        total = raised[month, rounds] + luck.received
                        settled = raised[luck.settles]
                        settled[rounds + 1] = max(settled[rounds + 1], total)
        return raised

    @cached_property
    def _debts(self) -> Array:
        """The lower ends of the buckets, cents, up to the debt at which lenders refuse."""
        params = self.luck.params
        bounded = self.borrows and params.leverage_penalty and np.isfinite(self._equity).all()
        if not bounded:
            return np.zeros(1)
        leverage = params.leverage_threshold + 1 / params.leverage_penalty
        received = [month.received for month in self.luck.months]
        debt = min(leverage * float(self._equity.max()) + max(received), float(sum(received)))
        buckets = 2 + int(debt / self.step)
        fits = _MOST_VALUES // ((params.horizon + 1) * (self.limit + 1))
        return self.step * np.arange(max(1, min(buckets, fits)), dtype=np.float64)
