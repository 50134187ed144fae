"""Statements: what a layout accepts, and what it shows of a book."""

import json
from typing import Any, TypeAlias

import pytest
from support.lemonade import (
    CASH,
    CASH_VIEW,
    CHART,
    FLOWS,
    INCOME,
    LEMONS,
    POSITION,
    lemonade,
)

from ledgers.book import Book
from ledgers.statements import (
    Layout,
    Line,
    Total,
    WrongLayout,
    balance_sheet,
    cash_flow_statement,
    income_statement,
    movements,
)
from ledgers.views import CashView

Anything: TypeAlias = Any


@pytest.fixture
def book() -> Book:
    """Return the books of the lemonade stand."""
    return lemonade()


def test_an_income_statement_shows_a_period(book: Book) -> None:
    """Income and expenses are positive, totals add and subtract rows above them."""
    assert dict(income_statement(book, INCOME, 0, 0)) == {
        "sales": 50_25,
        "lemons": 30_00,
        "gross_profit": 20_25,
        "depreciation": 0,
        "net_income": 20_25,
    }
    assert income_statement(book, INCOME, 0, 1)["net_income"] == 25_00


def test_a_balance_sheet_shows_an_instant(book: Book) -> None:
    """Current-year earnings are what income and expenses hold; the close moves them."""
    before, after = balance_sheet(book, POSITION, 1), balance_sheet(book, POSITION)
    assert dict(before) == {
        "cash": 90_00,
        "stand": 75_00,
        "total_assets": 165_00,
        "bills": 0,
        "loan": 40_00,
        "total_liabilities": 40_00,
        "capital": 100_00,
        "retained_earnings": 0,
        "current_year_earnings": 25_00,
        "total_equity": 125_00,
    }
    assert (after["retained_earnings"], after["current_year_earnings"]) == (25_00, 1_01)


def test_a_cash_flow_statement_ends_with_cash(book: Book) -> None:
    """Rows by category, then the balances of cash before and after the period."""
    assert dict(cash_flow_statement(book, FLOWS, CASH_VIEW, 0, 1)) == {
        "received": 60_00,
        "paid": -30_00,
        "operating": 30_00,
        "investing": -40_00,
        "financing": 0,
        "net_change": -10_00,
        "opening_cash": 100_00,
        "closing_cash": 90_00,
    }
    whole = cash_flow_statement(book, FLOWS, CASH_VIEW)
    assert (whole["opening_cash"], whole["net_change"]) == (0, whole["closing_cash"])


def test_a_statement_reads_as_a_table(book: Book) -> None:
    """Lines are indented, totals are not, and figures are right-aligned with all their digits."""
    assert str(cash_flow_statement(book, FLOWS, CASH_VIEW, 0, 1)).splitlines() == [
        "cash flow statement, t=0 to t=1",
        "  received     60.00",
        "  paid        -30.00",
        "operating      30.00",
        "  investing   -40.00",
        "  financing     0.00",
        "net change    -10.00",
        "opening cash  100.00",
        "closing cash   90.00",
    ]


def test_money_is_in_the_currency_and_goes_into_json(book: Book) -> None:
    """Units are divided once, so each figure is the nearest float."""
    money = income_statement(book, INCOME, 0, 0).money()
    assert json.loads(json.dumps(money)) == {
        "sales": 50.25,
        "lemons": 30.0,
        "gross_profit": 20.25,
        "depreciation": 0.0,
        "net_income": 20.25,
    }


def test_movements_leave_out_and_pick_entries_by_kind(book: Book) -> None:
    """A kind without a tuple is one kind, not its letters, and the whole of it must match."""
    assert movements(book, 2, 2, only="L1")[CASH] == -10_00
    assert movements(book, 0, 2, without=("sale", "purchase"))[CASH] == -40_00
    assert movements(book, 0, 1, only="J")[LEMONS] == 0
    assert tuple(movements(book, only=())) == CHART.codes


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ((), "x: declare at least one row"),
        ((Line("a", CASH), Line("a", LEMONS)), "x: row 'a' comes twice"),
        (
            (Line("sales", "sales"), Total("net", "sale")),
            "x: total 'net': no row above it is named 'sale'; did you mean 'sales'?",
        ),
        (
            (Line("a", CASH), Total("net", (), "net")),
            "x: total 'net': no row above it is named 'net'; there is a",
        ),
    ],
)
def test_a_layout_must_be_fillable(rows: Anything, sentence: str) -> None:
    """A layout that no book can fill is refused when it is declared."""
    with pytest.raises(WrongLayout) as refused:
        Layout("x", rows)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([Line("a", "A")], "x: 'B' is in 0 lines, not in one"),
        ([Line("a", ("A", "B")), Line("b", "B")], "x: 'B' is in 2 lines, not in one"),
        (
            [Line("opening_cash", ("A", "B"))],
            "x: row 'opening_cash' is added to every such statement",
        ),
    ],
)
def test_every_category_is_in_one_line(book: Book, rows: list[Line], sentence: str) -> None:
    """A cash-flow statement that would omit or double a flow is refused."""
    view = CashView(CASH, {"sale": "A", "L1": "B"})
    with pytest.raises(WrongLayout) as refused:
        cash_flow_statement(book, Layout("x", rows), view, 2, 2)
    assert str(refused.value) == sentence
