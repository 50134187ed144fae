"""The seat of the chief financial officer: commands, and the header of a month.

Each of the four tools has the paper's name, and that of the public simulator as an alias.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from attrs import evolve, field, frozen
from attrs.validators import optional

from desim.schema.validators import (
    bounded_number,
    bounded_whole,
    long_text,
    short_text,
    short_texts,
)
from desim.short_repr import short_repr
from desim.show.column import DOLLARS, SHARE, Column

#: Values of `FundRaisingRequest.type`.
EQUITY, DEBT = "equity", "debt"
INSTRUMENTS = (EQUITY, DEBT)


# -- tools: twenty calls a month -------------------------------------------------------------------


@frozen
class VerifyCashPosition:
    """Look at the bank account; costs a call."""


@frozen
class CheckCashInBank(VerifyCashPosition):
    """Look at the bank account (the public simulator's name); costs a call."""


@frozen
class ReviewFinancialRecords:
    """List the documents on file, or read one; costs a call.

    Attributes:
        action: "list" or "retrieve".
        filename: Of the document to retrieve.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "action": Column(kind="identifier", choices=("list", "retrieve")),
        "filename": Column(kind="identifier", of=("reply.out.documents.filename",)),
    }

    action: str = field(default="list", validator=short_text)
    filename: str = field(default="", validator=short_text)


@frozen
class AccessFinancialDocs(ReviewFinancialRecords):
    """List the documents on file, or read one (the public simulator's name); costs a call."""


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
class CheckMarketData(AnalyzeMarketConditions):
    """Read a market series (the public simulator's name); costs a call."""


@frozen
class ConductCashflowProjection:
    """Project cash for some months, growth held flat; costs a call.

    Attributes:
        months: 1 to 12.
        growth_rate_override: Borrower growth, percent a month; the present one where not given.
    """

    # Growth of borrowers in the macro table is between 0 and 10 % a month.
    columns: ClassVar[Mapping[str, Column]] = {
        "months": Column("months", usual=(1, 12)),
        "growth_rate_override": Column("%", usual=(-10, 10)),
    }

    months: int = field(default=3, validator=bounded_whole)
    growth_rate_override: float | None = field(default=None, validator=optional(bounded_number))


@frozen
class CashFlowForecastCalculation(ConductCashflowProjection):
    """Project cash for some months (the public simulator's name); costs a call."""


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


# -- what the officer sees -------------------------------------------------------------------------

#: Values of "event" in a notification: the outcomes of funding requests.
EQUITY_DELIVERED, DEBT_DELIVERED, DECLINED = "equity_delivered", "debt_delivered", "declined"


@frozen
class Note:
    """A note of the notepad.

    Attributes:
        id: `note_1` and so on.
        month: When it was written.
        content: The text.
        tags: Words to find it by.
    """

    id: str
    month: int
    content: str
    tags: tuple[str, ...]


#: Amounts in replies, dollars.
_DOLLARS_OF_REPLIES = (
    *("amount", "cash", "cash_balance", "inflow", "originations", "operating_outflow"),
    *("debt_service", "projected_cash", "starting_cash"),
)


@frozen
class CommandReply:
    """The reply to a tool, a note or an action.

    Attributes:
        to: The name of the tool, note or action.
        ok: Whether it was carried out.
        out: What it returned, plain values; the reason where it was refused.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        **dict.fromkeys(_DOLLARS_OF_REPLIES, DOLLARS),
        **dict.fromkeys(("indicative_rate", "contract_rate", "collection_rate"), SHARE),
        "amortisation_rate": SHARE,
        "growth_rate": Column("%"),
        "ebitda_margin": Column("%"),
    }

    to: str
    ok: bool
    out: Any


@frozen
class Month:
    """Facts that the officer knows without a tool call (SPEC sections 9.5 and 11).

    Attributes:
        current_month: Index of the month, from 0.
        date: Its anonymised name.
        cash_balance: Dollars in the bank.
        active_users: Borrowers, rounded.
        loan_portfolio_gross: Loans not yet billed and billed principal, dollars.
        total_debt: Notes outstanding, dollars.
        lending_rate: Blended annual yield of the book, a share.
        pending_fundraisings: Requests under way, 0 or 1.
        tool_calls_remaining: Of this month.
        actions_remaining: Always 1: the action ends the month.
        notifications: Outcomes of funding that became known this month.
        notes: The five latest notes, the newest first.
        reply: The reply to the last tool or note of this month, or to the last month's action.
        flash: Revenue, net cash flow and cash of the month just closed, if the model shows them.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        "current_month": Column(label="Month", kind="tick"),
        "cash_balance": evolve(DOLLARS, priority=5),
        "active_users": Column("borrowers", priority=4),
        "loan_portfolio_gross": evolve(DOLLARS, label="Loans", priority=3),
        "total_debt": evolve(DOLLARS, label="Debt", priority=2),
        "lending_rate": Column(label="Lending rate a year", kind="share", priority=1),
        "amount": DOLLARS,
        **dict.fromkeys(("revenue", "net_cash_flow", "cash"), DOLLARS),
    }

    current_month: int
    date: str
    cash_balance: float
    active_users: int
    loan_portfolio_gross: float
    total_debt: float
    lending_rate: float
    pending_fundraisings: int
    tool_calls_remaining: int
    actions_remaining: int = 1
    notifications: tuple[dict[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()
    reply: CommandReply | None = None
    flash: dict[str, float] | None = None


@frozen
class BareMonth:
    """The header with `header=calls`: what the company has costs a call of a tool.

    Attributes:
        current_month: Index of the month, from 0.
        date: Its anonymised name.
        pending_fundraisings: Requests under way, 0 or 1.
        tool_calls_remaining: Of this month.
        actions_remaining: Always 1: the action ends the month.
        notifications: Outcomes of funding that became known this month.
        notes: The five latest notes, the newest first.
        reply: The reply to the last tool or note of this month, or to the last month's action.
    """

    columns: ClassVar[Mapping[str, Column]] = {
        each: Month.columns[each] for each in ("current_month", "amount")
    }

    current_month: int
    date: str
    pending_fundraisings: int
    tool_calls_remaining: int
    actions_remaining: int = 1
    notifications: tuple[dict[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()
    reply: CommandReply | None = None


#: The observation of the officer, by the parameter `header`.
Header = Month | BareMonth

_LONGEST = 80


class CommandRefused(Exception):
    """A tool cannot return what was requested; the text becomes the reply to the command."""


def quoted(given: object) -> str:
    """Return the repr of *given*, cut to 80 characters."""
    text = short_repr(given, _LONGEST)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def unknown(kind: str, given: str, names: Collection[str]) -> str:
    """Return a sentence that an unknown name was given, with near misses regardless of case."""
    plain = {name.casefold(): name for name in reversed(list(names))}
    # Cut, because comparing a very long text is slow, and it resembles no name anyway.
    near = get_close_matches(given[:_LONGEST].casefold(), plain, n=3)
    hint = f"; did you mean {' or '.join(repr(plain[name]) for name in near)}?" if near else ""
    return f"there is no {kind} {quoted(given)}{hint}"
