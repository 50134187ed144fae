"""Tables of what tools have returned, for a person who pays for a look as a language model does.

A tool returns one document or one market series. Each call counts against the score and the month's
budget, however the person gives the command.
"""

from collections.abc import Iterator

from desim.core.reported import ChargedTable
from models.enterprise_arena import tables
from models.enterprise_arena.actions import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    CheckMarketData,
    ReviewFinancialRecords,
)
from models.enterprise_arena.economy import market
from models.enterprise_arena.officer import documents, opening
from models.enterprise_arena.officer.documents import File
from models.enterprise_arena.state import Lender

#: By table the kind of the documents that it is made of.
_KINDS = {
    "income statement, year to date": "income statement",
    "balance sheet": "balance sheet",
    "cash flow, year to date": "cash flow statement",
    "trial balance, last closing": "trial balance",
    "bank": "bank statement",
    "loan tape": "loan tape",
    "vendors": "vendor invoices",
}


def charged_tables(lender: Lender) -> dict[str, ChargedTable]:
    """Return every table with what was paid for, and the tools that return more of it."""
    price = _price(lender)
    files = list(documents.on_file(lender).values())
    found = {
        name: _documents(lender, name, [file for file in files if file.kind == kind], price)
        for name, kind in _KINDS.items()
    }
    found["market"] = _market(lender, price)
    found["cap table"] = _cap_table(lender, files, price)
    return {name: table for name, table in found.items() if table.rows or table.offers}


def _price(lender: Lender) -> str:
    params = lender.params
    left = params.tool_budget - (lender.calls[-1] if lender.calls else 0)
    charge = f"takes ${params.tool_charge:,.0f} off your score" if params.tool_charge else "is free"
    return (
        f"One call of a tool {charge} and counts against the month's budget: {left} of "
        f"{params.tool_budget} calls are left."
    )


def _documents(lender: Lender, name: str, on_file: list[File], price: str) -> ChargedTable:
    """Return a table of the documents of one kind that were read; the newest is offered."""
    monthly = [file for file in on_file if file.filename.startswith(documents.MONTHLY)]
    read = _papers_read(lender)
    months = [file.compiled for file in monthly if file.filename in read]
    rows = {**tables.CLOSED, **tables.RAW}[name](lender, months)
    return ChargedTable(rows, price, _offer(monthly[-1:], read))


def _cap_table(lender: Lender, on_file: list[File], price: str) -> ChargedTable:
    read = _papers_read(lender)
    papers = [file for file in on_file if file.kind == "cap table"]
    rows = opening.cap_table(lender)["rows"] if papers[0].filename in read else []
    return ChargedTable(rows, price, _offer(papers, read))


def _offer(newest: list[File], read: set[str]) -> dict[str, ReviewFinancialRecords]:
    return {
        file.period: ReviewFinancialRecords("retrieve", file.filename)
        for file in newest
        if file.filename not in read
    }


def _papers_read(lender: Lender) -> set[str]:
    """Return the names of the documents that a tool has returned."""
    return {
        tool.filename
        for _, tool in lender.answered
        if isinstance(tool, ReviewFinancialRecords | AccessFinancialDocs)
    }


def _market(lender: Lender, price: str) -> ChargedTable:
    """Return the market data that tools have returned; every other series is offered up to now."""
    months: dict[str, set[int]] = {}
    for name, seen in _months_seen(lender):
        months.setdefault(name, set()).update(seen)
    offers = {
        name: AnalyzeMarketConditions(name)
        for name in market.SERIES
        if lender.month not in months.get(name, ())
    }
    return ChargedTable(tables.market_rows(lender, months), price, offers)


def _months_seen(lender: Lender) -> Iterator[tuple[str, range]]:
    """Yield the series that tools have returned, with the months."""
    for now, tool in lender.answered:
        if isinstance(tool, AnalyzeMarketConditions | CheckMarketData):
            end = now if tool.end_month is None else min(tool.end_month, now)
            yield tool.data_type, range(tool.start_month, end + 1)
