"""Reads the replies of tools and actions: market series, statements of closed books, refusals."""

from collections.abc import Generator, Mapping

from attrs import frozen

from models.enterprise_arena.actions import Command, FundRaisingRequest, ReviewFinancialRecords
from models.enterprise_arena.observation import Month

#: Size of the next request after a refused one, relative to it.
_LESS = 0.9

_REQUEST = "fund_raising_request"
_FLOWS, _POSITION = "cash flow statement", "balance sheet"

#: Yields commands, receives the observations after them.
Fetch = Generator[Command, Month, "YearToDate | None"]


@frozen
class YearToDate:
    """The year to date according to closed books.

    Attributes:
        flows: Rows of the cash flow statement, dollars; outflows are negative.
        equity: Book equity at the end, dollars.
    """

    flows: Mapping[str, float]
    equity: float


def values(month: Month) -> list[float]:
    """Return the values of the market series in the last reply; none if it was refused."""
    reply = month.reply
    return [float(value) for value in reply.out["values"]] if reply and reply.ok else []


def refused(month: Month) -> bool:
    """Return whether the last command was a request that was refused."""
    reply = month.reply
    return reply is not None and reply.to == _REQUEST and not reply.ok


def reduced(request: FundRaisingRequest) -> float:
    """Return the amount to request after a refused request, dollars.

    A rule learns the bound of a request in this way; it does not read the model's parameters.
    """
    return _LESS * request.amount


def fetch(closed: int) -> Fetch:
    """Find and retrieve the statements of a month; None if its books were not closed."""
    names = _compiled(closed, (yield ReviewFinancialRecords()))
    if not {_FLOWS, _POSITION} <= names.keys():
        return None
    flows = _rows((yield ReviewFinancialRecords("retrieve", names[_FLOWS])))
    position = _rows((yield ReviewFinancialRecords("retrieve", names[_POSITION])))
    return YearToDate(flows, position["total_equity"]) if flows and position else None


def _compiled(compiled: int, month: Month) -> dict[str, str]:
    """Return the names of the listed documents that were compiled in a month, by their kind."""
    reply = month.reply
    files = reply.out["documents"] if reply and reply.ok else []
    return {file["kind"]: file["filename"] for file in files if file["compiled_month"] == compiled}


def _rows(month: Month) -> Mapping[str, float]:
    reply = month.reply
    rows: Mapping[str, float] = reply.out["rows"] if reply and reply.ok else {}
    return rows
