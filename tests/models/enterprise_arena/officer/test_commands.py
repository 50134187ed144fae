"""The four tools: names, budget, errors, market data, projection."""

from typing import Any

import pytest
from support.arena import Seat, series

from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    AnalyzeMarketConditions,
    BookClosing,
    CheckCashInBank,
    ConductCashflowProjection,
    FundRaisingRequest,
    Pass,
    ReviewFinancialRecords,
    VerifyCashPosition,
)
from models.enterprise_arena.macro import builtin
from models.enterprise_arena.options import SERIES

QUIET = EnterpriseArena(zero_noise=True)


# -- the budget ------------------------------------------------------------------------------------


def test_the_twenty_first_call_is_refused_and_not_counted() -> None:
    """Twenty calls close the tools for the month; the reply says what is left to do."""
    seat = Seat(QUIET)
    for left in range(20, 0, -1):
        assert seat.month is not None
        assert seat.month.tool_calls_remaining == left
        assert seat.ask(VerifyCashPosition()).ok
    refused = seat.ask(AnalyzeMarketConditions("VIX"))
    assert not refused.ok
    assert refused.out == (
        "the 20 tool calls of this month are used up; decide the month with pass, "
        "book_closing or fund_raising_request"
    )
    assert seat.lender.calls == [20]
    after = seat.say(Pass())
    assert after is not None
    assert (after.current_month, after.tool_calls_remaining) == (1, 20)
    assert seat.ask(VerifyCashPosition()).ok


@pytest.mark.parametrize(
    "wrong",
    [
        AnalyzeMarketConditions("Gold"),
        AnalyzeMarketConditions("VIX", 5),
        AnalyzeMarketConditions("VIX", -1),
        AnalyzeMarketConditions("VIX", 2, 1),
        AnalyzeMarketConditions("VIX", 0, -1),
        ReviewFinancialRecords("read"),
        ReviewFinancialRecords("retrieve"),
        ReviewFinancialRecords("retrieve", "../t0_financials/t0_balance_sheet"),
        ConductCashflowProjection(0),
        ConductCashflowProjection(13),
        ConductCashflowProjection(-3),
        ConductCashflowProjection(3, -100.5),
        ConductCashflowProjection(3, 1e300),
    ],
    ids=str,
)
def test_an_erroneous_call_costs_a_call(wrong: Any) -> None:
    """A tool that cannot answer says why in one sentence, and counts."""
    seat = Seat(QUIET).to(3)
    reply = seat.ask(wrong)
    assert not reply.ok
    assert isinstance(reply.out, str)
    assert seat.lender.calls == [0, 0, 0, 1]
    assert seat.month is not None
    assert seat.month.tool_calls_remaining == 19


def test_every_call_costs_the_score_its_charge() -> None:
    """Five thousand dollars a call, errors included, refused calls beyond the budget not."""

    def score(calls: int) -> float:
        seat = Seat(EnterpriseArena(zero_noise=True, horizon=2))
        for _ in range(calls):
            seat.ask(AnalyzeMarketConditions("Gold"))
        seat.say(Pass())
        seat.say(Pass())
        return seat.run.result().score

    assert score(0) - score(3) == pytest.approx(15_000)
    assert score(0) - score(25) == pytest.approx(100_000)


# -- cash ------------------------------------------------------------------------------------------


def test_the_snapshot_of_the_cash_tool_returns_the_position() -> None:
    """The public simulator's tool adds book, debt, equity raised, borrowers and yield."""
    model = EnterpriseArena(
        zero_noise=True, cash_tool="snapshot", forced_funding=((0, True, 0.85, 1),)
    )
    seat = Seat(model).to(1, {0: FundRaisingRequest("equity", 20e6)})
    assert seat.out(CheckCashInBank()) == {
        "date": "Feb 2xx0",
        "cash_balance": 31_276_468.6,
        "loan_portfolio_gross": 48_330_739.81 + 1_952_385.19,
        "total_debt": 0.0,
        "equity_raised": 17_000_000.0,
        "active_users": 5_035,
        "lending_rate": 0.0265,
    }


# -- market data -----------------------------------------------------------------------------------


def test_market_data_is_the_table_up_to_now() -> None:
    """Labels and values of the months asked for; beyond the present month nothing is returned."""
    table = builtin()
    seat = Seat(QUIET).to(5)
    assert series(seat, "SOFR", 2, 4) == {
        "data_type": "SOFR",
        "labels": ["Mar 2xx0", "Apr 2xx0", "May 2xx0"],
        "values": list(table.sofr[2:5]),
    }
    assert series(seat, "SOFR")["values"] == list(table.sofr[:6])
    assert series(seat, "SOFR", 5)["labels"] == ["Jun 2xx0"]
    assert series(seat, "SOFR", 4, 10**9) == series(seat, "SOFR", 4, 5)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("GDP", "gdp_growth_qoq_saar"),
        ("CPI", "cpi_yoy"),
        ("UNRATE", "unrate"),
        ("SOFR", "sofr"),
        ("FEDFUNDS", "fedfunds"),
        ("Baa_Yield", "baa"),
        ("Tsy2Y", "tsy2y"),
        ("Tsy5Y", "tsy5y"),
        ("Tsy10Y", "tsy10y"),
        ("Tsy30Y", "tsy30y"),
        ("VIX", "vix_avg"),
        ("PE_Ratio", "pe_ratio"),
        ("PS_Ratio", "ps_ratio"),
        ("Gross_Margin", "ind_gross_margin"),
        ("EBITDA_Margin", "ind_ebitda_margin"),
        ("Monthly_User_Growth", "ind_user_growth_monthly"),
        ("Annual_User_Growth", "ind_user_growth_annual"),
    ],
)
def test_each_series_is_its_column(name: str, column: str) -> None:
    """The seventeen names and what they stand for; the company's own noise is not in them."""
    assert name in SERIES
    assert len(SERIES) == 17
    seat = Seat(EnterpriseArena(), seed=3).to(12)
    assert tuple(series(seat, name)["values"]) == getattr(builtin(), column)[:13]


# -- projection ------------------------------------------------------------------------------------

#: Round numbers: 12 million of loans at 5 percent, a twenty-fifth of which is billed each month.
ROUND = EnterpriseArena(
    zero_noise=True,
    opening_loans=12e6,
    interest_bearing_share=1.0,
    amortisation_rate=0.04,
    opening_allowance=240_000.0,
)


def test_a_projection_is_the_formula_of_the_specification() -> None:
    """Two months by hand: growth of 1 percent, margin of the opening statements."""
    out = Seat(ROUND).out(ConductCashflowProjection(2, 1.0))
    assert out["rows"] == [
        {
            "month": 0,
            "inflow": 514_100.0,  # 0.97 x (480,000 + 50,000)
            "originations": 500_000.0,  # 50 borrowers
            "operating_outflow": 41_800.0,  # 0.836 x 50,000
            "debt_service": 0.0,
            "projected_cash": 14_972_300.0,
        },
        {
            "month": 1,
            "inflow": 514_956.83,  # of 12,020,000
            "originations": 505_000.0,  # of 5,050 borrowers
            "operating_outflow": 41_869.67,
            "debt_service": 0.0,
            "projected_cash": 14_940_387.17,
        },
    ]
    assert out["assumptions"] == {
        "starting_cash": 15e6,
        "active_users": 5_000,
        "lending_rate": 0.05,
        "growth_rate": 1.0,
        "ebitda_margin": 16.4,
        "collection_rate": 0.97,
        "amortisation_rate": 0.04,
    }
    assert out["margin_source"] == "t0_income_statement"


def test_known_notes_are_served_in_a_projection() -> None:
    """A sixtieth of the principal and interest on the balance, from the month of the draw."""
    model = EnterpriseArena(zero_noise=True, forced_funding=((0, True, 1.0, 1),))
    seat = Seat(model).to(1, {0: FundRaisingRequest("debt", 6e6)})
    rows = seat.out(ConductCashflowProjection(3))["rows"]
    # 6,000,000 at (0.62 + 4.51) percent, a hundred thousand less each month.
    assert [row["debt_service"] for row in rows] == [125_650.0, 125_222.5, 124_795.0]
    again = seat.out(ConductCashflowProjection(3))["rows"]
    assert again == rows


def test_the_margin_comes_from_the_last_closing() -> None:
    """EBITDA over revenue of the year to date: January at 16.4, February at 16.3 percent."""
    out = Seat(QUIET).to(3, {1: BookClosing()}).out(ConductCashflowProjection(1))
    # Worked example, months 0 and 1.
    ebitda, revenue = 18_084.12 + 17_374.22, 110_268.98 + 106_590.30
    assert out["assumptions"]["ebitda_margin"] == round(100 * ebitda / revenue, 4) == 16.3509
    assert out["margin_source"] == "income_statement_ytd"
    assert out["statements_month"] == 1


def test_old_statements_are_called_stale() -> None:
    """More than three months after the closing, or after the opening statements of month 0."""

    def stale(month: int, actions: dict[int, Any]) -> bool:
        flag: bool = Seat(QUIET).to(month, actions).out(ConductCashflowProjection())["stale"]
        return flag

    assert [stale(month, {}) for month in (0, 3, 4)] == [False, False, True]
    closing = {6: BookClosing()}
    assert [stale(month, closing) for month in (7, 9, 10, 14)] == [False, False, True, True]
