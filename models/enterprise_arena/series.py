"""Monthly series of an episode: the curves behind the paper's Figures 2 to 4, and more.

They are computed at the end of an episode from its books and its events, so that an episode whose
series are not wanted costs nothing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from desim.show.column import Column
from models.enterprise_arena.accounting.accounts import (
    CASH,
    NOTES_PAYABLE,
    OPENING_MONTH,
    PAID_IN_CAPITAL,
    dollars,
)
from models.enterprise_arena.accounting.operations import borrowers
from models.enterprise_arena.state import Lender

#: Events of funding that are requests of the officer, accepted or refused.
_REQUESTS = ("submitted", "rejected_pending", "rejected_malformed")

Values = Sequence[float]


def series(lender: Lender) -> dict[str, Values]:
    """Return one value for every month that was closed, by name.

    Dollars at the end of the month: `cash`, `debt` (notes owed), `equity_raised` (since the start).
    Numbers: `users` (borrowers at the end of the month), `requests` and `closings` of the month,
    refused requests included, and both since the start (`cumulative_requests`,
    `cumulative_closings`).
    """
    requested = [event["month"] for event in lender.events if event["event"] in _REQUESTS]
    requests, closings = _counts(lender, requested), _counts(lender, lender.closings)
    invested = lender.books.book.balance(PAID_IN_CAPITAL, at=OPENING_MONTH)
    return {
        "cash": [dollars(cash) for cash in _balances(lender, CASH)],
        # Debt and capital have credit balances, which are negative.
        "debt": [dollars(-notes) for notes in _balances(lender, NOTES_PAYABLE)],
        "equity_raised": [
            dollars(invested - capital) for capital in _balances(lender, PAID_IN_CAPITAL)
        ],
        "users": _users(lender),
        "requests": requests,
        "closings": closings,
        "cumulative_requests": list(accumulate(requests)),
        "cumulative_closings": list(accumulate(closings)),
    }


#: Unit and label of every series.
COLUMNS = {
    name: Column(unit, label, period="month")
    for name, unit, label in (
        ("cash", "dollars", "Cash in the bank"),
        ("debt", "dollars", "Notes owed"),
        ("equity_raised", "dollars", ""),
        ("users", "borrowers", ""),
        ("requests", "requests", "Requests for funding"),
        ("closings", "closings", "Closings of funding"),
        ("cumulative_requests", "requests", "Requests for funding so far"),
        ("cumulative_closings", "closings", "Closings of funding so far"),
    )
}


def _balances(lender: Lender, account: str) -> list[int]:
    """Return the balance of an account at the end of every month closed, cents."""
    book = lender.books.book
    return [book.balance(account, at=month) for month in range(lender.months_closed)]


def _counts(lender: Lender, months: Iterable[int]) -> list[int]:
    """Return the number of occurrences of each closed month in *months*."""
    times = Counter(months)
    return [times[month] for month in range(lender.months_closed)]


def _users(lender: Lender) -> list[float]:
    """Return the borrowers at the end of every month closed."""
    rates = [month.growth for month in lender.indicators]
    return list(accumulate(rates, borrowers, initial=float(lender.params.opening_users)))[1:]
