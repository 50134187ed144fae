"""Articulation: whether the statements of a book agree with each other and with the journal.

Every check compares two figures that are computed in different ways. A check fails when an account
is in no line of a statement, an entry moves an account that its kind may not move, or a year-end
close is not declared.
"""

from collections.abc import Collection, Iterator, Mapping

from attrs import field, frozen

from ledgers.book import Book
from ledgers.chart import Chart
from ledgers.errors import listed
from ledgers.statements import (
    Layout,
    Statement,
    balance_sheet,
    cash_flow_statement,
    income_statement,
    movements,
    roll_forward,
)
from ledgers.views import CashView


def _rolls_of(given: Mapping[str, str | Collection[str]]) -> dict[str, tuple[str, ...]]:
    return {account: listed(kinds) for account, kinds in given.items()}


@frozen
class Reports:
    """Declaration of a company's reports: chart, layouts and cash view.

    Attributes:
        chart: Its accounts.
        income: Layout of the income statement, with a row net_income.
        position: Layout of the balance sheet, with rows total_assets, total_liabilities,
            total_equity and current_year_earnings.
        flows: Layout of the cash-flow statement, with a row net_change.
        cash: Assigns the categories of that layout to the movements of cash.
        closings: Kinds of the entries of the year-end close.
        contributions: Kinds of the entries by which owners pay in or take out.
        rolls: By account, the kinds of the only entries that may move it.
    """

    chart: Chart
    income: Layout
    position: Layout
    flows: Layout
    cash: CashView
    closings: tuple[str, ...] = field(default=(), converter=listed)
    contributions: tuple[str, ...] = field(default=(), converter=listed)
    rolls: Mapping[str, tuple[str, ...]] = field(factory=dict, converter=_rolls_of)

    def income_statement(
        self, book: Book, since: int | None = None, until: int | None = None
    ) -> Statement:
        """Return the income statement of a period, without closing entries."""
        return income_statement(book, self.income, since, until, closings=self.closings)

    def balance_sheet(self, book: Book, at: int | None = None) -> Statement:
        """Return the balance sheet now, or at the end of tick *at*."""
        return balance_sheet(book, self.position, at)

    def cash_flow_statement(
        self, book: Book, since: int | None = None, until: int | None = None
    ) -> Statement:
        """Return the cash-flow statement of a period."""
        return cash_flow_statement(book, self.flows, self.cash, since, until)


def faults(
    reports: Reports, book: Book, since: int, until: int, year: int | None = None
) -> list[str]:
    """Return a sentence for everything that does not articulate from *since* to *until*.

    Args:
        reports: How the company reports.
        book: Its book.
        since: First tick of the period, usually a month.
        until: Last tick of the period.
        year: First tick of the year in which the period ends; given it, current-year earnings are
            compared with the income statement since then.

    Returns:
        One sentence for each fault; the list is empty if the statements articulate.

    Raises:
        WrongLayout: A layout lacks a row that is compared.
        LedgerError: As the statements do.
    """
    return [
        *_entries(book, since, until),
        *_position(reports, book, until, year),
        *_cash(reports, book, since, until),
        *_equity(reports, book, since, until),
        *_rolls(reports, book, since, until),
    ]


def _entries(book: Book, since: int, until: int) -> Iterator[str]:
    for (time, text, amounts), _ in book.journal.cells(since, until):
        if total := sum(amounts.values()):
            yield f"entry {text!r} at t={time} sums to {total}, not to zero"


def _position(reports: Reports, book: Book, until: int, year: int | None) -> Iterator[str]:
    sheet = reports.balance_sheet(book, until)
    owed = sheet["total_liabilities"] + sheet["total_equity"]
    if sheet["total_assets"] != owed:
        yield f"{sheet.title}: assets are {sheet['total_assets']}, liabilities and equity {owed}"
    if year is not None:
        earned = reports.income_statement(book, year, until)["net_income"]
        if sheet["current_year_earnings"] != earned:
            yield (
                f"{sheet.title}: current-year earnings are {sheet['current_year_earnings']}, "
                f"net income since t={year} is {earned}"
            )


def _cash(reports: Reports, book: Book, since: int, until: int) -> Iterator[str]:
    flows = reports.cash_flow_statement(book, since, until)
    change = flows["closing_cash"] - flows["opening_cash"]
    moved = movements(book, since, until)[reports.cash.account]
    if not flows["net_change"] == change == moved:
        yield (
            f"{flows.title}: net change is {flows['net_change']}, cash changed by {change}, "
            f"its lines sum to {moved}"
        )


def _equity(reports: Reports, book: Book, since: int, until: int) -> Iterator[str]:
    before, after = (reports.balance_sheet(book, at)["total_equity"] for at in (since - 1, until))
    paid = movements(book, since, until, only=reports.contributions)
    contributed = -sum(paid[account] for account in reports.chart.of("equity"))
    earned = reports.income_statement(book, since, until)["net_income"]
    if after - before != contributed + earned:
        yield (
            f"t={since} to t={until}: equity changed by {after - before}, but contributions are "
            f"{contributed} and net income is {earned}"
        )


def _rolls(reports: Reports, book: Book, since: int, until: int) -> Iterator[str]:
    for account, kinds in reports.rolls.items():
        roll = roll_forward(book, account, {"declared": kinds}, since, until)
        if roll["unexplained"]:
            yield (
                f"{roll.title}: {roll['unexplained']} came from other entries than "
                f"{', '.join(kinds)}"
            )
