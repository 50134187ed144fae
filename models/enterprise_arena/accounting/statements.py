"""The lender's statements over a whole episode, a column for each year, for export.

Unlike the documents in `documents.py`, they need no closing: they are read after the episode, and
the officer never sees them.
"""

import datetime as dt
from collections.abc import Callable
from typing import Any

from ledgers.statements import side_by_side
from models.enterprise_arena.accounting.accounts import OPENING_MONTH
from models.enterprise_arena.group import reports
from models.enterprise_arena.rules import YEAR
from models.enterprise_arena.state import Lender

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
    ends = {str(date(year[1])): year for year in years}
    sheets = {str(date(OPENING_MONTH)): OPENING_MONTH, **{end: y[1] for end, y in ends.items()}}
    return {
        "income_statement": side_by_side(
            {end: reports(book, y[1]).income_statement(book, *y) for end, y in ends.items()}
        ),
        "balance_sheet": side_by_side(
            {end: reports(book, month).balance_sheet(book, month) for end, month in sheets.items()}
        ),
        "cash_flow": side_by_side(
            {end: reports(book, y[1]).cash_flow_statement(book, *y) for end, y in ends.items()}
        ),
    }
