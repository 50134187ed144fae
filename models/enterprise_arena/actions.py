"""Commands of the chief financial officer: tools, notes, and the one action that ends a month.

Each of the four tools exists under the paper's name and under that of the public simulator.
"""

from collections.abc import Mapping
from typing import ClassVar

from attrs import field, frozen
from attrs.validators import optional

from desim.schema.validators import (
    bounded_number,
    bounded_whole,
    long_text,
    short_text,
    short_texts,
)
from desim.show.column import DOLLARS, Column

#: Values of `FundRaisingRequest.type`.
EQUITY, DEBT = "equity", "debt"
INSTRUMENTS = (EQUITY, DEBT)


# -- tools: twenty calls a month -------------------------------------------------------------------


@frozen
class VerifyCashPosition:
    """Look at the bank account; costs a call."""


@frozen
class CheckCashInBank:
    """Look at the bank account (the public simulator's name); costs a call."""


_DOCUMENTS = {
    "action": Column(kind="identifier", choices=("list", "retrieve")),
    "filename": Column(kind="identifier", of=("reply.out.documents.filename",)),
}


@frozen
class ReviewFinancialRecords:
    """List the documents on file, or read one; costs a call.

    Attributes:
        action: "list" or "retrieve".
        filename: Of the document to retrieve.
    """

    columns: ClassVar[Mapping[str, Column]] = _DOCUMENTS

    action: str = field(default="list", validator=short_text)
    filename: str = field(default="", validator=short_text)


@frozen
class AccessFinancialDocs:
    """List the documents on file, or read one (the public simulator's name); costs a call.

    Attributes:
        action: "list" or "retrieve".
        filename: Of the document to retrieve.
    """

    columns: ClassVar[Mapping[str, Column]] = _DOCUMENTS

    action: str = field(default="list", validator=short_text)
    filename: str = field(default="", validator=short_text)


@frozen
class AnalyzeMarketConditions:
    """Read a market series, month by month up to now; costs a call.

    Attributes:
        data_type: Name of the series, for example GDP, SOFR, VIX or Monthly_User_Growth.
        start_month: First month, from 0.
        end_month: Last month; the present one where it is not given.
    """

    data_type: str = field(validator=short_text)
    start_month: int = field(default=0, validator=bounded_whole)
    end_month: int | None = field(default=None, validator=optional(bounded_whole))


@frozen
class CheckMarketData:
    """Read a market series (the public simulator's name); costs a call.

    Attributes:
        data_type: Name of the series, for example GDP, SOFR, VIX or Monthly_User_Growth.
        start_month: First month, from 0.
        end_month: Last month; the present one where it is not given.
    """

    data_type: str = field(validator=short_text)
    start_month: int = field(default=0, validator=bounded_whole)
    end_month: int | None = field(default=None, validator=optional(bounded_whole))


#: Growth of borrowers in the macro table is between 0 and 10 % a month.
_PROJECTION = {
    "months": Column("months", usual=(1, 12)),
    "growth_rate_override": Column("%", usual=(-10, 10)),
}


@frozen
class ConductCashflowProjection:
    """Project cash for some months, growth held flat; costs a call.

    Attributes:
        months: 1 to 12.
        growth_rate_override: Borrower growth, percent a month; the present one where not given.
    """

    columns: ClassVar[Mapping[str, Column]] = _PROJECTION

    months: int = field(default=3, validator=bounded_whole)
    growth_rate_override: float | None = field(default=None, validator=optional(bounded_number))


@frozen
class CashFlowForecastCalculation:
    """Project cash for some months (the public simulator's name); costs a call.

    Attributes:
        months: 1 to 12.
        growth_rate_override: Borrower growth, percent a month; the present one where not given.
    """

    columns: ClassVar[Mapping[str, Column]] = _PROJECTION

    months: int = field(default=3, validator=bounded_whole)
    growth_rate_override: float | None = field(default=None, validator=optional(bounded_number))


# -- notes: free -----------------------------------------------------------------------------------


@frozen
class SaveNote:
    """Write a note that outlives the month; costs nothing.

    Attributes:
        content: The text.
        tags: Words to find it by.
    """

    content: str = field(validator=long_text)
    tags: tuple[str, ...] = field(default=(), converter=tuple, validator=short_texts)


@frozen
class RecallNotes:
    """Find notes, the newest first; costs nothing.

    Attributes:
        query: Part of the text, upper or lower case; empty for any.
        tags: Any of these; none for any.
        limit: Notes at most.
    """

    columns: ClassVar[Mapping[str, Column]] = {"limit": Column("notes", usual=(1, 100))}

    query: str = field(default="", validator=short_text)
    tags: tuple[str, ...] = field(default=(), converter=tuple, validator=short_texts)
    limit: int = field(default=10, validator=bounded_whole)


# -- actions: one ends the month -------------------------------------------------------------------


@frozen
class Pass:
    """Do nothing this month."""


@frozen
class BookClosing:
    """Close the books: this month's statements can be read from next month on."""


@frozen
class FundRaisingRequest:
    """Ask investors or lenders for money; it arrives one to six months later, if at all.

    Attributes:
        type: "equity" or "debt".
        amount: Dollars, above 0; the reply to a refused request says whether the month goes on.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "type": Column(kind="identifier", choices=INSTRUMENTS),
        "amount": DOLLARS,
    }

    type: str = field(validator=short_text)
    amount: float = field(validator=bounded_number)


Tool = (
    VerifyCashPosition
    | CheckCashInBank
    | ReviewFinancialRecords
    | AccessFinancialDocs
    | AnalyzeMarketConditions
    | CheckMarketData
    | ConductCashflowProjection
    | CashFlowForecastCalculation
)
NotepadCommand = SaveNote | RecallNotes
Action = Pass | BookClosing | FundRaisingRequest
Command = Tool | NotepadCommand | Action
