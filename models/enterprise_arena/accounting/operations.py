"""The close of a month: its indicators, and the postings J3 to J16 that follow from them.

Source: SPEC sections 5 and 6.
"""

from math import fsum

from models.enterprise_arena.accounting.accounts import LOANS, PAYABLES, cents, dollars
from models.enterprise_arena.economy.macro import Macro
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.rules import YEAR, instalment
from models.enterprise_arena.state import Indicators, Lender, TermLoan


def indicators(lender: Lender, month: int) -> Indicators:
    """Return the industry's figures of a month plus the lender's noise, clipped to their ranges."""
    params, macro = lender.params, lender.macro
    e1, e2, e3, e4 = lender.noise[month]
    gross = _clipped(macro.ind_gross_margin[month] + e1, params.gross_margin_range)
    ebitda = _clipped(macro.ind_ebitda_margin[month] + e2, params.ebitda_margin_range)
    rate = _clipped(params.collection_base + e4, params.collection_range)
    return Indicators(gross, min(ebitda, gross), lender.growth[month] + e3, rate)


def _clipped(value: float, between: tuple[float, float]) -> float:
    # Comparisons take half the time of min and max.
    low, high = between
    if value < low:
        return low
    return min(value, high)


def chargeoff_rate(params: ArenaParams, unemployment: float) -> float:
    """Return the share of the loans that defaults in a year.

    base x max(floor, 1 + slope x (unemployment - pivot)), unemployment in percent (SPEC section 6).
    """
    gap = unemployment - params.chargeoff_unemployment_pivot
    return params.chargeoff_base_annual * max(
        params.chargeoff_floor, 1 + params.chargeoff_unemployment_slope * gap
    )


def rate_of_new_loans(params: ArenaParams, macro: Macro, month: int) -> float:
    """Return the yield of loans made in a month, a share a year.

    interest_bearing_share x (two-year Treasury + Baa yield) (SPEC section 6).
    """
    return params.interest_bearing_share * (macro.tsy2y[month] + macro.baa[month]) / 100


def operate(lender: Lender, month: int) -> None:
    """Post J3 to J9 of the present month."""
    params, books = lender.params, lender.books
    now = indicators(lender, month)
    lender.indicators.append(now)
    lender.payables_due = -books.held[PAYABLES]
    books.collect(month, now.collection_rate, params.receivable_chargeoff_share)
    books.charge_off_loans(month, chargeoff_rate(params, lender.macro.unrate[month]))
    revenue = books.bill(month, params.amortisation_rate, lender.lending_rate)
    lend(lender, month, now.growth)
    accrue_costs(lender, month, revenue, now)


def lend(lender: Lender, month: int, growth: float) -> None:
    """J8: pay out loans to new borrowers, and blend their rate into the yield of all loans."""
    params, books = lender.params, lender.books
    before = dollars(books.held[LOANS])
    lent = cents(max(0.0, growth / 100 * lender.users) * params.average_loan)
    books.originate(month, lent)
    lender.users = borrowers(lender.users, growth)
    rate = rate_of_new_loans(params, lender.macro, month)
    added = dollars(lent)
    if after := before + added:
        lender.lending_rate = (lender.lending_rate * before + rate * added) / after


def borrowers(before: float, growth: float) -> float:
    """Return the borrowers after a month of *growth* percent (SPEC section 6, J8).

    They are at least 1, or as many as before where those are fewer: 0 stay 0.
    """
    return max(min(1.0, before), before * (1 + growth / 100))


def accrue_costs(lender: Lender, month: int, revenue: int, now: Indicators) -> None:
    """J9: accrue vendors' costs, and set the payroll of the month's payday."""
    earned = dollars(revenue)
    expense = lender.params.overhead + earned * (now.gross_margin - now.ebitda_margin) / 100
    lender.payroll = cents(expense * lender.params.payroll_share_of_opex)
    cost = cents(earned * (1 - now.gross_margin / 100))
    lender.books.accrue_vendors(month, cost, cents(expense) - lender.payroll)


def pay_staff(lender: Lender, month: int) -> None:
    """J10: pay the payroll of the month."""
    lender.books.pay_staff(month, lender.payroll)


def pay_payables(lender: Lender, month: int) -> None:
    """J11 and J12: pay the payables of the end of last month, and adjust the allowance."""
    params, books = lender.params, lender.books
    books.pay_vendors(month, lender.payables_due)
    books.provide(month, params.allowance_on_loans, params.allowance_on_receivables)


def service_notes(lender: Lender) -> None:
    """J13 and J14: pay a month's interest on the balances, then an instalment of each note."""
    loans, month = lender.term_loans, lender.month
    interest = fsum([loan.balance * loan.rate / 12 for loan in loans])
    lender.books.pay_interest(month, round(interest))
    lender.books.repay(month, sum([_repaid(lender, loan, month) for loan in loans]))
    lender.term_loans = [loan for loan in loans if loan.balance]


def _repaid(lender: Lender, loan: TermLoan, month: int) -> int:
    """Deduct an instalment from the balance of a note and return it, cents."""
    term = lender.params.note_term_months
    paid = instalment(loan.principal, loan.balance, month - loan.drawn, term)
    loan.balance -= paid
    return paid


def settle_tax(lender: Lender, month: int) -> None:
    """J15 and J16: pay last month's tax, accrue this month's after losses carried forward."""
    books = lender.books
    books.pay_tax(month)
    to_date = books.pretax
    # The accounts of the year to date are closed in January, so it starts from zero.
    income = to_date - (lender.pretax_to_date if month % YEAR else 0)
    lender.pretax_to_date = to_date
    if income < 0:
        lender.loss_carryforward -= income
        return
    used = min(income, lender.loss_carryforward)
    lender.loss_carryforward -= used
    books.accrue_tax(month, round(lender.params.tax_rate * (income - used)))
