"""The company in a group: cash received from and paid to partners, posted at the present tick.

A link acts between the events of the company. Only the books change then: progress is not
recorded and no plan is made, so that all later events are those of a company without the entry.
"""

from collections import Counter

from models.yc_bench.state import CompanyState


def receive_cash(company: CompanyState, cents: int, partner: str) -> None:
    """Post cash that a partner has sent; it undoes no bankruptcy.

    Raises:
        LedgerError: As `Intercompany.receive`.
    """
    late = company.bankrupt
    company.accounts.intercompany.receive(company.world.now, partner, cents)
    company.rescued_late = late


def pay_cash(company: CompanyState, cents: int, partner: str) -> None:
    """Post cash that is sent to a partner.

    Raises:
        LedgerError: As `Intercompany.pay`.
    """
    company.accounts.intercompany.pay(company.world.now, partner, cents)


def balances(company: CompanyState) -> dict[str, int]:
    """Return cents by partner, summed over the companies of all episodes.

    Debts and claims of a bankrupt company stay in its partners' books, so they are included.
    """
    total: Counter[str] = Counter()
    for accounts in (*[each.accounts for each in company.past], company.accounts):
        total.update(accounts.intercompany.balances)
    return dict(total)
