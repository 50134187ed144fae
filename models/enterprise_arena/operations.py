"""How a month closes: its indicators, and the postings J3 to J16 they lead to (SPEC section 6)."""

from math import fsum
from typing import TYPE_CHECKING

from models.enterprise_arena.company import Company, Indicators, TermLoan
from models.enterprise_arena.journal import cents, dollars

if TYPE_CHECKING:
    from models.enterprise_arena.params import EnterpriseArena

__all__ = ["chargeoff_rate", "draw_indicators", "operate", "service_notes", "settle_tax"]


def draw_indicators(company: Company, month: int) -> Indicators:
    """Put the company's own noise on the month's base values; it does not accumulate."""
    game, macro = company.game, company.macro
    e1, e2, e3, e4 = company.noise[month]
    low, high = game.gross_margin_range
    gross = min(max(macro.ind_gross_margin[month] + e1, low), high)
    low, high = game.ebitda_margin_range
    ebitda = min(max(macro.ind_ebitda_margin[month] + e2, low), high)
    low, high = game.collection_range
    rate = min(max(game.collection_base + e4, low), high)
    return Indicators(gross, min(ebitda, gross), company.growth[month] + e3, rate)


def chargeoff_rate(game: "EnterpriseArena", unemployment: float) -> float:
    """Return the share of the book that defaults, a year."""
    gap = unemployment - game.chargeoff_unemployment_pivot
    return game.chargeoff_base_annual * max(
        game.chargeoff_floor, 1 + game.chargeoff_unemployment_slope * gap
    )


def operate(company: Company) -> None:
    """Post J3 to J12 of the month."""
    game, books, month = company.game, company.books, company.month
    now = draw_indicators(company, month)
    company.indicators.append(now)
    owed = -books.held["2000"]
    books.collect(month, now.collection_rate, game.receivable_chargeoff_share)
    books.write_off_loans(month, chargeoff_rate(game, company.macro.unrate[month]))
    revenue = books.bill(month, game.amortisation_rate, company.lending_rate)
    lend(company, month, now.growth)
    spend(company, month, revenue, now, owed)
    books.provide(month, game.allowance_on_loans, game.allowance_on_receivables)


def lend(company: Company, month: int, growth: float) -> None:
    """J8: pay out to new borrowers, and blend their rate into the yield of the book."""
    game, macro, books = company.game, company.macro, company.books
    before = dollars(books.held["1100"])
    lent = cents(max(0.0, growth / 100 * company.users) * game.average_loan)
    books.lend(month, lent)
    company.users = max(1.0, company.users * (1 + growth / 100))
    offered = game.interest_bearing_share * (macro.tsy2y[month] + macro.baa[month]) / 100
    after, added = before + dollars(lent), offered * dollars(lent)
    if after:
        company.lending_rate = (company.lending_rate * before + added) / after


def spend(company: Company, month: int, revenue: int, now: Indicators, owed: int) -> None:
    """J9 to J11: accrue what vendors have earned, pay staff, pay vendors last month's bill."""
    books, earned = company.books, dollars(revenue)
    expense = earned * (now.gross_margin - now.ebitda_margin) / 100
    payroll = cents(expense * company.game.payroll_share_of_opex)
    cost = cents(earned * (1 - now.gross_margin / 100))
    books.accrue_vendors(month, cost, cents(expense) - payroll)
    books.pay_staff(month, payroll)
    books.pay_vendors(month, owed)


def service_notes(company: Company) -> None:
    """J13 and J14: a month's interest on the balances, then an instalment of each note."""
    loans, month = company.term_loans, company.month
    interest = fsum([loan.balance * loan.rate / 12 for loan in loans])
    company.books.pay_interest(month, round(interest))
    company.books.repay(month, sum([_instalment(company, loan, month) for loan in loans]))
    company.term_loans = [loan for loan in loans if loan.balance]


def _instalment(company: Company, loan: TermLoan, month: int) -> int:
    """Take an instalment off a note; the last one is what rounding has left."""
    term = company.game.note_term_months
    last = month - loan.drawn >= term - 1
    paid = loan.balance if last else min(loan.balance, round(loan.principal / term))
    loan.balance -= paid
    return paid


def settle_tax(company: Company, income: int) -> None:
    """J15 and J16: pay last month's tax, accrue this month's on what losses leave.

    Args:
        company: Whose losses are carried forward.
        income: Of the month, before tax, cents.
    """
    books, month = company.books, company.month
    books.pay_tax(month)
    used = min(max(income, 0), company.loss_carryforward)
    company.loss_carryforward += max(-income, 0) - used
    books.accrue_tax(month, round(company.game.tax_rate * (max(income, 0) - used)))
