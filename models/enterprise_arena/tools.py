"""The four tools, under both of their names, and the budget of calls (SPEC section 9).

A tool is handed a view that holds what may be seen, and answers from that.
"""

from collections.abc import Callable
from typing import Any

from desim.schema import tag
from models.enterprise_arena import documents, market, projection
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
from models.enterprise_arena.company import Company, dollars
from models.enterprise_arena.observation import Reply
from models.enterprise_arena.refusal import Refused, unknown

__all__ = ["call"]


def call(company: Company, tool: Tool) -> Reply:
    """Answer a call of a tool; an erroneous one counts too, one beyond the budget does not."""
    cls: Any = type(tool)
    name, budget = tag(cls), company.game.tool_budget
    if company.calls[-1] >= budget:
        return Reply(name, ok=False, out=_closed(budget))
    company.calls[-1] += 1
    try:
        return Reply(name, ok=True, out=_TOOLS[cls](company, tool))
    except Refused as refused:
        return Reply(name, ok=False, out=str(refused))


def _closed(budget: int) -> str:
    return (
        f"the {budget} tool calls of this month are used up; decide the month with pass, "
        "book_closing or fund_raising_request"
    )


def _cash(company: Company, _: VerifyCashPosition | CheckCashInBank) -> dict[str, Any]:
    cash = {"cash_balance": dollars(company.cash)}
    if company.game.cash_tool == "scalar":
        return cash
    return {
        "date": company.macro.label[company.month],
        **cash,
        "loan_portfolio_gross": dollars(company.gross_loans),
        "total_debt": dollars(company.debt),
        "equity_raised": dollars(company.raised["equity"]),
        "active_users": round(company.users),
        "lending_rate": round(company.lending_rate, 6),
    }


def _documents(company: Company, tool: ReviewFinancialRecords | AccessFinancialDocs) -> Any:
    if tool.action not in documents.ACTIONS:
        why = unknown("action", tool.action, documents.ACTIONS)
        raise Refused(f"{why} Possible: {', '.join(documents.ACTIONS)}")
    files = documents.on_file(company)
    if tool.action == "list":
        return {"documents": documents.catalogued(files)}
    return documents.retrieved(files, tool.filename)


def _market(company: Company, tool: AnalyzeMarketConditions | CheckMarketData) -> dict[str, Any]:
    series = market.seen(company, tool.data_type)
    return market.read(series, tool.start_month, tool.end_month)


def _projection(
    company: Company, tool: ConductCashflowProjection | CashFlowForecastCalculation
) -> dict[str, Any]:
    longest = company.game.projection_longest
    if not 1 <= tool.months <= longest:
        raise Refused(f"months={tool.months} was given; a projection covers 1 to {longest} months")
    return projection.project(projection.outlook(company, tool.growth_rate_override), tool.months)


_TOOLS: dict[type, Callable[[Company, Any], Any]] = {
    VerifyCashPosition: _cash,
    CheckCashInBank: _cash,
    ReviewFinancialRecords: _documents,
    AccessFinancialDocs: _documents,
    AnalyzeMarketConditions: _market,
    CheckMarketData: _market,
    ConductCashflowProjection: _projection,
    CashFlowForecastCalculation: _projection,
}
