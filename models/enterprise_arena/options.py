"""Sensible commands of a month with their values, for `greedy`, `random` and a person's menu.

A value is a rough estimate in dollars of score. Equity adds to the score when it arrives, so a
request is worth the mean amount that arrives; debt is repaid with interest and has a value only
where cash is short; closing the books is free and has a small value every half year; a tool costs
its charge.
"""

from collections.abc import Iterator
from typing import Any

from desim import Option
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
from models.enterprise_arena.observation import Month
from models.enterprise_arena.rules import Scoring

#: Amount of a request, dollars.
_ROUND = 20_000_000.0
#: Mean share of a first equity request that arrives: its chance times its fill.
_EXPECTED = 0.7
#: Cash below which debt has a value, dollars.
_SHORT = 10_000_000.0
#: The default charge for a tool call, dollars.
_TOOL_CHARGE = Scoring().tool_charge
_HALF_YEAR = 6

_TOOLS = (
    (ConductCashflowProjection(6), "project cash for six months"),
    (AnalyzeMarketConditions("Monthly_User_Growth"), "how fast borrowers grow"),
    (AnalyzeMarketConditions("VIX"), "how nervous investors are"),
    (ReviewFinancialRecords(), "which documents are on file"),
    (VerifyCashPosition(), "cash in the bank"),
)


def options(month: Month) -> list[Option]:
    """Return commands that the world accepts now; `Pass` comes first."""
    return [Option(Pass(), 0.0, "do nothing"), *_actions(month), *_tools(month)]


def default_action(_: Any) -> Pass:
    """Return the action taken when a policy has run out of budget or failed."""
    return Pass()


def _actions(month: Month) -> Iterator[Option]:
    due = month.current_month % _HALF_YEAR == _HALF_YEAR - 1
    yield Option(BookClosing(), 1.0 if due else -1.0, "statements to read from next month on")
    if not month.pending_fundraisings:
        expected = _EXPECTED * _ROUND
        yield Option(FundRaisingRequest(EQUITY, _ROUND), expected, "ask investors for 20 million")
        need = _SHORT - month.cash_balance
        yield Option(FundRaisingRequest(DEBT, _ROUND), need, "ask lenders for 20 million")


def _tools(month: Month) -> Iterator[Option]:
    if month.tool_calls_remaining:
        for tool, note in _TOOLS:
            yield Option(tool, -_TOOL_CHARGE, note)
