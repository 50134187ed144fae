"""Reads the replies of tools and actions: market series, statements of closed books, refusals."""

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, TypeVar

from attrs import asdict

from desim.errors import UsageError
from models.enterprise_arena.desk import Command, Header, Month, ReviewFinancialRecords

#: Size of the next request after a refused one, relative to it.
LESS = 0.9

_REQUEST, _CASH_TOOL = "fund_raising_request", "verify_cash_position"
#: The state of the company in a full header.
_STATE = ("cash_balance", "active_users", "loan_portfolio_gross", "total_debt", "lending_rate")
_FLOWS, _POSITION = "cash flow statement", "balance sheet"

_T = TypeVar("_T")

#: Yields commands, receives the observations after them, and returns something in the end.
Course: TypeAlias = Generator[Command, Header, _T]


def values(month: Header) -> list[float]:
    """Return the values of the market series in the last reply; none if it was refused."""
    return [float(value) for value in _part(month, "values") or ()]


def cash(month: Header) -> float | None:
    """Return the cash that the header or else the last reply shows; None if neither does."""
    if isinstance(month, Month):
        return month.cash_balance
    cash: float | None = _position(month).get("cash_balance")
    return cash


def with_position(month: Header) -> Month:
    """Return a header with the state of the company, which it or the last reply shows."""
    if isinstance(month, Month):
        return month
    shown = _position(month)
    missing = [name for name in _STATE if name not in shown]
    if missing:
        raise UsageError(
            f"the header lacks {', '.join(missing)} and the cash tool does not show it; set "
            "header=full, or cash_tool=snapshot with a tool call left"
        )
    position = {name: shown[name] for name in _STATE}
    return Month(**asdict(month, recurse=False), **position)


def _position(month: Header) -> Mapping[str, Any]:
    """Return what the cash tool has just returned; it is empty after any other reply."""
    reply = month.reply
    return reply.out if reply and reply.ok and reply.to == _CASH_TOOL else {}


def refused(month: Header) -> bool:
    """Return whether the last command was a request that was refused."""
    reply = month.reply
    return reply is not None and reply.to == _REQUEST and not reply.ok


def fetch(closed: int) -> Course[tuple[Mapping[str, float], float] | None]:
    """Return the year-to-date cash flow statement of a month and book equity at its end, dollars.

    Outflows are negative; None if the books of the month were not closed.
    """
    files = _part((yield ReviewFinancialRecords()), "documents") or ()
    names = {file["kind"]: file["filename"] for file in files if file["compiled_month"] == closed}
    if not {_FLOWS, _POSITION} <= names.keys():
        return None
    flows = _part((yield ReviewFinancialRecords("retrieve", names[_FLOWS])), "rows")
    position = _part((yield ReviewFinancialRecords("retrieve", names[_POSITION])), "rows")
    return (flows, position["total_equity"]) if flows and position else None


def _part(month: Header, name: str) -> Any:
    """Return a part of the last reply; None if the command was refused.

    The reply to another command has no such part, which raises KeyError: a policy that reads it has
    not asked, and cannot go on from there.
    """
    reply = month.reply
    return reply.out[name] if reply and reply.ok else None
