"""The statements that follow from a chart alone: a line for each account, totals by kind."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ledgers.articulation import Reports
from ledgers.book import Book
from ledgers.chart import Chart
from ledgers.statements import Layout, Line, Statement, Total, side_by_side
from ledgers.views import CashView


def standard_reports(
    chart: Chart, cash: str, flows: Mapping[str, Sequence[str]], **declared: Any
) -> Reports:
    """Return the reports of a company whose statements have one line for each account.

    Args:
        chart: Its accounts; at least one of each kind but contra assets.
        cash: The code of the cash account.
        flows: Kinds of entries by section of the cash-flow statement: each kind is a line of it.
        **declared: `closings`, `contributions` and `rolls`, as for `Reports`.
    """
    sections: list[Line | Total] = []
    for name, kinds in flows.items():
        sections += [*_lines(kinds), Total(name, tuple(kinds))]
    return Reports(
        chart=chart,
        income=Layout("income statement", _income(chart)),
        position=Layout("balance sheet", _position(chart)),
        flows=Layout("cash-flow statement", (*sections, Total("net_change", tuple(flows)))),
        cash=CashView(cash, {kind: kind for kinds in flows.values() for kind in kinds}),
        **declared,
    )


def by_period(
    reports: Reports, book: Book, periods: Mapping[str, tuple[int, int]], opening: int
) -> dict[str, list[dict[str, Any]]]:
    """Return the three statements as tables with a column for each period.

    Args:
        reports: The company's reports.
        book: Its book.
        periods: First and last tick by the name of the column, in order.
        opening: The tick of the opening balances, which are the first column of the balance sheet.
    """
    income, flows = (
        {name: statement(book, *ticks) for name, ticks in periods.items()}
        for statement in (reports.income_statement, reports.cash_flow_statement)
    )
    ends = {"opening": opening, **{name: last for name, (_, last) in periods.items()}}
    sheets: dict[str, Statement] = {
        name: reports.balance_sheet(book, tick) for name, tick in ends.items()
    }
    return {
        "income_statement": side_by_side(income),
        "balance_sheet": side_by_side(sheets),
        "cash_flow": side_by_side(flows),
    }


def _lines(codes: Sequence[str], sign: Literal[1, -1] = 1) -> list[Line]:
    return [Line(code, code, sign) for code in codes]


def _income(chart: Chart) -> list[Line | Total]:
    income, costs = chart.of("income"), chart.of("expense")
    return [
        *_lines(income, -1),
        Total("income", income),
        *_lines(costs),
        Total("costs", costs),
        Total("net_income", "income", "costs"),
    ]


def _position(chart: Chart) -> list[Line | Total]:
    assets, debts = chart.of("asset", "contra_asset"), chart.of("liability")
    equity = chart.of("equity")
    return [
        *_lines(assets),
        Total("total_assets", assets),
        *_lines(debts, -1),
        Total("total_liabilities", debts),
        *_lines(equity, -1),
        Line("current_year_earnings", chart.temporary, -1),
        Total("total_equity", (*equity, "current_year_earnings")),
    ]
