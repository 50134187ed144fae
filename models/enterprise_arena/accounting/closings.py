"""The contents of documents: statements of closed months, and raw extracts of all past months.

Every function takes the book and a month that is over, and reads no entry after that month. Money
is in dollars.
"""

from collections.abc import Sequence
from typing import Any

from ledgers.book import Book
from ledgers.statements import Statement, movements
from ledgers.views import apportion, general_ledger, opening
from models.enterprise_arena.accounting.accounts import (
    BILL_INTEREST,
    BILL_PRINCIPAL,
    CASH,
    INTEREST_RECEIVABLE,
    LOANS,
    ORIGINATE,
    PRINCIPAL_RECEIVABLE,
    dollars,
)
from models.enterprise_arena.accounting.reports import VENDORS
from models.enterprise_arena.group import accounts, cash_ledger, reports
from models.enterprise_arena.rules import YEAR

#: Shares are converted to whole parts per billion, because `apportion` takes whole weights.
_PPB = 1_000_000_000


def year_of(month: int) -> int:
    """Return the January of a month's year."""
    return month - month % YEAR


# -- closed months ---------------------------------------------------------------------------------


def income_statement(book: Book, month: int) -> Statement:
    """Return the income statement of the year to date."""
    return reports(book, month).income_statement(book, year_of(month), month)


def balance_sheet(book: Book, month: int) -> Statement:
    """Return the balance sheet at the end of the month."""
    return reports(book, month).balance_sheet(book, month)


def cash_flow(book: Book, month: int) -> Statement:
    """Return the cash flow statement of the year to date, by the direct method."""
    return reports(book, month).cash_flow_statement(book, year_of(month), month)


def trial_balance(book: Book, month: int) -> list[dict[str, Any]]:
    """Return every account with its balance at the end of the month."""
    return [
        {"account": each.code, "name": each.name, **_sides(book.balance(each.code, at=month))}
        for each in accounts(book, month)
    ]


def ledger(book: Book, month: int, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the general ledger of the year to date, account by account.

    Balances are brought forward from December; debits are positive.

    Args:
        book: Whose entries are listed.
        month: The last month.
        labels: Names of the months, by index.
    """
    since = year_of(month)
    return [
        {
            "account": account.code,
            "name": account.name,
            "opening_balance": dollars(opening(book, account.code, since)),
            "lines": [
                {
                    "month": labels[line.time],
                    "text": line.text,
                    **_sides(line.amount),
                    "balance": dollars(line.balance),
                }
                for line in general_ledger(book, account.code, since, month)
            ],
        }
        for account in accounts(book, month)
    ]


def _sides(amount: int) -> dict[str, float]:
    return {"debit": dollars(max(amount, 0)), "credit": dollars(max(-amount, 0))}


# -- all past months -------------------------------------------------------------------------------


def bank_statement(book: Book, month: int) -> dict[str, Any]:
    """Return the month's inflows and outflows of cash, by the classes of the cash ledger."""
    view = cash_ledger(book, month)
    moved = view.lines(book, month, month)
    classes = dict.fromkeys(view.categories.values())
    return {
        "opening_balance": dollars(book.balance(CASH, at=month - 1)),
        "rows": [
            {"class": name, **_ways([line.amount for line in moved if line.category == name])}
            for name in classes
        ],
        "closing_balance": dollars(book.balance(CASH, at=month)),
    }


def _ways(amounts: Sequence[int]) -> dict[str, float]:
    received = sum(amount for amount in amounts if amount > 0)
    return {"inflow": dollars(received), "outflow": dollars(received - sum(amounts))}


def loan_tape(book: Book, month: int, average_loan: float) -> dict[str, Any]:
    """Return new loans, and the sum of the principal and interest billed to borrowers."""
    lent = movements(book, month, month, only=ORIGINATE.kind)[LOANS]
    billed = movements(book, month, month, only=(BILL_PRINCIPAL.kind, BILL_INTEREST.kind))
    return {
        "new_loans": round(dollars(lent) / average_loan) if average_loan else 0,
        "amount_lent": dollars(lent),
        "amount_billed": dollars(billed[PRINCIPAL_RECEIVABLE] + billed[INTEREST_RECEIVABLE]),
    }


def vendor_invoices(book: Book, month: int, shares: Sequence[float]) -> list[dict[str, Any]]:
    """Return an invoice of each vendor for the month, and the payments of earlier ones in it.

    The invoice has no amount, because only a closing shows the month's accruals.
    """
    paid = -cash_ledger(book, month).flows(book, month, month)["vendor"]
    parts = apportion(paid, by_vendor(shares))
    return [
        {"vendor": name, "invoice": "received", "amount": None, "paid_on_earlier": dollars(part)}
        for name, part in parts.items()
    ]


def by_vendor(shares: Sequence[float]) -> dict[str, int]:
    """Return whole weights by vendor."""
    return {name: round(share * _PPB) for name, share in zip(VENDORS, shares, strict=True)}
