"""A lender without lending: funding, its own overhead, and no division by what it has not."""

import math
from typing import Any

import pytest
from support.arena import MILLION, months, opened, played
from support.series import series_of

from desim import catalog, play
from models.enterprise_arena import TREASURY, EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest
from models.enterprise_arena.documents import on_file, retrieved
from models.enterprise_arena.funding import leverage_factor
from models.enterprise_arena.processes import borrowers
from models.enterprise_arena.projection import margin, project
from policies.heuristics.enterprise_arena.forecast import Debt, Yields, lowest, measure

#: Five years; month 132 of a table would be the last.
YEARS = {"horizon": 60}


def treasury(preset: str = "capped", **changes: Any) -> EnterpriseArena:
    """Return five years of a treasury."""
    return EnterpriseArena.preset(preset, **{**TREASURY, **YEARS, **changes})


def kinds(lender: Any) -> set[str]:
    """Return the kinds of all entries."""
    return {entry.kind for entry in lender.books.book.journal}


def test_nothing_but_overhead_happens() -> None:
    """Payroll at once, vendors a month later; 2,000,000 lasts for forty months and a half."""
    lender = played(treasury())
    assert lender.world.ended == "cash balance went negative"
    assert lender.months_closed == 41
    assert kinds(lender) == {"opening", "J0", "J9", "J10", "J11"}
    cash = [dollars / 1_000 for dollars in series_of(treasury(), lender)["cash"]]
    assert cash == [2_000 - 50 * month - 27.5 for month in range(41)]
    assert (lender.users, lender.gross_loans, lender.loss_carryforward) == (0.0, 0, 205 * 10**6)


@pytest.mark.parametrize("growth", [-100.0, -3.0, 0.0, 7.5])
def test_a_company_without_borrowers_gains_none(growth: float) -> None:
    """Those of a lender never fall below one, as published."""
    assert borrowers(0.0, growth) == 0.0
    assert borrowers(0.5, -50.0) == 0.5
    assert borrowers(1.0, growth) == max(1.0, 1 + growth / 100)


def test_paid_in_capital_is_the_opening_cash_and_what_investors_paid() -> None:
    """Shares are issued at ten dollars each."""
    model = treasury(forced_funding={0: (True, 0.8, 2), 3: (True, 1, 1)})
    asked = FundRaisingRequest("equity", 5 * MILLION)
    lender = opened(6, model, {0: asked, 3: asked})
    held = lender.books.held
    assert -held["3000"] == (2 + 4 + 5) * MILLION * 100
    assert lender.shares == pytest.approx(1_100_000)
    assert held["3900"] == 0
    assert lender.books.equity == (11 * MILLION - 6 * 50_000) * 100


def test_leverage_is_over_book_equity() -> None:
    """Ten million of notes on a company of less than two leaves no chance of more debt."""
    model = treasury(forced_funding={0: (True, 1, 1)})
    lender = opened(1, model, {0: FundRaisingRequest("debt", 10 * MILLION)})
    assert lender.books.equity == 195_000_000
    assert lender.debt == 10**9
    assert lender.leverage == pytest.approx(10 / 1.95)
    assert leverage_factor(model, lender.leverage) == 0.0
    funded = opened(
        9,
        treasury(forced_funding={0: (True, 1, 1), 2: (True, 1, 1)}),
        {0: FundRaisingRequest("equity", 20 * MILLION), 2: FundRaisingRequest("debt", 6 * MILLION)},
    )
    assert 0.2 < funded.leverage < 0.3


@pytest.mark.parametrize("preset", EnterpriseArena.presets)
def test_every_document_and_table_can_be_read(preset: str) -> None:
    """In every preset, with and without statements, in the first month and later."""
    model = treasury(preset, flash=True, cash_tool="snapshot", horizon=30)
    for seen in months(model, dict.fromkeys(range(0, 30, 4), BookClosing())):
        files = on_file(seen.lender)
        assert [name for name in files if not retrieved(files, name)] == []
        assert model.tables(seen.lender, "cfo")["market"]
        assert project(seen.lender, 12)["rows"]
        assert _finite(seen.month)
    assert _finite([model.metrics(seen.lender), series_of(model, seen.lender)])


def _finite(value: Any) -> bool:
    return "nan" not in repr(value) and "inf" not in repr(value)


def test_the_opening_documents_tell_of_no_loans() -> None:
    """No income before the start, and cash that shareholders paid in."""
    files = on_file(opened(0, treasury()))
    overview = retrieved(files, "t0_board_materials/company_overview")["text"]
    assert overview.startswith(
        "Company XYZ has no customers and makes no loans. Its overhead is 50,000 dollars a month. "
        "The company raises equity and debt"
    )
    assert set(retrieved(files, "t0_financials/t0_income_statement")["rows"].values()) == {0.0}
    flows = retrieved(files, "t0_financials/t0_cash_flow_statement")["rows"]
    assert {row: flow for row, flow in flows.items() if flow} == dict.fromkeys(
        ("equity_proceeds", "financing", "net_change", "closing_cash"), 2e6
    )
    sheet = retrieved(files, "t0_financials/t0_balance_sheet")["rows"]
    assert sheet["total_assets"] == sheet["paid_in_capital"] == sheet["total_equity"] == 2e6


@pytest.mark.parametrize("closed", [False, True])
def test_the_projection_deducts_overhead(closed: bool) -> None:  # noqa: FBT001 (a case)
    """From the second month on it is exact: vendors are paid what they billed a month ago."""
    actions = {4: BookClosing()} if closed else {}
    lender = opened(5, treasury(), actions)
    shown = project(lender, 6)
    assert shown["assumptions"]["overhead"] == 50_000
    later = [seen.month.cash_balance for seen in months(treasury(), {}, until=11)][6:]
    assert [row["projected_cash"] for row in shown["rows"]] == later


def test_a_lender_s_margin_is_that_before_overhead() -> None:
    """So that a projection deducts overhead once."""
    rich = {"opening_cash": 1e9, "zero_noise": True, "horizon": 20}
    closing = {14: BookClosing()}
    plain, loaded = (
        opened(15, EnterpriseArena(**rich, overhead=overhead), closing) for overhead in (0.0, 9e4)
    )
    assert margin(loaded).percent == pytest.approx(margin(plain).percent, abs=1e-4)
    assert plain.books.pretax - loaded.books.pretax == 3 * 9_000_000
    assert "overhead" not in project(plain, 1)["assumptions"]


@pytest.mark.parametrize("changes", [{}, {"opening_cash": 0.0, "opening_shares": 0.0}], ids=str)
@pytest.mark.parametrize("preset", ["capped", "regime"])
def test_every_baseline_plays_a_treasury(preset: str, changes: dict[str, Any]) -> None:
    """With cash, and with none, no shares and no overhead."""
    model = treasury(preset, **changes, **({"overhead": 0.0} if changes else {}))
    for spec in [*catalog.baselines(model), "greedy", "random"]:
        result = play(model, spec, seed=2).result
        assert _finite(result.metrics)
        assert result.metrics["months"] >= 40, spec
        assert (result.ended == "horizon") == (result.metrics["end_cash"] >= 0)


def test_the_treasurer_measures_costs_without_revenue() -> None:
    """They are dollars a month, and its forecast deducts them."""
    seen = [each.month for each in months(treasury(), {}, until=6)]
    rows = ("loans_originated", "collections_principal", "collections_interest", "tax_paid")
    flows = {**dict.fromkeys(rows, 0.0), "vendor_payments": -60_000.0, "payroll_paid": -90_000.0}
    yields = measure(flows, seen[:4])
    assert yields == Yields(0.0, 0.0, 0.0, fixed=-50_000.0)
    assert lowest(seen[6], yields, Debt(), 0.0, [1.0] * 4) == seen[6].cash_balance - 200_000


def test_interest_makes_costs_a_share_of_it() -> None:
    """A lender's forecast is what it was."""
    month = opened_header()
    rows = ("loans_originated", "collections_principal", "vendor_payments", "tax_paid")
    flows = {**dict.fromkeys(rows, 0.0), "collections_interest": 9e4, "payroll_paid": -1e5}
    yields = measure(flows, [month, month])
    assert yields.fixed == 0.0
    interest = month.loan_portfolio_gross * month.lending_rate / 12
    assert math.isclose(yields.kept, -1e4 / interest)


def opened_header() -> Any:
    """Return the first header of a lender."""
    return next(months(EnterpriseArena(), {})).month
