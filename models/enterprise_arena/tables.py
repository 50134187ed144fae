"""Tables that a person who plays the officer can look up during an episode.

They contain only facts of the documents and market data. They are free, while the tools that return
the same facts are charged.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ledgers.statements import Statement
from models.enterprise_arena.accounting import closings
from models.enterprise_arena.economy import market
from models.enterprise_arena.officer import opening
from models.enterprise_arena.officer.documents import closed_months
from models.enterprise_arena.state import Lender

Rows = list[dict[str, Any]]


def tables(lender: Lender) -> dict[str, Rows]:
    """Return the tables by name; those without rows are left out.

    Those of the company's books are, too, where the header hides them.
    """
    closed, past = closed_months(lender), past_months(lender)
    cap_table = opening.cap_table(lender)
    books = {
        **{name: rows(lender, closed) for name, rows in CLOSED.items()},
        **{name: rows(lender, past) for name, rows in RAW.items()},
    }
    by_name = {
        **(books if lender.params.header == "full" else {}),
        "market": market_rows(lender, dict.fromkeys(market.SERIES, range(lender.month + 1))),
        "cap table": cap_table["rows"],
        "equity rounds": cap_table["rounds"],
    }
    return {name: rows for name, rows in by_name.items() if rows}


def past_months(lender: Lender) -> range:
    """Return the months that are over; in a group the clock may go on after the lender's last."""
    return range(min(lender.month, lender.params.horizon))


def market_rows(lender: Lender, months: Mapping[str, Collection[int]]) -> Rows:
    """Return a row for each month in which a series is shown.

    Args:
        lender: The lender.
        months: The months by series; of those to come nothing is shown.
    """
    series = [market.until_now(lender, name) for name in months]
    rows = (
        (month, {one.name: one.values[month] for one in series if month in months[one.name]})
        for month in range(len(lender.macro.label[: lender.month + 1]))
    )
    return [_row(lender, month, figures) for month, figures in rows if figures]


def _statements(compile_: Callable[[Any, int], Statement]) -> Callable[..., Rows]:
    """Return a function that returns a statement as a table with a row for each closing."""

    def rows(lender: Lender, months: Sequence[int]) -> Rows:
        book = lender.books.book
        return [_row(lender, month, compile_(book, month).money()) for month in months]

    return rows


def _trial_balance(lender: Lender, months: Sequence[int]) -> Rows:
    return closings.trial_balance(lender.books.book, months[-1]) if months else []


def _bank(lender: Lender, months: Sequence[int]) -> Rows:
    return [_row(lender, month, _account(lender, month)) for month in months]


def _account(lender: Lender, month: int) -> dict[str, float]:
    """Return a month of the bank account with a column for each class; outflows are negative."""
    statement = closings.bank_statement(lender.books.book, month)
    flows = {row["class"]: round(row["inflow"] - row["outflow"], 2) for row in statement["rows"]}
    return {**flows, "closing_balance": statement["closing_balance"]}


def _loan_tape(lender: Lender, months: Sequence[int]) -> Rows:
    book, loan = lender.books.book, lender.params.average_loan
    return [_row(lender, month, closings.loan_tape(book, month, loan)) for month in months]


def _vendors(lender: Lender, months: Sequence[int]) -> Rows:
    """Return the payments to each vendor, a row for each month."""
    book, shares = lender.books.book, lender.params.vendor_shares
    paid = ((month, closings.vendor_invoices(book, month, shares)) for month in months)
    return [
        _row(lender, month, {row["vendor"]: row["paid_on_earlier"] for row in rows})
        for month, rows in paid
    ]


def _row(lender: Lender, month: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {"month": lender.macro.label[month], **figures}


#: Tables of documents that a closing compiles, and of those of every month that is over.
CLOSED = {
    "income statement, year to date": _statements(closings.income_statement),
    "balance sheet": _statements(closings.balance_sheet),
    "cash flow, year to date": _statements(closings.cash_flow),
    "trial balance, last closing": _trial_balance,
}
RAW = {"bank": _bank, "loan tape": _loan_tape, "vendors": _vendors}
