"""Articulation: whether the statements of a book agree with each other and with the journal.

Every check compares two figures that are computed in different ways. It fails when an account is in
no line of a statement, an entry moves an account that its kind may not move, or a year-end close is
not declared.
"""

from collections.abc import Iterator, Mapping

from attrs import field, frozen

from ledgers.book import Book
from ledgers.chart import Chart
from ledgers.errors import listed
from ledgers.statements import Reports, movements


@frozen
class Articulation:
    """What must agree in the books of a company.

    Attributes:
        reports: Its statements.
        chart: Its accounts.
        contributions: Kinds of the entries by which owners pay in or take out.
        rolls: By account, the kinds of the only entries that may move it.
    """

    reports: Reports
    chart: Chart
    contributions: tuple[str, ...] = field(default=(), converter=listed)
    rolls: Mapping[str, tuple[str, ...]] = field(factory=dict)

    def faults(self, book: Book, since: int, until: int, year: int | None = None) -> list[str]:
        """Return a sentence for everything that does not articulate from *since* to *until*.

        Given *year*, the first tick of the year in which the period ends, current-year earnings
        are compared with the income statement since then.
        """
        return [
            *_entries(book, since, until),
            *self._position(book, until, year),
            *self._cash(book, since, until),
            *self._equity(book, since, until),
            *self._rolls(book, since, until),
        ]

    def _position(self, book: Book, until: int, year: int | None) -> Iterator[str]:
        sheet = self.reports.balance_sheet(book, until)
        owed = sheet["total_liabilities"] + sheet["total_equity"]
        if (owned := sheet["total_assets"]) != owed:
            yield f"{sheet.title}: assets are {owned}, liabilities and equity {owed}"
        if year is not None:
            earned = self.reports.income_statement(book, year, until)["net_income"]
            if (shown := sheet["current_year_earnings"]) != earned:
                yield (
                    f"{sheet.title}: current-year earnings are {shown}, "
                    f"net income since t={year} is {earned}"
                )

    def _cash(self, book: Book, since: int, until: int) -> Iterator[str]:
        flows = self.reports.cash_flow_statement(book, since, until)
        change = flows["closing_cash"] - flows["opening_cash"]
        moved = movements(book, since, until)[self.reports.cash.account]
        if not flows["net_change"] == change == moved:
            yield (
                f"{flows.title}: net change is {flows['net_change']}, cash changed by {change}, "
                f"its lines sum to {moved}"
            )

    def _equity(self, book: Book, since: int, until: int) -> Iterator[str]:
        sheets = (self.reports.balance_sheet(book, at) for at in (since - 1, until))
        before, after = (sheet["total_equity"] for sheet in sheets)
        paid = movements(book, since, until, only=self.contributions)
        contributed = -sum(paid[account] for account in self.chart.of("equity"))
        earned = self.reports.income_statement(book, since, until)["net_income"]
        if after - before != contributed + earned:
            yield (
                f"t={since} to t={until}: equity changed by {after - before}, but contributions "
                f"are {contributed} and net income is {earned}"
            )

    def _rolls(self, book: Book, since: int, until: int) -> Iterator[str]:
        for account, kinds in self.rolls.items():
            if other := movements(book, since, until, without=kinds)[account]:
                yield (
                    f"{account}, t={since} to t={until}: {other} came from other entries than "
                    f"{', '.join(kinds)}"
                )


def _entries(book: Book, since: int, until: int) -> Iterator[str]:
    span = book.journal.span(since, until)
    for entry in book.journal[span.start : span.stop]:
        if total := sum(entry.amounts.values()):
            yield f"entry {entry.text!r} at t={entry.time} sums to {total}, not to zero"
