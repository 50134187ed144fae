"""Sensible commands of a month, with their worth: what greedy, random and a person's menu need.

Worth is in dollars of score. Equity counts in full where it arrives, so it is worth the expected
part of what is asked for; debt is paid back with interest and is worth something where cash is
short; statements cost nothing and are worth a little every half year; a tool costs its charge.
"""

from collections.abc import Iterator
from typing import Any

from desim import Option
from models.enterprise_arena.actions import (
    AnalyzeMarketConditions,
    BookClosing,
    ConductCashflowProjection,
    FundRaisingRequest,
    Pass,
    ReviewFinancialRecords,
    VerifyCashPosition,
)
from models.enterprise_arena.observation import Month

__all__ = ["options", "rest"]

#: Asked for in one request, dollars.
_ROUND = 20_000_000.0
#: Mean share of a first request that arrives: its chance times its fill.
_EXPECTED = 0.7
#: Cash below which debt is worth its interest, dollars.
_SHORT = 10_000_000.0
_TOOL_CHARGE = 5_000.0
_HALF_YEAR = 6

_TOOLS = (
    (ConductCashflowProjection(6), "project cash for six months"),
    (AnalyzeMarketConditions("Monthly_User_Growth"), "how fast borrowers grow"),
    (AnalyzeMarketConditions("VIX"), "how nervous investors are"),
    (ReviewFinancialRecords(), "which documents are on file"),
    (VerifyCashPosition(), "cash in the bank"),
)


def options(month: Month) -> list[Option]:
    """Return commands that the world takes now, the one that just lets time pass first."""
    return [Option(Pass(), 0.0, "do nothing"), *_actions(month), *_tools(month)]


def rest(_: Any) -> Pass:
    """Return the answer of somebody who does not decide any more."""
    return Pass()


def _actions(month: Month) -> Iterator[Option]:
    due = month.current_month % _HALF_YEAR == _HALF_YEAR - 1
    yield Option(BookClosing(), 1.0 if due else -1.0, "statements to read from next month on")
    if not month.pending_fundraisings:
        expected = _EXPECTED * _ROUND
        yield Option(FundRaisingRequest("equity", _ROUND), expected, "ask investors for 20 million")
        need = _SHORT - month.cash_balance
        yield Option(FundRaisingRequest("debt", _ROUND), need, "ask lenders for 20 million")


def _tools(month: Month) -> Iterator[Option]:
    if month.tool_calls_remaining:
        for tool, note in _TOOLS:
            yield Option(tool, -_TOOL_CHARGE, note)
