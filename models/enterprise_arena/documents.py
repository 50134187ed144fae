"""The documents on file: which there are now, and what each says.

The register is made of what has been closed, month by month. What is not in it has no name, so
that a name, however odd, is looked up and never taken apart.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from attrs import frozen

from ledgers.statements import Statement
from ledgers.views import apportion
from models.enterprise_arena import closings, opening
from models.enterprise_arena.company import Company
from models.enterprise_arena.history import MONTHS
from models.enterprise_arena.journal import dollars
from models.enterprise_arena.macro import YEAR
from models.enterprise_arena.refusal import Refused, unknown

__all__ = ["ACTIONS", "File", "catalogued", "closed_months", "folder", "on_file", "retrieved"]

#: What can be done with documents.
ACTIONS = ("list", "retrieve")

_Read = Callable[[], dict[str, Any]]


@frozen
class File:
    """A document on file.

    Attributes:
        filename: With its folder.
        period: What it covers.
        kind: What sort of document it is.
        compiled: The month in which it was.
        read: Compiles what it says.
    """

    filename: str
    period: str
    kind: str
    compiled: int
    read: _Read


def on_file(company: Company) -> dict[str, File]:
    """Return every document that can be read now, by name, the oldest first.

    A document once filed stays as it is, so only the months since the last look are added.
    """
    files: dict[str, File] = company.files
    added = _months(company) if files else itertools.chain(_opening(company), _months(company))
    files.update({file.filename: file for file in added})
    company.filed = company.month
    return files


def catalogued(files: Mapping[str, File]) -> list[dict[str, Any]]:
    """Return the list of the documents."""
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
    """Return a document.

    Raises:
        Refused: There is none of that name.
    """
    if filename not in files:
        why = unknown("document", filename, files)
        raise Refused(f"{why}; action='list' tells those on file" if why[-1] != "?" else why)
    file = files[filename]
    about = {"filename": filename, "kind": file.kind, "period": file.period}
    return {"company": "Company XYZ", **about, "unit": "dollars", **file.read()}


def closed_months(company: Company) -> list[int]:
    """Return the months whose statements can be read, oldest first; the present one is not yet."""
    return [month for month in company.closings if month < company.month]


def folder(month: int, label: str) -> str:
    """Return the name of a month's folder: year and number, "2xx0_03" of "Mar 2xx0".

    A table with other labels has the label and the index of the month.
    """
    number = month % YEAR
    if re.fullmatch(rf"{MONTHS[number]} \S+", label):
        return f"{label[4:]}_{number + 1:02}"
    return f"{label}_{month:03}"


def _opening(company: Company) -> Iterator[File]:
    for paper in opening.PAPERS:
        read = partial(opening.read, company, paper)
        yield File(paper.filename, paper.period, paper.kind, opening.COMPILED, read)


def _months(company: Company) -> Iterator[File]:
    closed = set(closed_months(company))
    for month in range(company.filed, company.month):
        yield from _raw(company, month)
        if month in closed:
            yield from _closing(company, month)


def _closing(company: Company, month: int) -> Iterator[File]:
    book, labels = company.books.book, company.macro.label
    name = f"closings/{folder(month, labels[month])}"
    here = labels[month]
    year = f"{labels[closings.year_of(month)]} to {here}"
    say = partial(_said, book, month)
    income = partial(_income, company, month)
    position = partial(say, closings.balance_sheet)
    flows = partial(say, closings.cash_flow)
    trial = partial(say, closings.trial_balance)
    ledger = partial(_ledger, company, month)
    yield File(f"{name}/income_statement_ytd", year, "income statement", month, income)
    yield File(f"{name}/balance_sheet", here, "balance sheet", month, position)
    yield File(f"{name}/cash_flow_ytd", year, "cash flow statement", month, flows)
    yield File(f"{name}/trial_balance", here, "trial balance", month, trial)
    yield File(f"{name}/general_ledger", year, "general ledger", month, ledger)


def _raw(company: Company, month: int) -> Iterator[File]:
    book, game, here = company.books.book, company.game, company.macro.label[month]
    name = f"raw/{folder(month, here)}"
    bank = partial(closings.bank_statement, book, month)
    tape = partial(closings.loan_tape, book, month, game.average_loan)
    bills = partial(_invoices, company, month)
    yield File(f"{name}/bank_statement", here, "bank statement", month, bank)
    yield File(f"{name}/loan_tape", here, "loan tape", month, tape)
    yield File(f"{name}/vendor_invoices", here, "vendor invoices", month, bills)


def _said(book: Any, month: int, compile_: Callable[[Any, int], Any]) -> dict[str, Any]:
    found = compile_(book, month)
    return {"rows": found.money() if isinstance(found, Statement) else found}


def _income(company: Company, month: int) -> dict[str, Any]:
    """Return the income statement, and what each vendor earned of its costs."""
    found = closings.income_statement(company.books.book, month)
    earned = found["cost_of_revenue"] + found["vendor_operating_expense"]
    parts = apportion(earned, closings.by_vendor(company.game.vendor_shares))
    return {"rows": found.money(), "vendors": {name: dollars(part) for name, part in parts.items()}}


def _ledger(company: Company, month: int) -> dict[str, Any]:
    labels = company.macro.label
    return {"accounts": closings.ledger(company.books.book, month, labels)}


def _invoices(company: Company, month: int) -> dict[str, Any]:
    shares = company.game.vendor_shares
    return {"rows": closings.vendor_invoices(company.books.book, month, shares)}
