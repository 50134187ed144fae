"""Tables that a person who plays the officer can look up during an episode.

They contain only facts of the documents and market data. They are free, while the tools that return
the same facts are charged.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ledgers.statements import Statement
from models.enterprise_arena.accounting import closings
from models.enterprise_arena.economy import market
from models.enterprise_arena.officer import opening
from models.enterprise_arena.officer.documents import closed_months
from models.enterprise_arena.state import Lender

Rows = list[dict[str, Any]]


def tables(lender: Lender) -> dict[str, Rows]:
    """Return the tables by name; those without rows are left out."""
    by_name = {
        "income statement, year to date": _statements(lender, closings.income_statement),
        "balance sheet": _statements(lender, closings.balance_sheet),
        "cash flow, year to date": _statements(lender, closings.cash_flow),
        "trial balance, last closing": _trial_balance(lender),
        "bank": _bank(lender),
        "loan tape": _loan_tape(lender),
        "vendors": _vendors(lender),
        "market": _market(lender),
        "cap table": opening.cap_table(lender)["rows"],
        "equity rounds": opening.cap_table(lender)["rounds"],
    }
    return {name: rows for name, rows in by_name.items() if rows}


def _statements(lender: Lender, compile_: Callable[[Any, int], Statement]) -> Rows:
    """Return a statement as a table with a row for each closing."""
    book = lender.books.book
    return [_row(lender, month, compile_(book, month).money()) for month in closed_months(lender)]


def _trial_balance(lender: Lender) -> Rows:
    closed = closed_months(lender)
    return closings.trial_balance(lender.books.book, closed[-1]) if closed else []


def _bank(lender: Lender) -> Rows:
    return [_row(lender, month, _account(lender, month)) for month in _past(lender)]


def _account(lender: Lender, month: int) -> dict[str, float]:
    """Return a month of the bank account with a column for each class; outflows are negative."""
    statement = closings.bank_statement(lender.books.book, month)
    flows = {row["class"]: round(row["inflow"] - row["outflow"], 2) for row in statement["rows"]}
    return {**flows, "closing_balance": statement["closing_balance"]}


def _loan_tape(lender: Lender) -> Rows:
    book, loan = lender.books.book, lender.params.average_loan
    return [_row(lender, month, closings.loan_tape(book, month, loan)) for month in _past(lender)]


def _vendors(lender: Lender) -> Rows:
    """Return the payments to each vendor, a row for each month."""
    book, shares = lender.books.book, lender.params.vendor_shares
    paid = (closings.vendor_invoices(book, month, shares) for month in _past(lender))
    return [
        _row(lender, month, {row["vendor"]: row["paid_on_earlier"] for row in rows})
        for month, rows in enumerate(paid)
    ]


def _market(lender: Lender) -> Rows:
    series = [market.until_now(lender, name) for name in market.SERIES]
    return [
        _row(lender, month, {each.name: each.values[month] for each in series})
        for month in range(len(series[0].labels))
    ]


def _past(lender: Lender) -> range:
    """Return the months that are over; in a group the clock may go on after the lender's last."""
    return range(min(lender.month, lender.params.horizon))


def _row(lender: Lender, month: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {"month": lender.macro.label[month], **figures}
