"""Sensible commands of a month with their values, for `greedy`, `random` and a person's menu.

A value is a rough estimate in dollars of score. Equity adds to the score when it arrives, so a
request is worth its amount: how much of it arrives, and how often, the rules leave out. Debt is
repaid with interest and has a value only where cash is seen to be short; closing the books is free
and has a small value every half year; a tool costs its charge.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from desim import Option
from desim.show.column import DOLLARS, Column
from models.enterprise_arena.actions import (
    DEBT,
    EQUITY,
    AnalyzeMarketConditions,
    BookClosing,
    ConductCashflowProjection,
    FundRaisingRequest,
    Pass,
    ReviewFinancialRecords,
    VerifyCashPosition,
)
from models.enterprise_arena.economy.market import SERIES
from models.enterprise_arena.observation import Header, Month
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.rules import UNBOUNDED, Scoring

#: Amount of a request, dollars.
_ROUND = 20_000_000.0
#: Cash below which debt has a value, dollars.
_SHORT = 10_000_000.0
#: The default charge for a tool call, dollars.
_TOOL_CHARGE = Scoring().tool_charge
_HALF_YEAR = 6
_MILLION = 1e6

_TOOLS = (
    (ConductCashflowProjection(6), "project cash for six months"),
    (AnalyzeMarketConditions("Monthly_User_Growth"), "how fast borrowers grow"),
    (AnalyzeMarketConditions("VIX"), "how nervous investors are"),
    (ReviewFinancialRecords(), "which documents are on file"),
    (VerifyCashPosition(), "cash in the bank"),
)


def options(month: Header) -> list[Option]:
    """Return commands that the world accepts now; `Pass` comes first."""
    return [Option(Pass(), 0.0, "do nothing"), *_actions(month), *_tools(month)]


def described(params: ArenaParams) -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of commands: names of series, months, and amounts of requests.

    A request is usual from a hundredth of the opening cash up to the largest one that is accepted,
    or ten times the opening cash without such a bound.
    """
    cash = max(params.opening_cash, _MILLION)
    bounded = params.largest_request < UNBOUNDED
    most = params.largest_request if bounded else 10 * cash
    month = Column("months", usual=(0, params.horizon))
    series = Column(kind="identifier", choices=SERIES)
    market = {"data_type": series, "start_month": month, "end_month": month}
    amount = evolve(DOLLARS, usual=(min(cash / 100, most), most))
    return {
        "analyze_market_conditions": market,
        "check_market_data": market,
        "fund_raising_request": {"amount": amount},
    }


def default_action(_: Any) -> Pass:
    """Return the action taken when a policy has run out of budget or failed."""
    return Pass()


def _actions(month: Header) -> Iterator[Option]:
    due = month.current_month % _HALF_YEAR == _HALF_YEAR - 1
    yield Option(BookClosing(), 1.0 if due else -1.0, "statements to read from next month on")
    if not month.pending_fundraisings:
        yield Option(FundRaisingRequest(EQUITY, _ROUND), _ROUND, "ask investors for 20 million")
        need = _SHORT - month.cash_balance if isinstance(month, Month) else 0.0
        yield Option(FundRaisingRequest(DEBT, _ROUND), need, "ask lenders for 20 million")


def _tools(month: Header) -> Iterator[Option]:
    if month.tool_calls_remaining:
        for tool, note in _TOOLS:
            yield Option(tool, -_TOOL_CHARGE, note)
