"""What the founder may look up: the published ledger, and the funds it has left, in cents."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.yc_bench.company import Company

__all__ = ["sheets"]


def sheets(company: "Company") -> dict[str, list[dict[str, Any]]]:
    """Return the ledger entry by entry with the funds after each, and the sums by category."""
    entries = list(company.accounts.entries())
    funds = company.funds_cents - sum(cents for _, _, cents, *_ in entries)
    sums: dict[str, int] = {"founders' capital": funds}
    ledger: list[dict[str, Any]] = []
    for tick, category, cents, kind, name in entries:
        funds += cents
        sums[category] = sums.get(category, 0) + cents
        ledger.append(
            {
                "time": company.clock.text(tick),
                "category": category,
                "of": f"{kind} {name}",
                "amount_cents": cents,
                "funds_cents": funds,
            }
        )
    told = [{"category": name, "amount_cents": cents} for name, cents in sums.items()]
    return {"ledger": ledger, "funds": [*told, {"category": "funds", "amount_cents": funds}]}
