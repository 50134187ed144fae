"""The outcomes that a seed fixes: cash without requests, and the result of every request.

No action changes loans, borrowers, revenue, payroll, vendors or market; requests move cash, debt,
equity and, through interest, tax. So one episode without requests, played with so much opening cash
that it reaches the horizon, shows everything that an officer could not change.
"""

import math
from typing import Any, Self, TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from desim import Model, Run
from desim.episodes.prefix import open_decisions
from models.enterprise_arena.accounting.accounts import TAX_PAYABLE, cents
from models.enterprise_arena.actions import Pass
from models.enterprise_arena.params import ArenaParams

Array: TypeAlias = NDArray[np.float64]

#: Opening cash of the episode without requests, dollars: the largest that the parameters allow.
_RICH = 1e12
#: The kind of the entries that accrue tax.
_TAX = "J16"


@frozen
class MonthLuck:
    """A month of an episode without requests, and the fate of a request that is made in it.

    Attributes:
        cash: When the officer decides, cents; it may be below 0.
        equity: Book equity at the same time, cents.
        draw: A request succeeds if this is below its chance; -1 where success is forced, 1 where
            failure is.
        equity_chance: Chance of a first equity round, 0 to 1.
        debt_chance: Chance of debt without leverage, 0 to 1.
        received: What arrives if a request of the largest size succeeds, cents.
        settles: The month in which the outcome is due.
        rate: Contract rate of a note that settles in this month without leverage, a share a year.
    """

    cash: int
    equity: int
    draw: float
    equity_chance: float
    debt_chance: float
    received: int
    settles: int
    rate: float


@frozen
class Luck:
    """The luck of an episode.

    Attributes:
        params: The parameters of the model.
        months: One for each month.
        end_cash: At the horizon without requests, cents.
        revenue: Trailing revenue at the horizon, dollars.
        tax: Accrued over an episode without requests, cents.
    """

    params: ArenaParams
    months: tuple[MonthLuck, ...]
    end_cash: int
    revenue: float
    tax: int

    @classmethod
    def of(cls, params: ArenaParams, seed: int) -> Self | None:
        """Play the episode without requests; None if not even a trillion carries it through."""
        rich = evolve(params, opening_cash=_RICH)
        assert isinstance(rich, Model)
        added = cents(_RICH) - cents(params.opening_cash)
        run, months = Run(rich, seed), []
        for decision in open_decisions(run):
            months.append(_month(params, run.state, added))
            run.answer(decision, Pass())
        lender: Any = run.state
        if len(months) < params.horizon or lender.closing_cash < 0:
            return None
        entries = lender.books.book.journal
        tax = -sum(entry.amounts[TAX_PAYABLE] for entry in entries if entry.kind == _TAX)
        revenue = run.result().metrics["trailing_revenue"]
        return cls(params, tuple(months), lender.closing_cash - added, revenue, tax)

    def score(self, raised: float) -> float:
        """Return the score of an officer who calls no tool, dollars; without a solvency test.

        Requests have *raised* the closing cash by so many cents.
        """
        # Operations as in the model's score, so that the same cents are the same float.
        return self.params.valuation_multiple * self.revenue + (self.end_cash + raised) / 100

    def equity_succeeds(self, month: int, rounds: int) -> bool:
        """Return whether a request for equity succeeds after a number of rounds."""
        luck = self.months[month]
        return luck.draw < luck.equity_chance * self.params.round_decay**rounds

    def debt_chance(self, month: int, leverage: Array) -> Array:
        """Return the chance of a request for debt by leverage (SPEC section 8.1)."""
        lost = self.params.leverage_penalty * self._excess(leverage)
        return np.asarray(self.months[month].debt_chance * np.maximum(0.0, 1 - lost))

    def contract_rate(self, month: int, leverage: Array) -> Array:
        """Return the rate of a note that is drawn in a month, a share a year (SPEC section 8.4)."""
        return self.months[month].rate + self.params.leverage_spread * self._excess(leverage)

    def _excess(self, leverage: Array) -> Array:
        return np.maximum(0.0, leverage - self.params.leverage_threshold)


def _month(params: ArenaParams, lender: Any, added: int) -> MonthLuck:
    """Read the present month of the episode without requests."""
    macro, month = lender.macro, lender.month
    draw, fill, delay = _outcome(params, lender.draws[month], lender.forced.get(month))
    wide = max(0.0, macro.baa_10y_spread[month] - params.debt_spread_pivot)
    debt = params.debt_base - params.debt_sofr_slope * macro.sofr[month]
    low, high = params.debt_range
    return MonthLuck(
        cash=lender.cash - added,
        equity=lender.books.equity - added,
        draw=draw,
        # The formulas of SPEC section 8.1, operation by operation as in the model's `funding`.
        equity_chance=1
        / (1 + math.exp((macro.vix_avg[month] - params.equity_midpoint) / params.equity_scale)),
        debt_chance=min(max(debt - params.debt_spread_slope * wide, low), high),
        received=cents(fill * params.largest_request),
        settles=month + delay,
        rate=(macro.tsy2y[month] + macro.baa[month]) / 100,
    )


def _outcome(
    params: ArenaParams, draws: list[float], forced: tuple[bool, float, int] | None
) -> tuple[float, float, int]:
    """Return the draw, the fill and the delay of a request made in a month."""
    if forced is not None:
        succeeds, fill, delay = forced
        return (-1.0 if succeeds else 1.0), fill, delay
    luck, share, wait = draws
    low, high = params.fill_range
    soonest, latest = params.delay_range
    return luck, low + (high - low) * share, soonest + int((latest - soonest + 1) * wait)
