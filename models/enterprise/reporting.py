"""What the controller observes, read from the parts' ledgers."""

from models.enterprise.observation import Department, GroupPosition
from models.enterprise.params import TREASURY
from models.enterprise.state import Company, dollars

__all__ = ["position"]


def position(company: Company) -> GroupPosition:
    """Return the group's position now."""
    return GroupPosition(
        month=company.month,
        months=company.params.months,
        grace=company.params.grace,
        treasury_cash=dollars(company.group.cash(TREASURY)),
        notes=dollars(company.group.part(TREASURY).state.debt),
        net_worth=dollars(company.worths[-1]),
        departments=tuple(_department(company, name) for name in company.limits),
        reply=company.reply,
    )


def _department(company: Company, name: str) -> Department:
    limits, cash = company.limits[name], company.group.cash(name)
    return Department(
        name=name,
        cash=dollars(cash),
        cash_change=dollars(cash - limits.cash_before),
        floor=dollars(limits.floor),
        ceiling=None if limits.ceiling is None else dollars(limits.ceiling),
        owed_to_treasury=dollars(company.owed(name)),
        unpaid=dollars(company.unpaid(name)),
        months_unpaid=limits.months_unpaid,
        status=company.status(name),
    )
