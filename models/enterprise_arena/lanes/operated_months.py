"""The months of the lender that no decision moves: its borrowers, loans, costs and cash from them.

Lending depends on borrowers, and borrowers on growth alone, whatever cash the lender has. So the
postings J3 to J12 of all months are made at once, month after month over all lanes; a step adds
funding, the service of notes and tax. The order of operations is that of `operations.py` and
`books.py`.
"""

from typing import NamedTuple

import numpy as np

from desim.lanes.lane_columns import Array
from models.enterprise_arena.accounting.accounts import (
    ALLOWANCE,
    INTEREST_RECEIVABLE,
    LOANS,
    PAYABLES,
    PRINCIPAL_RECEIVABLE,
)
from models.enterprise_arena.accounting.operations import chargeoff_rate, rate_of_new_loans
from models.enterprise_arena.economy.macro import Macro
from models.enterprise_arena.lanes.decimals import cents, rounded
from models.enterprise_arena.officer.funding import base_rate, debt_chance, equity_chance
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.processes import opening_balances


class Figures(NamedTuple):
    """What the rules take from a macro history: a row a month, a column a lane or one for all.

    Attributes:
        gross: Gross margin of the industry, percent.
        ebitda: EBITDA margin of the industry, percent.
        growth: Of borrowers, percent a month.
        chargeoff: Share of the loans that defaults in a year.
        new_rate: Yield of loans made in the month, a share a year.
        equity_chance: The chance of a first equity round.
        debt_chance: The chance of debt without leverage.
        base_rate: The rate of a note without leverage, a share a year.
    """

    gross: Array
    ebitda: Array
    growth: Array
    chargeoff: Array
    new_rate: Array
    equity_chance: Array
    debt_chance: Array
    base_rate: Array


def figures(params: ArenaParams, macro: Macro) -> Array:
    """Return the figures of a history, one row for each of `Figures` and one column a month."""
    months = range(params.horizon)
    return np.array(
        [
            macro.ind_gross_margin[: params.horizon],
            macro.ind_ebitda_margin[: params.horizon],
            getattr(macro, params.growth_column)[: params.horizon],
            [chargeoff_rate(params, macro.unrate[month]) for month in months],
            [rate_of_new_loans(params, macro, month) for month in months],
            [equity_chance(params, macro.vix_avg[month]) for month in months],
            [debt_chance(params, macro.sofr[m], macro.baa_10y_spread[m]) for m in months],
            [base_rate(macro, month) for month in months],
        ],
        dtype=float,
    )


class Operated(NamedTuple):
    """The months of all lanes, a row a month; money of the first three is in cents.

    Attributes:
        cash: What operations add to cash.
        income: Before tax and interest on notes.
        earned: Revenue since month 0, at the opening of each month and after the last.
        users: Borrowers at the opening, as the officer observes them.
        loans: Gross loans at the opening, dollars.
        lending_rate: Blended yield at the opening, as the officer observes it.
        largest: The largest amount of any posting or balance in cents, of all lanes.
    """

    cash: Array
    income: Array
    earned: Array
    users: Array
    loans: Array
    lending_rate: Array
    largest: float

    def take(self, rows: Array) -> "Operated":
        """Return the months of some lanes, in the order of *rows*."""
        tables = self._asdict()
        largest = tables.pop("largest")
        return Operated(**{name: one[:, rows] for name, one in tables.items()}, largest=largest)


def operated(params: ArenaParams, economy: Figures, noise: Array) -> Operated:
    """Return the months of all lanes.

    Args:
        params: The parameters.
        economy: The macro figures.
        noise: Four rows of noise (see `Lender.noise`), each a table of months and lanes.
    """
    with np.errstate(all="ignore"):  # what is not finite is refused by `largest`
        lender = _Lenders(params, economy, noise)
        for month in range(params.horizon):
            lender.operate(month)
        return lender.months()


class _Lenders:
    """The balances of all lanes while the months are posted, whole cents; see `Books`."""

    def __init__(self, params: ArenaParams, economy: Figures, noise: Array) -> None:
        self.params, self.economy = params, economy
        self._indicators(noise)
        shape = noise.shape[1:]
        lanes = np.zeros(shape[1])
        held = opening_balances(params)
        self.loans = lanes + held[LOANS]
        self.principal = lanes + held[PRINCIPAL_RECEIVABLE]
        self.interest = lanes + held[INTEREST_RECEIVABLE]
        self.allowance = lanes + held[ALLOWANCE]
        self.payables = lanes - held[PAYABLES]
        self.users = lanes + float(params.opening_users)
        self.lending_rate = lanes + economy.new_rate[0]
        self.largest = lanes + 0.0
        self.cash, self.income, self.revenue = np.empty((3, *shape))
        self.opening_users, self.opening_loans, self.opening_rate = np.empty((3, *shape))

    def _indicators(self, noise: Array) -> None:
        """Compute the industry's figures plus the lender's noise, as `operations.indicators`."""
        p, now = self.params, self.economy
        self.gross = _clipped(now.gross + noise[0], p.gross_margin_range)
        ebitda = np.minimum(_clipped(now.ebitda + noise[1], p.ebitda_margin_range), self.gross)
        self.growth = now.growth + noise[2]
        self.collected = _clipped(p.collection_base + noise[3], p.collection_range)
        self.spread = self.gross - ebitda
        self.cost_share = 1 - self.gross / 100

    def operate(self, month: int) -> None:
        """Post J3 to J12 of a month in all lanes."""
        self.opening_users[month] = self.users
        self.opening_loans[month] = self.loans + self.principal
        self.opening_rate[month] = self.lending_rate
        due = self.payables
        collected = self._collect(self.collected[month])
        self._charge_off(self.economy.chargeoff[month])
        revenue = self._bill()
        lent = self._lend(month)
        payroll, accrued = self._accrue(month, revenue)
        self.payables = accrued
        provided = self._provide()
        self.cash[month] = collected - lent - payroll - due
        self.income[month] = revenue - accrued - payroll - provided
        self.revenue[month] = revenue
        self._measure(lent, accrued + payroll)

    def _collect(self, rate: Array) -> Array:
        """J3 and J4: collect a share of the billed amounts, charge off a share of the rest."""
        paid, self.principal = self._collected(self.principal, rate)
        interest, self.interest = self._collected(self.interest, rate)
        return paid + interest

    def _collected(self, held: Array, rate: Array) -> tuple[Array, Array]:
        due = held / 100
        paid = cents(due * rate)
        left = due - paid / 100
        lost = cents(left * self.params.receivable_chargeoff_share)
        self.allowance = self.allowance + lost
        return paid, held - paid - lost

    def _charge_off(self, yearly: Array) -> None:
        """J5: charge off a twelfth of the share *yearly* of the loans."""
        lost = cents(self.loans / 100 * yearly / 12)
        self.allowance = self.allowance + lost
        self.loans = self.loans - lost

    def _bill(self) -> Array:
        """J6 and J7: bill principal and interest, both on the loans before J6."""
        loans = self.loans / 100
        billed = cents(loans * self.params.amortisation_rate)
        revenue = cents(loans * self.lending_rate / 12)
        self.loans = self.loans - billed
        self.principal = self.principal + billed
        self.interest = self.interest + revenue
        return revenue

    def _lend(self, month: int) -> Array:
        """J8: lend to new borrowers, and blend their rate into the yield of all loans."""
        growth = self.growth[month]
        before = self.loans / 100
        lent = cents(np.maximum(0.0, growth / 100 * self.users) * self.params.average_loan)
        self.loans = self.loans + lent
        self.users = np.maximum(np.minimum(1.0, self.users), self.users * (1 + growth / 100))
        added = lent / 100
        after = before + added
        blended = (self.lending_rate * before + self.economy.new_rate[month] * added) / after
        self.lending_rate = np.where(after != 0, blended, self.lending_rate)
        return lent

    def _accrue(self, month: int, revenue: Array) -> tuple[Array, Array]:
        """J9: return the payroll, and what is owed to vendors for the month."""
        earned = revenue / 100
        expense = self.params.overhead + earned * self.spread[month] / 100
        payroll = cents(expense * self.params.payroll_share_of_opex)
        cost = cents(earned * self.cost_share[month])
        return payroll, cost + (cents(expense) - payroll)

    def _provide(self) -> Array:
        """J12: set the allowance to its required shares."""
        p = self.params
        billed = self.principal + self.interest
        required = cents(
            p.allowance_on_loans * (self.loans / 100) + p.allowance_on_receivables * (billed / 100)
        )
        lacking = required + self.allowance
        self.allowance = -required
        return lacking

    def _measure(self, lent: Array, costs: Array) -> None:
        """Keep the largest amounts: those that bound all others of the month."""
        for amount in (self.loans, self.principal, self.interest, lent, costs, self.users):
            # np.maximum passes on nan, which is what an infinite amount soon becomes.
            self.largest = np.maximum(self.largest, np.abs(amount))

    def months(self) -> Operated:
        """Return the months."""
        earned = np.zeros((len(self.revenue) + 1, self.revenue.shape[1]))
        np.cumsum(self.revenue, axis=0, out=earned[1:])
        amounts = (self.largest, np.abs(self.cash), np.abs(self.income), np.abs(earned))
        largest = max(float(np.max(amount)) for amount in amounts)
        if not np.isfinite(sum(float(np.max(amount)) for amount in amounts)):
            largest = np.inf
        return Operated(
            self.cash,
            self.income,
            earned,
            np.rint(self.opening_users).astype(np.int64),
            self.opening_loans / 100,
            rounded(self.opening_rate, 6),
            largest,
        )


def _clipped(values: Array, between: tuple[float, float]) -> Array:
    low, high = between
    return np.minimum(np.maximum(values, low), high)
