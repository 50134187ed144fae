"""The four tools, each under two names, and the budget of calls (SPEC section 9).

The functions behind the tools return only what the officer may see: documents on file, series up to
the present month, and a projection from the present position.
"""

from collections.abc import Callable
from typing import Any

from desim.schema import tag
from models.enterprise_arena import documents, market, projection
from models.enterprise_arena.accounts import dollars
from models.enterprise_arena.actions import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    CashFlowForecastCalculation,
    CheckCashInBank,
    CheckMarketData,
    ConductCashflowProjection,
    ReviewFinancialRecords,
    Tool,
    VerifyCashPosition,
)
from models.enterprise_arena.observation import CommandReply
from models.enterprise_arena.refusal import CommandRefused, unknown
from models.enterprise_arena.state import Lender

__all__ = ["call"]


def call(lender: Lender, tool: Tool) -> CommandReply:
    """Call a tool. A call that fails counts as well; one beyond the budget does not."""
    cls: Any = type(tool)
    name, budget = tag(cls), lender.params.tool_budget
    if lender.calls[-1] >= budget:
        return CommandReply(name, ok=False, out=_closed(budget))
    lender.calls[-1] += 1
    try:
        return CommandReply(name, ok=True, out=_TOOLS[cls](lender, tool))
    except CommandRefused as refused:
        return CommandReply(name, ok=False, out=str(refused))


def _closed(budget: int) -> str:
    return (
        f"the {budget} tool calls of this month are used up; decide the month with pass, "
        "book_closing or fund_raising_request"
    )


def _cash(lender: Lender, _: VerifyCashPosition | CheckCashInBank) -> dict[str, Any]:
    cash = {"cash_balance": dollars(lender.cash)}
    if lender.params.cash_tool == "scalar":
        return cash
    return {
        "date": lender.macro.label[lender.month],
        **cash,
        "loan_portfolio_gross": dollars(lender.gross_loans),
        "total_debt": dollars(lender.debt),
        "equity_raised": dollars(lender.raised["equity"]),
        "active_users": round(lender.users),
        "lending_rate": round(lender.lending_rate, 6),
    }


def _documents(lender: Lender, tool: ReviewFinancialRecords | AccessFinancialDocs) -> Any:
    if tool.action not in documents.ACTIONS:
        why = unknown("action", tool.action, documents.ACTIONS)
        raise CommandRefused(f"{why} Possible: {', '.join(documents.ACTIONS)}")
    files = documents.on_file(lender)
    if tool.action == "list":
        return {"documents": documents.catalogued(files)}
    return documents.retrieved(files, tool.filename)


def _market(lender: Lender, tool: AnalyzeMarketConditions | CheckMarketData) -> dict[str, Any]:
    series = market.until_now(lender, tool.data_type)
    return market.read(series, tool.start_month, tool.end_month)


def _projection(
    lender: Lender, tool: ConductCashflowProjection | CashFlowForecastCalculation
) -> dict[str, Any]:
    longest = lender.params.projection_longest
    if not 1 <= tool.months <= longest:
        raise CommandRefused(
            f"months={tool.months} was given; a projection covers 1 to {longest} months"
        )
    return projection.project(projection.outlook(lender, tool.growth_rate_override), tool.months)


_TOOLS: dict[type, Callable[[Lender, Any], Any]] = {
    VerifyCashPosition: _cash,
    CheckCashInBank: _cash,
    ReviewFinancialRecords: _documents,
    AccessFinancialDocs: _documents,
    AnalyzeMarketConditions: _market,
    CheckMarketData: _market,
    ConductCashflowProjection: _projection,
    CashFlowForecastCalculation: _projection,
}
