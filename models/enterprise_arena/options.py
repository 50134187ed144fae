"""Sensible commands with their values for the officer's menu, and the rules in words."""

from collections.abc import Iterator, Mapping

from attrs import evolve

from desim import Option
from desim.core.reported import SeatBriefing
from desim.show.column import DOLLARS, Column
from models.enterprise_arena.desk import (
    DEBT,
    EQUITY,
    AnalyzeMarketConditions,
    BookClosing,
    ConductCashflowProjection,
    FundRaisingRequest,
    Header,
    Month,
    Pass,
    ReviewFinancialRecords,
    VerifyCashPosition,
)
from models.enterprise_arena.params import UNBOUNDED, YEAR, ArenaParams, Scoring

#: Column of the macro table by the name of a market series; growth is the profile's column.
SERIES_COLUMNS = {
    "GDP": "gdp_growth_qoq_saar",
    "CPI": "cpi_yoy",
    "UNRATE": "unrate",
    "SOFR": "sofr",
    "FEDFUNDS": "fedfunds",
    "Baa_Yield": "baa",
    "Tsy2Y": "tsy2y",
    "Tsy5Y": "tsy5y",
    "Tsy10Y": "tsy10y",
    "Tsy30Y": "tsy30y",
    "VIX": "vix_avg",
    "PE_Ratio": "pe_ratio",
    "PS_Ratio": "ps_ratio",
    "Gross_Margin": "ind_gross_margin",
    "EBITDA_Margin": "ind_ebitda_margin",
    "Monthly_User_Growth": "",
    "Annual_User_Growth": "ind_user_growth_annual",
}
SERIES = tuple(SERIES_COLUMNS)

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
    """Return commands that the world accepts now with their values; `Pass` comes first.

    A value is a rough estimate in dollars of score. Equity adds to the score when it arrives, so a
    request is worth its amount: how much of it arrives, and how often, the rules leave out. Debt is
    repaid with interest and has a value only where cash is seen to be short; closing the books is
    free and has a small value every half year; a tool costs its charge.
    """
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


# -- the rules in words ----------------------------------------------------------------------------

_RULES = """You are the chief financial officer of a company that lends {to}. Every \
month you may look into things and must then do exactly one thing, which ends the month. Your \
first duty is that cash is never below zero {when}: then everything is over. If the company lives \
on, revenue of its latest {latest_months} and cash in the bank count for you{less}.

- {tools} how things stand. Each use counts against {you}the month's budget of \
{budget} calls.
- An action ends the month: pass, close the books, or ask for funding. Money that is asked for \
arrives {soonest} to {latest} months later, if at all, and only one request can be under way.{terms}

There is no order that you must follow; you may act at any time."""

#: When cash below zero ends everything, by the parameter `solvency`.
_WHEN = {
    "month_end": "at the end of a month",
    "opening": "when a month opens (money due then counts) or at the very end",
}
_LESS = "; in either case equity that you have raised and debt that you owe count against you"


def rules(params: ArenaParams) -> str:
    """Return the rules of the world for the officer; README and pages are cut from them."""
    soonest, latest = params.delay_range
    months = params.trailing_months
    return _RULES.format(
        to="to consumers" if params.opening_users or params.opening_loans else "nothing",
        when=_WHEN[params.solvency],
        latest_months="year" if months == YEAR else f"{months} months",
        you="you and against " if params.tool_charge else "",
        less=_LESS if params.score_of == "value_added" else "",
        budget=params.tool_budget,
        tools="Tools show" if params.header == "full" else "Tools alone show",
        soonest=soonest,
        latest=latest,
        terms=_terms(params),
    )


def _terms(params: ArenaParams) -> str:
    bound, free = params.largest_request, params.free_refusals
    most = f" A request is for at most {bound:,.0f} dollars." if bound < UNBOUNDED else ""
    goes_on = " The reply to one that is refused says whether the month goes on." if free else ""
    return most + goes_on


def briefing(params: ArenaParams) -> SeatBriefing:
    """Return the rules for the officer in five answers."""
    soonest, latest = params.delay_range
    charge = f"Each call of a tool takes ${params.tool_charge:,.0f} off your score. "
    when = _WHEN[params.solvency]
    less = ", less the equity that you raised and the debt that you owe"
    return SeatBriefing(
        title="The lender's years",
        you_are="The chief financial officer of a company that lends. Each month you may look "
        "things up, and must then do one thing.",
        you_want=f"Cash that is never below $0 {when}, and a company that grows.",
        it_costs=(charge if params.tool_charge else "")
        + f"Money that you ask for arrives {soonest} to {latest} months later, if at all.",
        it_ends=f"After {params.horizon} months, or as soon as cash is below $0 {when}.",
        score=f"Dollars: {params.valuation_multiple:g} times the revenue of the last "
        f"{params.trailing_months} months, plus cash"
        + (less if params.score_of == "value_added" else "")
        + "; a bankrupt company has no revenue and no cash.",
    )
