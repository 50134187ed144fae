"""The lender's statements over a whole episode, a column for each year, for export.

Unlike the documents in `documents.py`, they need no closing: they are read after the episode, and
the officer never sees them.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

from ledgers.statements import Statement
from models.enterprise_arena.accounts import OPENING_MONTH
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.reports import REPORTS
from models.enterprise_arena.rules import YEAR
from models.enterprise_arena.state import Lender

__all__ = ["last_day", "statements"]

Rows = list[dict[str, Any]]


def statements(lender: Lender, date: Callable[[int], dt.date]) -> dict[str, Rows]:
    """Return income statement, balance sheet and cash flow up to the present month.

    Args:
        lender: After, or in, an episode. The last year may have fewer than twelve months.
        date: Returns the last day of a month; it names the columns.

    Returns:
        Rows by the name of the statement, dollars. The balance sheet begins with the column of the
        opening balances. The net income of a column is the change of equity less the shares issued,
        and its net change of cash is the change of cash from one balance sheet to the next.
    """
    book = lender.books.book
    years = [
        (january, min(january + YEAR - 1, lender.month))
        for january in range(0, lender.month + 1, YEAR)
    ]
    ends = [str(date(december)) for _, december in years]
    income = [REPORTS.income_statement(book, *year) for year in years]
    flows = [REPORTS.cash_flow_statement(book, *year) for year in years]
    sheets = [
        REPORTS.balance_sheet(book, month) for month in (OPENING_MONTH, *[end for _, end in years])
    ]
    return {
        "income_statement": _columns(ends, income),
        "balance_sheet": _columns([str(date(OPENING_MONTH)), *ends], sheets),
        "cash_flow": _columns(ends, flows),
    }


def _columns(names: Sequence[str], filled: Sequence[Statement]) -> Rows:
    """Return a row for each line of a statement, with a column for each period."""
    columns = [statement.money() for statement in filled]
    return [
        {"line": line, **{name: money[line] for name, money in zip(names, columns, strict=True)}}
        for line in columns[0]
    ]


def last_day(table: Macro, month: int) -> dt.date:
    """Return the last day of a month, counted from the date of the table's month 0.

    Args:
        table: Whose month 0 has a date, YYYY-MM.
        month: From -1, the month before the episode, on; it may lie beyond the table.
    """
    first = dt.date.fromisoformat(f"{table.date[0]}-01")
    # The first day of the month after, less a day.
    years, months = divmod(first.month + month, YEAR)
    return dt.date(first.year + years, months + 1, 1) - dt.timedelta(days=1)
