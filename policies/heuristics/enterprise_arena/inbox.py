"""How a policy reads what its tools reply."""

from collections.abc import Generator, Mapping

from attrs import frozen

from models.enterprise_arena import Command, Month, ReviewFinancialRecords

__all__ = ["Books", "fetch", "values"]

_FLOWS, _POSITION = "cash flow statement", "balance sheet"

#: Commands out, months in.
Fetch = Generator[Command, Month, "Books | None"]


@frozen
class Books:
    """What closed books tell of a year to date.

    Attributes:
        flows: Rows of the cash flow statement, dollars; outflows are negative.
        equity: Of the balance sheet, dollars.
    """

    flows: Mapping[str, float]
    equity: float


def values(month: Month) -> list[float]:
    """Return the values of the market series that the last reply tells; none if it was refused."""
    reply = month.reply
    return [float(value) for value in reply.out["values"]] if reply and reply.ok else []


def fetch(closed: int) -> Fetch:
    """Find and retrieve the statements of a month; None if its books were not closed.

    Args:
        closed: Index of the month.
    """
    names = _compiled(closed, (yield ReviewFinancialRecords()))
    if not {_FLOWS, _POSITION} <= names.keys():
        return None
    flows = _rows((yield ReviewFinancialRecords("retrieve", names[_FLOWS])))
    position = _rows((yield ReviewFinancialRecords("retrieve", names[_POSITION])))
    return Books(flows, position["total_equity"]) if flows and position else None


def _compiled(month: int, listed: Month) -> dict[str, str]:
    """Return the names of the documents that were compiled in a month, by their kind."""
    reply = listed.reply
    files = reply.out["documents"] if reply and reply.ok else []
    return {file["kind"]: file["filename"] for file in files if file["compiled_month"] == month}


def _rows(month: Month) -> Mapping[str, float]:
    reply = month.reply
    rows: Mapping[str, float] = reply.out["rows"] if reply and reply.ok else {}
    return rows
