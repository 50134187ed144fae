"""The rules of EnterpriseArena in words, for the chief financial officer."""

from desim.core.reported import SeatBriefing
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.rules import UNBOUNDED

_YEAR = 12

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
    """Return the rules for the officer."""
    soonest, latest = params.delay_range
    months = params.trailing_months
    return _RULES.format(
        to="to consumers" if params.opening_users or params.opening_loans else "nothing",
        when=_WHEN[params.solvency],
        latest_months="year" if months == _YEAR else f"{months} months",
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
    charge = (
        f"Each call of a tool takes ${params.tool_charge:,.0f} off your score. "
        if params.tool_charge
        else ""
    )
    when = _WHEN[params.solvency]
    less = ", less the equity that you raised and the debt that you owe"
    return SeatBriefing(
        title="The lender's years",
        you_are="The chief financial officer of a company that lends. Each month you may look "
        "things up, and must then do one thing.",
        you_want=f"Cash that is never below $0 {when}, and a company that grows.",
        it_costs=f"{charge}Money that you ask for arrives {soonest} to {latest} months later, if "
        "at all.",
        it_ends=f"After {params.horizon} months, or as soon as cash is below $0 {when}.",
        score=f"Dollars: {params.valuation_multiple:g} times the revenue of the last "
        f"{params.trailing_months} months, plus cash"
        + (less if params.score_of == "value_added" else "")
        + "; a bankrupt company has no revenue and no cash.",
    )
