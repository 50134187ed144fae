"""The register of documents: which are on file now, and their contents.

The register grows month by month; a closing adds the statements of its month. A requested name is
looked up in the register as it is, and never parsed or used as a path.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from attrs import frozen

from ledgers.book import Book
from ledgers.statements import Statement
from ledgers.views import apportion
from models.enterprise_arena.accounting import closings
from models.enterprise_arena.accounting.accounts import dollars
from models.enterprise_arena.economy.history import MONTHS
from models.enterprise_arena.observation import CommandRefused, unknown
from models.enterprise_arena.officer import opening
from models.enterprise_arena.rules import YEAR
from models.enterprise_arena.state import Lender

#: Values of the argument `action` of the document tools.
ACTIONS = ("list", "retrieve")

#: Folders of the documents that each month adds.
_CLOSINGS, _RAW = ("closings/", "raw/")

_Read = Callable[[], dict[str, Any]]


@frozen
class File:
    """A document on file.

    Attributes:
        filename: With its folder.
        period: The period that it covers.
        kind: The sort of document.
        compiled: The month in which it was compiled.
        read: Returns its contents; they are computed from the book when they are read.
    """

    filename: str
    period: str
    kind: str
    compiled: int
    read: _Read


def on_file(lender: Lender) -> dict[str, File]:
    """Return every document that can be read now, by name, the oldest first.

    A document on file never changes, so only the months since the last call are added.
    """
    files: dict[str, File] = lender.files
    added = _months(lender) if files else itertools.chain(_opening(lender), _months(lender))
    files.update({file.filename: file for file in added})
    lender.months_filed = lender.month
    return files


def catalogued(files: Mapping[str, File]) -> list[dict[str, Any]]:
    """Return the list of the documents as the tools show it."""
    return [
        {
            "filename": file.filename,
            "period": file.period,
            "kind": file.kind,
            "compiled_month": file.compiled,
        }
        for file in files.values()
    ]


def retrieved(files: Mapping[str, File], filename: str) -> dict[str, Any]:
    """Return the contents of a document.

    Raises:
        CommandRefused: No document on file has that name.
    """
    if filename not in files:
        why = unknown("document", filename, files)
        raise CommandRefused(f"{why}; action='list' tells those on file" if why[-1] != "?" else why)
    file = files[filename]
    about = {"filename": filename, "kind": file.kind, "period": file.period}
    return {"company": "Company XYZ", **about, "unit": "dollars", **file.read()}


def closed_months(lender: Lender) -> list[int]:
    """Return the months whose statements can be read, oldest first; never the present month."""
    return [month for month in lender.closings if month < lender.month]


def folder(month: int, label: str) -> str:
    """Return the name of a month's folder.

    Args:
        month: Its index.
        label: Its name in the macro table, a text of the table's author.

    Returns:
        Year and number of the month, "2xx0_03", if the label has the form "Mar 2xx0"; otherwise the
        label and the index.
    """
    number = month % YEAR
    if re.fullmatch(rf"{MONTHS[number]} \S+", label):
        return f"{label[4:]}_{number + 1:02}"
    return f"{label}_{month:03}"


def _opening(lender: Lender) -> Iterator[File]:
    for paper in opening.PAPERS:
        read = partial(paper.read, lender)
        yield File(paper.filename, paper.period, paper.kind, opening.COMPILED, read)


def _months(lender: Lender) -> Iterator[File]:
    closed = set(closed_months(lender))
    for month in range(lender.months_filed, lender.month):
        yield from _raw(lender, month)
        if month in closed:
            yield from _closing(lender, month)


def _closing(lender: Lender, month: int) -> Iterator[File]:
    book, labels = lender.books.book, lender.macro.label
    name = f"{_CLOSINGS}{folder(month, labels[month])}"
    label = labels[month]
    year = f"{labels[closings.year_of(month)]} to {label}"
    income = partial(_income, lender, month)
    position = partial(_statement, book, month, closings.balance_sheet)
    flows = partial(_statement, book, month, closings.cash_flow)
    trial = partial(_trial_balance, book, month)
    ledger = partial(_ledger, lender, month)
    yield File(f"{name}/income_statement_ytd", year, "income statement", month, income)
    yield File(f"{name}/balance_sheet", label, "balance sheet", month, position)
    yield File(f"{name}/cash_flow_ytd", year, "cash flow statement", month, flows)
    yield File(f"{name}/trial_balance", label, "trial balance", month, trial)
    yield File(f"{name}/general_ledger", year, "general ledger", month, ledger)


def _raw(lender: Lender, month: int) -> Iterator[File]:
    book, params, label = lender.books.book, lender.params, lender.macro.label[month]
    name = f"{_RAW}{folder(month, label)}"
    bank = partial(closings.bank_statement, book, month)
    tape = partial(closings.loan_tape, book, month, params.average_loan)
    bills = partial(_invoices, lender, month)
    yield File(f"{name}/bank_statement", label, "bank statement", month, bank)
    yield File(f"{name}/loan_tape", label, "loan tape", month, tape)
    yield File(f"{name}/vendor_invoices", label, "vendor invoices", month, bills)


def _statement(
    book: Book, month: int, compile_: Callable[[Book, int], Statement]
) -> dict[str, Any]:
    return {"rows": compile_(book, month).money()}


def _income(lender: Lender, month: int) -> dict[str, Any]:
    """Return the income statement, and each vendor's part of its costs."""
    income = closings.income_statement(lender.books.book, month)
    costs = income["cost_of_revenue"] + income["vendor_operating_expense"]
    parts = apportion(costs, closings.by_vendor(lender.params.vendor_shares))
    vendors = {name: dollars(part) for name, part in parts.items()}
    return {"rows": income.money(), "vendors": vendors}


def _trial_balance(book: Book, month: int) -> dict[str, Any]:
    return {"rows": closings.trial_balance(book, month)}


def _ledger(lender: Lender, month: int) -> dict[str, Any]:
    labels = lender.macro.label
    return {"accounts": closings.ledger(lender.books.book, month, labels)}


def _invoices(lender: Lender, month: int) -> dict[str, Any]:
    shares = lender.params.vendor_shares
    return {"rows": closings.vendor_invoices(lender.books.book, month, shares)}
