"""What the founder may look up: the published ledger, and the funds by category, in cents."""

from typing import Any

from models.yc_bench.state import CompanyState

__all__ = ["founder_tables"]


def founder_tables(company: CompanyState) -> dict[str, list[dict[str, Any]]]:
    """Return the ledger entry by entry with the funds after each, and the sums by category."""
    rows = list(company.accounts.entries())
    funds = company.funds_cents - sum(row.cents for row in rows)
    sums: dict[str, int] = {"founders' capital": funds}
    ledger: list[dict[str, Any]] = []
    for row in rows:
        funds += row.cents
        sums[row.category] = sums.get(row.category, 0) + row.cents
        ledger.append(
            {
                "time": company.clock.text(row.tick),
                "category": row.category,
                "of": f"{row.reference_type} {row.reference}",
                "amount_cents": row.cents,
                "funds_cents": funds,
            }
        )
    by_category = [{"category": name, "amount_cents": cents} for name, cents in sums.items()]
    return {"ledger": ledger, "funds": [*by_category, {"category": "funds", "amount_cents": funds}]}
