"""The cash-flow projection: a formula with growth held flat (SPEC section 9.4).

It leaves out requests under way, charge-offs and tax. Its margin comes from the last closed
statements, without overhead, which it deducts month by month.
"""

import math
from collections.abc import Iterable
from typing import Any

from attrs import evolve, field, frozen

from desim.short_repr import short_repr
from models.enterprise_arena.books import LOANS, cents, dollars
from models.enterprise_arena.desk import CommandRefused
from models.enterprise_arena.documents import COMPILED, INCOME_STATEMENT
from models.enterprise_arena.lender import Lender, TermLoan
from models.enterprise_arena.params import YEAR
from models.enterprise_arena.statements import reports

#: Lowest and highest `growth_rate_override`, percent a month.
_LEAST, _MOST = -100.0, 1_000.0


def _copies(notes: Iterable[TermLoan]) -> tuple[TermLoan, ...]:
    """Copy the notes, because a projection repays them."""
    return tuple(evolve(note) for note in notes)


@frozen
class Margin:
    """The operating margin of a projection, and its source.

    Attributes:
        percent: EBITDA before overhead over revenue, percent.
        source: Name of the statement.
        month: Month of that statement.
        stale: Whether the statement is older than `projection_stale_after`.
    """

    percent: float
    source: str
    month: int
    stale: bool


@frozen
class Outlook:
    """The starting position of a projection and its assumptions; money in dollars.

    Attributes:
        month: The present month, which is projected first.
        cash: In the bank.
        loans: Principal not yet billed.
        users: Active borrowers.
        lending_rate: Blended annual yield of the loans, a share.
        growth: Of borrowers, percent a month, in every month.
        margin: The operating margin.
        overhead: Spent a month whatever the revenue.
        collection_rate: Share of billed amounts that is collected.
        amortisation_rate: Share of principal that is billed each month.
        average_loan: Lent to a new borrower.
        term: Number of instalments of a note.
        notes: Those with a balance.
    """

    month: int
    cash: float
    loans: float
    users: float
    lending_rate: float
    growth: float
    margin: Margin
    overhead: float
    collection_rate: float
    amortisation_rate: float
    average_loan: float
    term: int
    notes: tuple[TermLoan, ...] = field(converter=_copies)


def outlook(lender: Lender, override: float | None) -> Outlook:
    """Return the present position; growth is the industry's of this month unless overridden.

    Args:
        lender: Whose cash is projected.
        override: Growth of borrowers, percent a month, or None.

    Raises:
        CommandRefused: The override is not finite or out of range.
    """
    params = lender.params
    growth = lender.growth[lender.month] if override is None else override
    if not (math.isfinite(growth) and _LEAST <= growth <= _MOST):
        raise CommandRefused(
            f"growth_rate_override={short_repr(override)} was given; it lies between "
            f"{_LEAST:g} and {_MOST:g} percent a month"
        )
    return Outlook(
        month=lender.month,
        cash=dollars(lender.cash),
        loans=dollars(lender.books.held[LOANS]),
        users=lender.users,
        lending_rate=lender.lending_rate,
        growth=growth,
        margin=margin(lender),
        overhead=params.overhead,
        collection_rate=params.collection_base,
        amortisation_rate=params.amortisation_rate,
        average_loan=params.average_loan,
        term=params.note_term_months,
        notes=lender.term_loans,
    )


def margin(lender: Lender) -> Margin:
    """Return the EBITDA margin of the latest statements on file, the opening ones at first."""
    params, closed = lender.params, lender.closed
    if closed:
        month, source = closed[-1], "income_statement_ytd"
        book = lender.books.book
        income = reports(book, month).income_statement(book, month - month % YEAR, month)
        earned = income["ebitda"] + cents(params.overhead) * (month % YEAR + 1)
        percent = earned / income["revenue"] * 100 if income["revenue"] else 0.0
    else:
        month, source = COMPILED, INCOME_STATEMENT
        percent = params.projection_ebitda_margin
    return Margin(percent, source, month, lender.month - month > params.projection_stale_after)


def project(start: Outlook, months: int) -> dict[str, Any]:
    """Return a row for each month, the present one first, and the assumptions; dollars."""
    cash, loans, users = start.cash, start.loans, start.users
    rows = []
    for month in range(start.month, start.month + months):
        interest = loans * start.lending_rate / 12
        billed = loans * start.amortisation_rate
        inflow = start.collection_rate * (billed + interest)
        lent = max(0.0, start.growth / 100 * users) * start.average_loan
        spent = start.overhead + (1 - start.margin.percent / 100) * interest
        service = _service(start, month)
        cash += inflow - lent - spent - service
        loans += lent - billed
        users *= 1 + start.growth / 100
        rows.append(_row(month, inflow, lent, spent, service, cash))
    return {"rows": rows, "assumptions": _assumptions(start), **_source(start.margin)}


def instalment(principal: int, balance: int, age: int, term: int) -> int:
    """Return the principal of a note that is repaid in a month, cents (SPEC section 8.4).

    Args:
        principal: Cents drawn.
        balance: Cents outstanding.
        age: Months since the draw.
        term: Number of instalments; the last one repays what rounding has left.
    """
    if age >= term - 1:
        return balance
    return min(balance, round(principal / term))


def _service(start: Outlook, month: int) -> float:
    """Deduct a month's instalments from the notes; return them with the interest, dollars."""
    interest = math.fsum([note.balance * note.rate / 12 for note in start.notes])
    principal = 0
    for note in start.notes:
        paid = instalment(note.principal, note.balance, month - note.drawn, start.term)
        note.balance -= paid
        principal += paid
    return (interest + principal) / 100


def _row(
    month: int, inflow: float, lent: float, spent: float, service: float, cash: float
) -> dict[str, Any]:
    return {
        "month": month,
        "inflow": round(inflow, 2),
        "originations": round(lent, 2),
        "operating_outflow": round(spent, 2),
        "debt_service": round(service, 2),
        "projected_cash": round(cash, 2),
    }


def _assumptions(start: Outlook) -> dict[str, float]:
    return {
        "starting_cash": start.cash,
        "active_users": round(start.users),
        "lending_rate": round(start.lending_rate, 6),
        "growth_rate": start.growth,
        "ebitda_margin": round(start.margin.percent, 4),
        **({"overhead": start.overhead} if start.overhead else {}),
        "collection_rate": start.collection_rate,
        "amortisation_rate": start.amortisation_rate,
    }


def _source(margin: Margin) -> dict[str, Any]:
    return {
        "margin_source": margin.source,
        "statements_month": margin.month,
        "stale": margin.stale,
    }
