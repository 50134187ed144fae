"""The effect of each command of the officer, and the reply to it.

The four tools, each under two names, and the budget of calls (SPEC section 9).

The functions behind the tools return only what the officer may see: documents on file, series up to
the present month, and a projection from the present position.
"""

from collections.abc import Callable
from typing import Any

from desim.schema import tag
from models.enterprise_arena.accounting.accounts import dollars
from models.enterprise_arena.actions import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    BookClosing,
    CashFlowForecastCalculation,
    CheckCashInBank,
    CheckMarketData,
    Command,
    ConductCashflowProjection,
    FundRaisingRequest,
    Pass,
    RecallNotes,
    ReviewFinancialRecords,
    SaveNote,
    Tool,
    VerifyCashPosition,
)
from models.enterprise_arena.economy import market
from models.enterprise_arena.observation import CommandRefused, CommandReply, Month, unknown
from models.enterprise_arena.officer import desk, documents, funding, projection
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.state import Lender


def call(lender: Lender, tool: Tool) -> CommandReply:
    """Call a tool. A call that fails counts as well; one beyond the budget does not."""
    cls: Any = type(tool)
    name, budget = tag(cls), lender.params.tool_budget
    if lender.calls[-1] >= budget:
        return CommandReply(name, ok=False, out=calls_used_up(budget))
    lender.calls[-1] += 1
    try:
        out = _TOOLS[cls](lender, tool)
    except CommandRefused as refused:
        return CommandReply(name, ok=False, out=str(refused))
    lender.answered.append((lender.month, tool))
    return CommandReply(name, ok=True, out=out)


def calls_used_up(budget: int) -> str:
    """Return the reply to a call beyond the budget."""
    return (
        f"the {budget} tool calls of this month are used up; decide the month with pass, "
        "book_closing or fund_raising_request"
    )


def _cash(lender: Lender, _: VerifyCashPosition | CheckCashInBank) -> dict[str, Any]:
    return cash_position(lender.params, desk.full(lender), dollars(lender.raised["equity"]))


def cash_position(params: ArenaParams, month: Month, equity_raised: float) -> dict[str, Any]:
    """Return what the cash tool shows: cash, by `cash_tool` with the rest of the header."""
    cash = {"cash_balance": month.cash_balance}
    if params.cash_tool == "scalar":
        return cash
    return {
        "date": month.date,
        **cash,
        "loan_portfolio_gross": month.loan_portfolio_gross,
        "total_debt": month.total_debt,
        "equity_raised": equity_raised,
        "active_users": month.active_users,
        "lending_rate": month.lending_rate,
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


def execute(lender: Lender, command: Command) -> bool:
    """Carry out a command, keep its reply, and return whether it ends the month.

    A refused request ends it once `free_refusals` of the month are used up. A use of the notepad
    beyond `note_limit` counts as a pass.
    """
    match command:
        case FundRaisingRequest(type=kind, amount=amount):
            lender.counts["requests"] += 1
            lender.reply = submitted = funding.submit(lender, kind, amount)
            return submitted.ok or lender.refusals > lender.params.free_refusals
        case Pass() | BookClosing():
            lender.reply = _act(lender, command)
            return True
        case SaveNote() | RecallNotes():
            reply = desk.use(lender, command)
            lender.reply = reply or _act(lender, Pass())
            return reply is None
        case _:
            lender.reply = call(lender, command)
            return False


def _act(lender: Lender, action: Pass | BookClosing) -> CommandReply:
    """Carry out an action that is never refused."""
    match action:
        case BookClosing():
            lender.counts["closings"] += 1
            lender.closings.append(lender.month)
            closed = lender.macro.label[lender.month]
            return CommandReply("book_closing", ok=True, out={"closed": closed})
        case Pass():
            lender.counts["passes"] += 1
            return CommandReply("pass", ok=True, out={})
