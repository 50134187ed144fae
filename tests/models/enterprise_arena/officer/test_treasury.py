"""A lender without lending: funding, its own overhead, and no division by what it has not."""

from typing import Any

import pytest
from support.arena import MILLION, months, opened, played
from support.series import series_of

from models.enterprise_arena import TREASURY, EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest
from models.enterprise_arena.documents import on_file, retrieved
from models.enterprise_arena.funding import leverage_factor
from models.enterprise_arena.projection import project

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


@pytest.mark.parametrize("closed", [False, True])
def test_the_projection_deducts_overhead(closed: bool) -> None:  # noqa: FBT001 (a case)
    """From the second month on it is exact: vendors are paid what they billed a month ago."""
    actions = {4: BookClosing()} if closed else {}
    lender = opened(5, treasury(), actions)
    shown = project(lender, 6)
    assert shown["assumptions"]["overhead"] == 50_000
    later = [seen.month.cash_balance for seen in months(treasury(), {}, until=11)][6:]
    assert [row["projected_cash"] for row in shown["rows"]] == later
