"""The statements and dates of an episode, as `desim export` writes them."""

import datetime as dt
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from support.arena import DEBT, EQUITY, played

from models.enterprise_arena import EnterpriseArena

RICH = EnterpriseArena(opening_cash=1e9, zero_noise=True, horizon=30)
BROKE = EnterpriseArena(zero_noise=True)


def statements(
    model: EnterpriseArena, actions: Mapping[int, Any] | None = None
) -> dict[str, dict[str, dict[str, float]]]:
    """Play an episode and return its statements as figures by statement, line and column."""
    by_name = model.statements(played(model, actions, seed=3))
    return {
        name: {row["line"]: {k: v for k, v in row.items() if k != "line"} for row in rows}
        for name, rows in by_name.items()
    }


def test_there_is_a_column_for_each_year() -> None:
    """The last one ends with the last month; the balance sheet has the opening balances too."""
    tables = statements(RICH)
    ends = ["2015-12-31", "2016-12-31", "2017-06-30"]
    assert list(tables["income_statement"]["revenue"]) == ends
    assert list(tables["cash_flow"]["net_change"]) == ends
    assert list(tables["balance_sheet"]["cash"]) == ["2014-12-31", *ends]


@pytest.mark.parametrize("model", [RICH, BROKE], ids=["horizon", "bankrupt"])
def test_the_statements_articulate(model: EnterpriseArena) -> None:
    """Assets equal claims, cash flows lead from cash to cash, income and issues to equity."""
    tables = statements(model, {2: EQUITY, 8: DEBT})
    income, sheet, flows = (
        tables[name] for name in ("income_statement", "balance_sheet", "cash_flow")
    )
    columns = list(sheet["cash"])
    for before, after in pairwise(columns):
        claims = sheet["total_liabilities"][after] + sheet["total_equity"][after]
        assert sheet["total_assets"][after] == pytest.approx(claims, abs=0.001)
        assert flows["opening_cash"][after] == sheet["cash"][before]
        assert flows["closing_cash"][after] == sheet["cash"][after]
        gained = income["net_income"][after] + flows["equity_proceeds"][after]
        equity = sheet["total_equity"][after] - sheet["total_equity"][before]
        assert equity == pytest.approx(gained, abs=0.001)


@pytest.mark.parametrize(
    ("tick", "day"),
    [
        (-1, dt.date(2014, 12, 31)),
        (0, dt.date(2015, 1, 31)),
        (13, dt.date(2016, 2, 29)),
        (131, dt.date(2025, 12, 31)),
        (300, dt.date(2040, 1, 31)),
    ],
)
def test_a_tick_is_dated_by_the_last_day_of_its_month(tick: int, day: dt.date) -> None:
    """Also beyond the table, as a drawn history may be longer."""
    assert EnterpriseArena().time.date(tick) == day
