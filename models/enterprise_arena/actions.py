"""What the chief financial officer can do: tools, notes, and the one action that ends a month.

The four tools answer to the paper's names and to those of the public simulator.
"""

from attrs import field, frozen
from attrs.validators import instance_of, optional

__all__ = [
    "AccessFinancialDocs",
    "Action",
    "AnalyzeMarketConditions",
    "BookClosing",
    "CashFlowForecastCalculation",
    "CheckCashInBank",
    "CheckMarketData",
    "Command",
    "ConductCashflowProjection",
    "FundRaisingRequest",
    "Note",
    "Pass",
    "RecallNotes",
    "ReviewFinancialRecords",
    "SaveNote",
    "Tool",
    "VerifyCashPosition",
]

_text = instance_of(str)
_whole = instance_of(int)


# -- tools: twenty calls a month -------------------------------------------------------------------


@frozen
class VerifyCashPosition:
    """Look at the bank account; costs a call."""


@frozen
class CheckCashInBank:
    """Look at the bank account (the public simulator's name); costs a call."""


@frozen
class ReviewFinancialRecords:
    """List the documents on file, or read one; costs a call.

    Attributes:
        action: "list" or "retrieve".
        filename: Of the document to retrieve.
    """

    action: str = field(default="list", validator=_text)
    filename: str = field(default="", validator=_text)


@frozen
class AccessFinancialDocs:
    """List the documents on file, or read one (the public simulator's name); costs a call.

    Attributes:
        action: "list" or "retrieve".
        filename: Of the document to retrieve.
    """

    action: str = field(default="list", validator=_text)
    filename: str = field(default="", validator=_text)


@frozen
class AnalyzeMarketConditions:
    """Read a market series, month by month up to now; costs a call.

    Attributes:
        data_type: Name of the series, for example GDP, SOFR, VIX or Monthly_User_Growth.
        start_month: First month, from 0.
        end_month: Last month; the present one where it is not given.
    """

    data_type: str = field(validator=_text)
    start_month: int = field(default=0, validator=_whole)
    end_month: int | None = field(default=None, validator=optional(_whole))


@frozen
class CheckMarketData:
    """Read a market series (the public simulator's name); costs a call.

    Attributes:
        data_type: Name of the series, for example GDP, SOFR, VIX or Monthly_User_Growth.
        start_month: First month, from 0.
        end_month: Last month; the present one where it is not given.
    """

    data_type: str = field(validator=_text)
    start_month: int = field(default=0, validator=_whole)
    end_month: int | None = field(default=None, validator=optional(_whole))


@frozen
class ConductCashflowProjection:
    """Project cash for some months, growth held flat; costs a call.

    Attributes:
        months: 1 to 12.
        growth_rate_override: Borrower growth, percent a month; the present one where not given.
    """

    months: int = field(default=3, validator=_whole)
    growth_rate_override: float | None = field(default=None)


@frozen
class CashFlowForecastCalculation:
    """Project cash for some months (the public simulator's name); costs a call.

    Attributes:
        months: 1 to 12.
        growth_rate_override: Borrower growth, percent a month; the present one where not given.
    """

    months: int = field(default=3, validator=_whole)
    growth_rate_override: float | None = field(default=None)


# -- notes: free -----------------------------------------------------------------------------------


@frozen
class SaveNote:
    """Write a note that outlives the month; costs nothing.

    Attributes:
        content: The text.
        tags: Words to find it by.
    """

    content: str = field(validator=_text)
    tags: tuple[str, ...] = field(default=(), converter=tuple)


@frozen
class RecallNotes:
    """Find notes, the newest first; costs nothing.

    Attributes:
        query: Part of the text, upper or lower case; empty for any.
        tags: Any of these; none for any.
        limit: Notes at most.
    """

    query: str = field(default="", validator=_text)
    tags: tuple[str, ...] = field(default=(), converter=tuple)
    limit: int = field(default=10, validator=_whole)


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
        amount: Dollars, above 0; one that is refused uses the month all the same.
    """

    type: str = field(validator=_text)
    amount: float = field()


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
Note = SaveNote | RecallNotes
Action = Pass | BookClosing | FundRaisingRequest
Command = Tool | Note | Action
