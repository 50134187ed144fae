"""Tables that a person at the seat can look up: of closed months, of raw extracts, of the market.

They hold what documents and market data hold, and nothing else; looking is free, where the same
by a tool is charged.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ledgers.statements import Statement
from models.enterprise_arena import closings, market, opening
from models.enterprise_arena.company import Company
from models.enterprise_arena.documents import closed_months

__all__ = ["sheets"]

Rows = list[dict[str, Any]]


def sheets(company: Company) -> dict[str, Rows]:
    """Return the tables by name; one that has no rows yet is left out."""
    tables = {
        "income statement, year to date": _statements(company, closings.income_statement),
        "balance sheet": _statements(company, closings.balance_sheet),
        "cash flow, year to date": _statements(company, closings.cash_flow),
        "trial balance, last closing": _trial_balance(company),
        "bank": _bank(company),
        "loan tape": _loan_tape(company),
        "vendors": _vendors(company),
        "market": _market(company),
        "cap table": opening.cap_table(company)["rows"],
        "equity rounds": opening.cap_table(company)["rounds"],
    }
    return {name: rows for name, rows in tables.items() if rows}


def _statements(company: Company, compile_: Callable[[Any, int], Statement]) -> Rows:
    """Set one statement of every closing beside the others, a row each."""
    book = company.books.book
    return [_row(company, month, compile_(book, month).money()) for month in closed_months(company)]


def _trial_balance(company: Company) -> Rows:
    closed = closed_months(company)
    return closings.trial_balance(company.books.book, closed[-1]) if closed else []


def _bank(company: Company) -> Rows:
    return [_row(company, month, _account(company, month)) for month in range(company.month)]


def _account(company: Company, month: int) -> dict[str, float]:
    """Return a month of the bank account: its classes side by side, what went out below zero."""
    told = closings.bank_statement(company.books.book, month)
    flows = {row["class"]: row["inflow"] - row["outflow"] for row in told["rows"]}
    return {**flows, "closing_balance": told["closing_balance"]}


def _loan_tape(company: Company) -> Rows:
    book, loan = company.books.book, company.game.average_loan
    return [
        _row(company, month, closings.loan_tape(book, month, loan))
        for month in range(company.month)
    ]


def _vendors(company: Company) -> Rows:
    """Return what each vendor was paid, month by month."""
    book, shares = company.books.book, company.game.vendor_shares
    paid = (closings.vendor_invoices(book, month, shares) for month in range(company.month))
    return [
        _row(company, month, {row["vendor"]: row["paid_on_earlier"] for row in rows})
        for month, rows in enumerate(paid)
    ]


def _market(company: Company) -> Rows:
    series = [market.seen(company, name) for name in market.SERIES]
    return [
        _row(company, month, {each.name: each.values[month] for each in series})
        for month in range(company.month + 1)
    ]


def _row(company: Company, month: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {"month": company.macro.label[month], **figures}
