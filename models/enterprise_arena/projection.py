"""The cash-flow projection: mechanical, with growth held flat (SPEC section 9.4).

It leaves out requests under way, charge-offs and tax, and is as good as its inputs: the margin
comes from the last closed statements.
"""

import math
from collections.abc import Iterable
from typing import Any

from attrs import asdict, evolve, field, frozen

from models.enterprise_arena import closings, opening
from models.enterprise_arena.company import Company, TermLoan
from models.enterprise_arena.documents import closed_months
from models.enterprise_arena.journal import dollars
from models.enterprise_arena.refusal import Refused

__all__ = ["Margin", "Outlook", "margin", "outlook", "project"]

#: Percent a month that a projection takes for borrower growth.
_LEAST, _MOST = -100.0, 1_000.0


def _copies(notes: Iterable[TermLoan]) -> tuple[TermLoan, ...]:
    """Copy the notes, as a projection pays them off."""
    return tuple(evolve(note) for note in notes)


@frozen
class Margin:
    """The operating margin of a projection, and where it comes from.

    Attributes:
        percent: EBITDA over revenue, percent.
        source: The statement.
        month: Of that statement.
        stale: Whether it is older than the model's limit.
    """

    percent: float
    source: str
    month: int
    stale: bool


@frozen
class Outlook:
    """All that a projection starts from; money in dollars.

    Attributes:
        month: The present one, which is projected first.
        cash: In the bank.
        loans: Principal not yet billed.
        users: Active borrowers.
        lending_rate: Blended annual yield of the book, a share.
        growth: Of borrowers, percent a month, in every month.
        margin: The operating margin.
        collection_rate: Share of what is billed that comes in.
        amortisation_rate: Share of principal that is billed each month.
        average_loan: Paid out to a new borrower.
        term: Instalments of a note.
        notes: Those with a balance.
    """

    month: int
    cash: float
    loans: float
    users: float
    lending_rate: float
    growth: float
    margin: Margin
    collection_rate: float
    amortisation_rate: float
    average_loan: float
    term: int
    notes: tuple[TermLoan, ...] = field(converter=_copies)


def outlook(company: Company, override: float | None) -> Outlook:
    """Take the present position; growth is the industry's of this month unless overridden.

    Raises:
        Refused: The override is no number within range.
    """
    game = company.game
    growth = company.growth[company.month] if override is None else override
    if not (math.isfinite(growth) and _LEAST <= growth <= _MOST):
        raise Refused(
            f"growth_rate_override={override!r} was given; it lies between {_LEAST:g} and "
            f"{_MOST:g} percent a month"
        )
    return Outlook(
        month=company.month,
        cash=dollars(company.cash),
        loans=dollars(company.books.held["1100"]),
        users=company.users,
        lending_rate=company.lending_rate,
        growth=growth,
        margin=margin(company),
        collection_rate=game.collection_base,
        amortisation_rate=game.amortisation_rate,
        average_loan=game.average_loan,
        term=game.note_term_months,
        notes=company.term_loans,
    )


def margin(company: Company) -> Margin:
    """Return the EBITDA margin of the latest statements on file, the opening ones at first."""
    game, closed = company.game, closed_months(company)
    if closed:
        month, source = closed[-1], "income_statement_ytd"
        earned = closings.income_statement(company.books.book, month)
        percent = earned["ebitda"] / earned["revenue"] * 100 if earned["revenue"] else 0.0
    else:
        month, source = opening.COMPILED, "t0_income_statement"
        percent = game.projection_ebitda_margin
    return Margin(percent, source, month, company.month - month > game.projection_stale_after)


def project(start: Outlook, months: int) -> dict[str, Any]:
    """Return a row for each month, the present one first, and the assumptions; dollars."""
    cash, loans, users = start.cash, start.loans, start.users
    rows = []
    for month in range(start.month, start.month + months):
        interest = loans * start.lending_rate / 12
        billed = loans * start.amortisation_rate
        inflow = start.collection_rate * (billed + interest)
        lent = max(0.0, start.growth / 100 * users) * start.average_loan
        spent = (1 - start.margin.percent / 100) * interest
        service = _service(start, month)
        cash += inflow - lent - spent - service
        loans += lent - billed
        users *= 1 + start.growth / 100
        rows.append(_row(month, inflow, lent, spent, service, cash))
    return {"rows": rows, "assumptions": _assumptions(start), **_source(start.margin)}


def _service(start: Outlook, month: int) -> float:
    """Pay a month's interest and instalments of the notes that are known now."""
    interest = math.fsum([note.balance * note.rate / 12 for note in start.notes])
    principal = 0
    for note in start.notes:
        last = month - note.drawn >= start.term - 1
        paid = note.balance if last else min(note.balance, round(note.principal / start.term))
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
        "collection_rate": start.collection_rate,
        "amortisation_rate": start.amortisation_rate,
    }


def _source(found: Margin) -> dict[str, Any]:
    told = asdict(found)
    return {
        "margin_source": told["source"],
        "statements_month": told["month"],
        "stale": told["stale"],
    }
