"""Score and metrics (SPEC section 13), monthly series, and the tables of a person's page.

The published score counts money raised as value: a lender that raises equity whenever it may scores
best, whatever it does with it. `value_added` takes off what investors and creditors have put in.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from desim.show.column import DOLLARS, SHARE, Column, directed
from models.enterprise_arena import statements
from models.enterprise_arena.books import (
    CASH,
    NOTES_PAYABLE,
    OPENING_MONTH,
    PAID_IN_CAPITAL,
    dollars,
)
from models.enterprise_arena.documents import cap_table
from models.enterprise_arena.lender import SURVIVED, Lender
from models.enterprise_arena.options import SERIES
from models.enterprise_arena.params import YEAR
from models.enterprise_arena.processes import borrowers
from models.enterprise_arena.tools import series_until_now

Rows = list[dict[str, Any]]


def score(lender: Lender) -> float:
    """Return the value or, by the parameter `score_of`, the value added, dollars."""
    return value_added(lender) if lender.params.score_of == "value_added" else value(lender)


def value(lender: Lender) -> float:
    """Return the value of the company less the charge for tools, dollars; 0 if bankrupt.

    valuation_multiple x trailing revenue + closing cash - tool_charge x calls (SPEC section 13).
    """
    if lender.world.ended != SURVIVED:
        return 0.0
    params = lender.params
    worth = params.valuation_multiple * dollars(trailing_revenue(lender))
    worth += dollars(lender.closing_cash)
    return worth - params.tool_charge * lender.tool_calls


def value_added(lender: Lender) -> float:
    """Return the value less the equity raised and the debt owed, dollars.

    A bankrupt lender is worth 0, so it has lost what was put in.
    """
    # To the cent, as the difference of large sums carries their rounding.
    return round(value(lender) - dollars(lender.raised["equity"]) - dollars(lender.debt), 2)


_DOLLARS = (
    *("score", "value", "value_added", "score_net_of_debt", "end_debt", "equity_raised"),
    *("debt_raised", "total_raised", "peak_cash", "end_cash", "low_cash", "trailing_revenue"),
)
_SHARES = (
    *("survived", "success_rate", "request_share", "successful_request_share"),
    *("closing_share", "pass_share"),
)
#: Units and directions of score and metrics; money raised is neither good nor bad by itself.
METRIC_COLUMNS: Mapping[str, Column] = directed(
    {**dict.fromkeys(_DOLLARS, DOLLARS), **dict.fromkeys(_SHARES, SHARE)},
    higher=(
        *("score", "value", "value_added", "score_net_of_debt", "survived", "success_rate"),
        *("end_cash", "low_cash", "peak_cash", "trailing_revenue"),
    ),
    lower=("end_debt", "requests_refused"),
)


def metrics(lender: Lender) -> dict[str, Any]:
    """Return the columns of the paper's Table 2; money in dollars, shares from 0 to 1.

    `score_net_of_debt`, the value less the notes still owed, may be negative. `months` is the index
    of the last month with an action. Refused requests count as actions unless they did not use the
    month, and not in `success_rate`, which is None without a request.
    """
    months = lender.months_closed
    divisor = max(1, months)  # before the first closing all counts are 0
    counts, raised = lender.counts, lender.raised
    survived = lender.world.ended == SURVIVED
    successes = counts["equity"] + counts["debt"]
    accepted = counts["requests"] - counts["refused"]
    acted = counts["requests"] - counts["free_refusals"]
    return {
        "value": value(lender),
        "value_added": value_added(lender),
        "score_net_of_debt": value(lender) - dollars(lender.debt) if survived else 0.0,
        "end_debt": dollars(lender.debt),
        "survived": survived,
        "months": months - 1,
        "equity_raised": dollars(raised["equity"]),
        "debt_raised": dollars(raised["debt"]),
        "total_raised": dollars(raised.total()),
        "success_rate": successes / accepted if accepted else None,
        "peak_cash": dollars(max(lender.peak, lender.closing_cash)),
        "end_cash": dollars(lender.closing_cash),
        "low_cash": dollars(min(lender.low, lender.closing_cash)),
        "tool_calls": lender.tool_calls,
        "tool_calls_per_month": lender.tool_calls / divisor,
        "requests": counts["requests"],
        "requests_refused": counts["refused"],
        "successes": successes,
        "equity_rounds": counts["equity"],
        "debts": counts["debt"],
        "request_share": acted / divisor,
        "successful_request_share": successes / divisor,
        "closings": counts["closings"],
        "closing_share": counts["closings"] / divisor,
        "passes": counts["passes"],
        "pass_share": counts["passes"] / divisor,
        "trailing_revenue": dollars(trailing_revenue(lender)),
    }


def trailing_revenue(lender: Lender, at: int | None = None) -> int:
    """Return the revenue of the `trailing_months` up to month *at*, cents.

    Without *at*, up to the last month closed. Before that many months have passed, of all of them.
    """
    last = lender.months_closed - 1 if at is None else at
    first = max(0, last - lender.params.trailing_months + 1)
    return sum(lender.revenue(month) for month in range(first, last + 1))


# -- series ----------------------------------------------------------------------------------------

#: Events of funding that are requests of the officer, accepted or refused.
_REQUESTS = ("submitted", "rejected_pending", "rejected_malformed")


def series(lender: Lender) -> dict[str, Sequence[float]]:
    """Return one value for every month that was closed, by name.

    Dollars at the end of the month: `cash`, `debt` (notes owed), `equity_raised` (since the start).
    Numbers: `users` (borrowers at the end of the month), `requests` and `closings` of the month,
    refused requests included, and both since the start.
    """
    months, book = range(lender.months_closed), lender.books.book

    def owed(account: str, before: int = 0) -> list[float]:
        return [dollars(before - book.balance(account, at=month)) for month in months]

    def counts(of: Iterable[int]) -> list[int]:
        times = Counter(of)
        return [times[month] for month in months]

    requested = (event["month"] for event in lender.events if event["event"] in _REQUESTS)
    requests, closings = counts(requested), counts(lender.closings)
    invested = book.balance(PAID_IN_CAPITAL, at=OPENING_MONTH)
    rates = [month.growth for month in lender.indicators]
    users = accumulate(rates, borrowers, initial=float(lender.params.opening_users))
    return {
        "cash": [dollars(book.balance(CASH, at=month)) for month in months],
        "debt": owed(NOTES_PAYABLE),
        "equity_raised": owed(PAID_IN_CAPITAL, invested),
        "users": list(users)[1:],
        "requests": requests,
        "closings": closings,
        "cumulative_requests": list(accumulate(requests)),
        "cumulative_closings": list(accumulate(closings)),
    }


#: Unit and label of every series.
SERIES_COLUMNS = {
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


# -- tables ----------------------------------------------------------------------------------------


def tables(lender: Lender) -> dict[str, Rows]:
    """Return the tables that a person may look up in an episode, by name, without empty ones.

    They contain facts of the documents and market data, which cost a call as tools. Those of the
    company's books are left out where the header hides them.
    """
    papers = cap_table(lender)
    by_name = {
        **(_books(lender) if lender.params.header == "full" else {}),
        "market": _market(lender),
        "cap table": papers["rows"],
        "equity rounds": papers["rounds"],
    }
    return {name: rows for name, rows in by_name.items() if rows}


def _market(lender: Lender) -> Rows:
    columns = {name: series_until_now(lender, name) for name in SERIES}
    return [
        {"month": label, **{name: values[month] for name, values in columns.items()}}
        for month, label in enumerate(lender.macro.label[: lender.month + 1])
    ]


def _books(lender: Lender) -> dict[str, Rows]:
    book, params, labels = lender.books.book, lender.params, lender.macro.label
    income, position, flows, bank, tape, vendors = ({} for _ in range(6))
    for month in lender.closed:
        january, reports = month - month % YEAR, statements.reports(book, month)
        income[month] = reports.income_statement(book, january, month).money()
        position[month] = reports.balance_sheet(book, month).money()
        flows[month] = reports.cash_flow_statement(book, january, month).money()
    # In a group the clock may go on after the lender's last month.
    for month in range(min(lender.month, params.horizon)):
        account = statements.bank_statement(book, month)
        net = {row["class"]: round(row["inflow"] - row["outflow"], 2) for row in account["rows"]}
        bank[month] = {**net, "closing_balance": account["closing_balance"]}
        tape[month] = statements.loan_tape(book, month, params.average_loan)
        bills = statements.vendor_invoices(book, month, params.vendor_shares)
        vendors[month] = {row["vendor"]: row["paid_on_earlier"] for row in bills}

    def table(figures: Mapping[int, Mapping[str, Any]]) -> Rows:
        return [{"month": labels[month], **row} for month, row in figures.items()]

    closed = lender.closed
    return {
        "income statement, year to date": table(income),
        "balance sheet": table(position),
        "cash flow, year to date": table(flows),
        "trial balance, last closing": statements.trial_balance(book, closed[-1]) if closed else [],
        "bank": table(bank),
        "loan tape": table(tape),
        "vendors": table(vendors),
    }
