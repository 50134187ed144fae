"""Statements: a declared layout, filled from a book for a period or an instant, exact in integers.

A period is given by its first and last tick, both included whole. Opening balances are those of
the tick before, so a book whose world begins at t=0 is opened with an entry at t=-1. A period that
cannot be raises `WrongTime`, an account or category that is lacking `UnknownAccount`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from ledgers.book import Book, UnknownAccount
from ledgers.chart import Chart, grouped
from ledgers.errors import LedgerError, listed, unknown
from ledgers.views import CashView, opening


class WrongLayout(LedgerError):
    """A statement cannot be computed as declared."""


@frozen
class Line:
    """A row with the sum of some accounts, or of some categories of cash.

    Attributes:
        name: Name of the row: "revenue".
        of: Codes of accounts, or categories; a single one may be given without a tuple.
        sign: 1 shows debits, and cash received, as positive; -1 shows credits as positive.

    Raises:
        WrongLayout: *sign* is neither.
    """

    name: str
    of: tuple[str, ...] = field(converter=listed)
    sign: Literal[1, -1] = 1

    def __attrs_post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise WrongLayout(f"row {self.name!r}: the sign is 1 or -1, not {self.sign!r}")


@frozen
class Total:
    """A row that adds the rows named in *plus* and subtracts those in *minus*, all above it."""

    name: str
    plus: tuple[str, ...] = field(converter=listed)
    minus: tuple[str, ...] = field(default=(), converter=listed)


Row: TypeAlias = Line | Total


def _in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(rows)


@frozen
class Layout:
    """The rows of a statement, from top to bottom.

    Attributes:
        title: Title of the statement: "income statement".
        rows: Lines, and totals of rows above them.

    Raises:
        WrongLayout: The layout is empty, a name is used twice, or a total names a row that is not
            above it.
    """

    title: str
    rows: tuple[Row, ...] = field(converter=_in_order)

    def __attrs_post_init__(self) -> None:
        above: list[str] = []
        if not self.rows:
            raise WrongLayout(f"{self.title}: declare at least one row")
        for row in self.rows:
            if row.name in above:
                raise WrongLayout(f"{self.title}: row {row.name!r} comes twice")
            for name in (*row.plus, *row.minus) if isinstance(row, Total) else ():
                if name not in above:
                    raise WrongLayout(
                        f"{self.title}: total {row.name!r}: {unknown('row above it', name, above)}"
                    )
            above.append(row.name)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The rows except totals."""
        return tuple(row for row in self.rows if isinstance(row, Line))

    def fill(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """Return every row's units from amounts by account or category, debits positive."""
        filled: dict[str, int] = {}
        for row in self.rows:
            if isinstance(row, Line):
                filled[row.name] = row.sign * sum(_amount(amounts, source) for source in row.of)
            else:
                plus, minus = (sum(filled[name] for name in side) for side in (row.plus, row.minus))
                filled[row.name] = plus - minus
        return filled


def _amount(amounts: Mapping[str, int], source: str) -> int:
    if source not in amounts:
        raise UnknownAccount(unknown("account or category", source, amounts))
    return amounts[source]


@frozen
class Statement:
    """A filled layout: `statement["revenue"]` is in units, `statement.money()` in the currency.

    Attributes:
        title: Title with the period or the instant: "income statement, t=0 to t=11".
        rows: Pairs of name and integer units, from top to bottom; `dict(statement)` is their dict.
        totals: Which of the rows are totals.
        digits: Decimals of the currency that one integer unit is.
    """

    title: str
    rows: tuple[tuple[str, int], ...]
    totals: frozenset[str]
    digits: int

    def __getitem__(self, name: str) -> int:
        """Return the units in the row of that name, or raise `WrongLayout`."""
        try:
            return dict(self.rows)[name]
        except (KeyError, TypeError):
            raise WrongLayout(f"{self.title}: {unknown('row', name, self.keys())}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        """Return the names of the rows, from top to bottom."""
        return tuple(name for name, _ in self.rows)

    def money(self) -> dict[str, float]:
        """Return the rows in the currency itself, for JSON: 1999 cents are 19.99."""
        return {name: units / 10**self.digits for name, units in self.rows}

    def __str__(self) -> str:
        """Return a table in the currency; lines are indented, totals are not."""
        names = [f"{'' if name in self.totals else '  '}{name.replace('_', ' ')}" for name in self]
        figures = [grouped(units, self.digits) for _, units in self.rows]
        left, right = max(map(len, names)), max(map(len, figures))
        rows = zip(names, figures, strict=True)
        return "\n".join([self.title, *(f"{n:{left}}  {figure:>{right}}" for n, figure in rows)])


def side_by_side(columns: Mapping[str, Statement]) -> list[dict[str, Any]]:
    """Return a row for each line of the last statement, with a column for each statement.

    The line's name is under "line"; amounts are in the currency, 0 where a line lacks.
    """
    money = {name: statement.money() for name, statement in columns.items()}
    lines = list(money.values())[-1] if money else {}
    return [
        {"line": line, **{name: one.get(line, 0.0) for name, one in money.items()}}
        for line in lines
    ]


def movements(
    book: Book,
    since: int | None = None,
    until: int | None = None,
    *,
    without: str | Collection[str] = (),
    only: str | Collection[str] | None = None,
) -> dict[str, int]:
    """Return the sum of a period's lines by account; an account without a line is 0.

    Entries of the kinds *without* are left out; None for *only* counts all others.
    """
    moved = dict.fromkeys(book.accounts, 0)
    left_out, counted = listed(without), None if only is None else listed(only)
    span = book.journal.span(since, until)
    for entry in book.journal[span.start : span.stop]:
        if entry.kind not in left_out and (counted is None or entry.kind in counted):
            for account, amount in entry.amounts.items():
                moved[account] += amount
    return moved


def income_statement(
    book: Book,
    layout: Layout,
    since: int | None = None,
    until: int | None = None,
    *,
    closings: str | Collection[str] = (),
) -> Statement:
    """Return the changes of the accounts of *layout* in a period.

    *closings* are kinds of the entries of the year-end close, which are left out.
    """
    gained = movements(book, since, until, without=closings)
    return _set(book, layout, layout.fill(gained), _period(since, until))


def balance_sheet(book: Book, layout: Layout, at: int | None = None) -> Statement:
    """Return the balances of the accounts of *layout* now, or at the end of tick *at*.

    Earnings of the current year are a line over `chart.temporary` with sign -1: those accounts hold
    the earnings since the last close.
    """
    when = "now" if at is None else f"t={at}"
    return _set(book, layout, layout.fill(book.balances(at)), when)


def cash_flow_statement(
    book: Book, layout: Layout, view: CashView, since: int | None = None, until: int | None = None
) -> Statement:
    """Return the direct cash-flow statement of a period.

    The rows of *layout* come first, then opening_cash and closing_cash.

    Raises:
        WrongLayout: A category is in no line, or in two, or a row has one of these two names.
        Unclassified: A movement of cash has no category.
    """
    flows = view.flows(book, since, until)
    shown = [source for line in layout.lines for source in line.of]
    for category in flows:
        if (times := shown.count(category)) != 1:
            raise WrongLayout(f"{layout.title}: {category!r} is in {times} lines, not in one")
    filled = layout.fill(flows)
    balances = {
        "opening_cash": opening(book, view.account, since),
        "closing_cash": book.balance(view.account, at=until),
    }
    for name in filled.keys() & balances:
        raise WrongLayout(f"{layout.title}: row {name!r} is added to every such statement")
    return _set(book, layout, filled | balances, _period(since, until))


def _set(book: Book, layout: Layout, filled: Mapping[str, int], when: str) -> Statement:
    totals = frozenset(filled) - {line.name for line in layout.lines}
    return Statement(f"{layout.title}, {when}", tuple(filled.items()), totals, book.digits)


def _period(since: int | None, until: int | None) -> str:
    begin = "the beginning" if since is None else f"t={since}"
    return f"{begin} to {'now' if until is None else f't={until}'}"


@frozen
class Reports:
    """Declaration of a company's three statements.

    Attributes:
        income: Layout of the income statement, with a row net_income.
        position: Layout of the balance sheet, with rows total_assets, total_liabilities,
            total_equity and current_year_earnings.
        flows: Layout of the cash-flow statement, with a row net_change.
        cash: Assigns the categories of that layout to the movements of cash.
        closings: Kinds of the entries of the year-end close.
    """

    income: Layout
    position: Layout
    flows: Layout
    cash: CashView
    closings: tuple[str, ...] = field(default=(), converter=listed)

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

    def by_period(
        self, book: Book, periods: Mapping[str, tuple[int, int]], opening: int
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the three statements as tables with a column for each period.

        *periods* has first and last ticks by column; *opening* is the tick of the first column of
        the balance sheet.
        """
        ends = {"opening": opening, **{name: last for name, (_, last) in periods.items()}}
        income = {name: self.income_statement(book, *ticks) for name, ticks in periods.items()}
        flows = {name: self.cash_flow_statement(book, *ticks) for name, ticks in periods.items()}
        return {
            "income_statement": side_by_side(income),
            "balance_sheet": side_by_side(
                {n: self.balance_sheet(book, t) for n, t in ends.items()}
            ),
            "cash_flow": side_by_side(flows),
        }


def standard_reports(
    chart: Chart, cash: str, flows: Mapping[str, Sequence[str]], closings: Sequence[str] = ()
) -> Reports:
    """Return the reports of a company whose statements have one line for each account.

    The chart has at least one account of each kind but contra assets. *flows* has kinds of entries
    by section of the cash-flow statement: each kind is a line of it.
    """
    income, costs = chart.of("income"), chart.of("expense")
    assets, debts = chart.of("asset", "contra_asset"), chart.of("liability")
    equity = chart.of("equity")
    sections: list[Row] = []
    for name, kinds in flows.items():
        sections += [*_lines(kinds), Total(name, tuple(kinds))]
    earnings: list[Row] = [
        *_lines(income, -1),
        Total("income", income),
        *_lines(costs),
        Total("costs", costs),
        Total("net_income", "income", "costs"),
    ]
    position: list[Row] = [
        *_lines(assets),
        Total("total_assets", assets),
        *_lines(debts, -1),
        Total("total_liabilities", debts),
        *_lines(equity, -1),
        Line("current_year_earnings", chart.temporary, -1),
        Total("total_equity", (*equity, "current_year_earnings")),
    ]
    return Reports(
        Layout("income statement", earnings),
        Layout("balance sheet", position),
        Layout("cash-flow statement", (*sections, Total("net_change", tuple(flows)))),
        CashView(cash, {kind: kind for kinds in flows.values() for kind in kinds}),
        closings,
    )


def _lines(codes: Sequence[str], sign: Literal[1, -1] = 1) -> list[Line]:
    return [Line(code, code, sign) for code in codes]
