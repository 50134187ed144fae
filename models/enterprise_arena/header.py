"""The header of a month: the observation with which each of its decisions begins."""

from models.enterprise_arena import notepad
from models.enterprise_arena.accounts import CASH, dollars
from models.enterprise_arena.observation import Month
from models.enterprise_arena.state import Lender

__all__ = ["observe"]


def observe(lender: Lender) -> Month:
    """Return what the officer knows without a tool call."""
    params, month = lender.params, lender.month
    return Month(
        current_month=month,
        date=lender.macro.label[month],
        cash_balance=dollars(lender.cash),
        active_users=round(lender.users),
        loan_portfolio_gross=dollars(lender.gross_loans),
        total_debt=dollars(lender.debt),
        lending_rate=round(lender.lending_rate, 6),
        pending_fundraisings=int(lender.request is not None),
        tool_calls_remaining=params.tool_budget - lender.calls[-1],
        # Copies, because a policy may write into what it observes.
        notifications=tuple([dict(outcome) for outcome in lender.notifications]),
        notes=notepad.latest(lender),
        reply=lender.reply,
        flash=_flash(lender) if params.flash and month else None,
    )


def _flash(lender: Lender) -> dict[str, float]:
    """Return three figures of the month just closed, dollars."""
    last = lender.month - 1
    cash, before = (lender.books.book.balance(CASH, at=at) for at in (last, last - 1))
    return {
        "revenue": dollars(lender.revenue(last)),
        "net_cash_flow": dollars(cash - before),
        "cash": dollars(cash),
    }
