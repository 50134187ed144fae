"""The officer's desk: the header of the month, and who answers a command."""

from models.enterprise_arena import notepad, tools
from models.enterprise_arena.actions import (
    BookClosing,
    Command,
    FundRaisingRequest,
    Pass,
    RecallNotes,
    SaveNote,
)
from models.enterprise_arena.company import Company, dollars
from models.enterprise_arena.macro import YEAR
from models.enterprise_arena.observation import Month, Reply

__all__ = ["answer", "see"]


def see(company: Company) -> Month:
    """Return what the officer knows without asking."""
    game, month = company.game, company.month
    return Month(
        current_month=month,
        date=company.macro.label[month],
        cash_balance=dollars(company.cash),
        active_users=round(company.users),
        loan_portfolio_gross=dollars(company.gross_loans),
        total_debt=dollars(company.debt),
        lending_rate=round(company.lending_rate, 6),
        pending_fundraisings=int(company.request is not None),
        tool_calls_remaining=game.tool_budget - company.calls[-1],
        notifications=tuple([dict(told) for told in company.notifications]),
        notes=notepad.latest(company),
        reply=company.reply,
        flash=_flash(company) if game.flash and month else None,
    )


def answer(company: Company, command: Command) -> Reply | None:
    """Answer a tool or a note; None for what ends the month."""
    match command:
        case Pass() | BookClosing() | FundRaisingRequest():
            return None
        case SaveNote() | RecallNotes():
            return notepad.use(company, command)
        case _:
            return tools.call(company, command)


def _flash(company: Company) -> dict[str, float]:
    """Tell the month just closed in three figures."""
    last = company.month - 1
    to_date = company.revenue_to_date
    revenue = to_date[last] - (to_date[last - 1] if last % YEAR else 0)
    cash, before = (company.books.book.balance("1000", at=at) for at in (last, last - 1))
    return {
        "revenue": dollars(revenue),
        "net_cash_flow": dollars(cash - before),
        "cash": dollars(cash),
    }
