"""The cash-flow projection: a formula with growth held flat (SPEC section 9.4).

It leaves out requests under way, charge-offs and tax. Its margin comes from the last closed
statements, without overhead, which it deducts month by month.
"""

import math
from typing import Any, NamedTuple

from attrs import evolve

from desim.short_repr import short_repr
from models.enterprise_arena.books import LOANS, cents, dollars
from models.enterprise_arena.desk import CommandRefused
from models.enterprise_arena.documents import COMPILED, INCOME_STATEMENT
from models.enterprise_arena.lender import Lender
from models.enterprise_arena.params import YEAR
from models.enterprise_arena.statements import reports

#: Lowest and highest `growth_rate_override`, percent a month.
_LEAST, _MOST = -100.0, 1_000.0


class Margin(NamedTuple):
    """The operating margin of a projection, and the statement from which it comes.

    EBITDA before overhead over revenue, in percent; stale if the statement is older than
    `projection_stale_after`.
    """

    percent: float
    source: str
    month: int
    stale: bool


def margin(lender: Lender) -> Margin:
    """Return the EBITDA margin of the latest statements on file, the opening ones at first."""
    params, closed = lender.params, lender.closed
    if closed:
        book, month, source = lender.books.book, closed[-1], "income_statement_ytd"
        income = reports(book, month).income_statement(book, month - month % YEAR, month)
        earned = income["ebitda"] + cents(params.overhead) * (month % YEAR + 1)
        percent = earned / income["revenue"] * 100 if income["revenue"] else 0.0
    else:
        month, source = COMPILED, INCOME_STATEMENT
        percent = params.projection_ebitda_margin
    return Margin(percent, source, month, lender.month - month > params.projection_stale_after)


def project(lender: Lender, months: int, override: float | None = None) -> dict[str, Any]:
    """Return a row for each month, the present one first, and the assumptions; dollars.

    Growth is the industry's of this month, percent, unless there is an *override*.

    Raises:
        CommandRefused: The override is not finite or out of range.
    """
    params, now = lender.params, lender.month
    growth = lender.growth[now] if override is None else override
    if not (math.isfinite(growth) and _LEAST <= growth <= _MOST):
        raise CommandRefused(
            f"growth_rate_override={short_repr(override)} was given; it lies between "
            f"{_LEAST:g} and {_MOST:g} percent a month"
        )
    own, rate, users = margin(lender), lender.lending_rate, lender.users
    cash, loans = dollars(lender.cash), dollars(lender.books.held[LOANS])
    notes = [evolve(note) for note in lender.term_loans]  # copies, which are repaid here
    rows = []
    for month in range(now, now + months):
        interest = loans * rate / 12
        billed = loans * params.amortisation_rate
        inflow = params.collection_base * (billed + interest)
        lent = max(0.0, growth / 100 * users) * params.average_loan
        spent = params.overhead + (1 - own.percent / 100) * interest
        service = math.fsum([note.balance * note.rate / 12 for note in notes])
        service += sum([note.repay(month, params.note_term_months) for note in notes])
        service /= 100
        cash += inflow - lent - spent - service
        loans += lent - billed
        users *= 1 + growth / 100
        row = {
            "month": month,
            "inflow": round(inflow, 2),
            "originations": round(lent, 2),
            "operating_outflow": round(spent, 2),
            "debt_service": round(service, 2),
            "projected_cash": round(cash, 2),
        }
        rows.append(row)
    assumptions = {
        "starting_cash": dollars(lender.cash),
        "active_users": round(lender.users),
        "lending_rate": round(rate, 6),
        "growth_rate": growth,
        "ebitda_margin": round(own.percent, 4),
        **({"overhead": params.overhead} if params.overhead else {}),
        "collection_rate": params.collection_base,
        "amortisation_rate": params.amortisation_rate,
    }
    source = {"margin_source": own.source, "statements_month": own.month, "stale": own.stale}
    return {"rows": rows, "assumptions": assumptions, **source}
