"""Replies of `finance ledger` and `report monthly`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from models.yc_bench.accounts import INTERCOMPANY, LedgerRow
from models.yc_bench.actions import FinanceLedger, ReportMonthly
from models.yc_bench.company.lookup import CommandRefused
from models.yc_bench.observation import ReadOnlyRow
from models.yc_bench.state import CompanyState

#: The published categories of the ledger.
_CATEGORIES = [
    "monthly_payroll",
    "task_reward",
    "task_fail_penalty",
    "task_cancel_penalty",
    "payment_dispute",
]


def finance_ledger(company: CompanyState, action: FinanceLedger) -> dict[str, Any]:
    """List entries of the published ledger; both bounds are midnights and inclusive.

    Raises:
        CommandRefused: The category is unknown, or a bound is not a date.
    """
    category = action.category
    first, last = _midnight(company, action.from_date), _midnight(company, action.to_date)
    known = _categories(company)
    if category is not None and category not in known:
        raise CommandRefused(f"Invalid category: {category}. Valid: {known}")
    rows = company.accounts.entries()
    entries = [
        printed
        for row, printed in zip(rows, _printed(company, rows), strict=True)
        if (first is None or first <= row.tick)
        and (last is None or row.tick <= last)
        and category in (None, row.category)
    ]
    total = sum(entry["amount_cents"] for entry in entries)
    return {"count": len(entries), "total_amount_cents": total, "entries": entries}


def _categories(company: CompanyState) -> list[str]:
    """Return the published categories, and that of group cash if any was exchanged."""
    grouped = company.accounts.intercompany.balances
    return [*_CATEGORIES, INTERCOMPANY] if grouped else _CATEGORIES


def _printed(company: CompanyState, rows: Sequence[LedgerRow]) -> Sequence[ReadOnlyRow]:
    """Return the entries as printed; each is built once, as entries never change."""
    printed = company.ledger_rows
    for number in range(len(printed), len(rows)):
        printed.append(_entry(company, number, rows[number]))
    return printed


def _entry(company: CompanyState, number: int, row: LedgerRow) -> ReadOnlyRow:
    return ReadOnlyRow(
        {
            "id": f"<ledger:{number}>",
            "occurred_at": company.clock.text(row.tick),
            "category": row.category,
            "amount_cents": row.cents,
            "ref_type": row.reference_type,
            "ref_id": f"<{row.reference_type}:{row.reference}>",
        }
    )


def _midnight(company: CompanyState, day: str | None) -> int | None:
    if day is None:
        return None
    try:
        return company.clock.tick(datetime.strptime(day, "%m/%d/%Y"))  # noqa: DTZ007 (no zones)
    except ValueError:
        raise CommandRefused(f"Invalid date format: {day}. Use MM/DD/YYYY.") from None


def report_monthly(_: CompanyState, __: ReportMonthly) -> dict[str, Any]:
    """Return the published list of monthly reports, which is always empty."""
    return {"count": 0, "months": []}
