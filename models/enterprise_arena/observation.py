"""Observation of the chief financial officer: the header of the month, notes, the last reply.

Refused commands: one sentence that gives the reason, with near misses for an unknown name.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from attrs import evolve, frozen

from desim.short_repr import short_repr
from desim.show.column import DOLLARS, SHARE, Column

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
