"""Statements: a declared layout, filled from a book for a period or an instant, exact in integers.

A layout is a list of lines and totals.  A line shows the sum of some accounts, or categories of
cash, with a sign; a total adds and subtracts rows above it.  A period is given by its first and
last tick, both of which belong to it whole; opening balances are those of the tick before, so that
a book whose world begins at t=0 is opened with an entry at t=-1.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from attrs import field, frozen

from ledgers.book import Book, UnknownAccount
from ledgers.journal import LedgerError, listed, unknown, written
from ledgers.views import CashView, opening

__all__ = [
    "Layout",
    "Line",
    "Statement",
    "Total",
    "WrongLayout",
    "balance_sheet",
    "cash_flow_statement",
    "income_statement",
    "movements",
    "roll_forward",
]


class WrongLayout(LedgerError):
    """A statement cannot be set as declared."""


@frozen
class Line:
    """A row that shows accounts, or categories of cash.

    Attributes:
        name: Of the row: "revenue".
        of: Codes of accounts, or categories; one may come without a tuple.
        sign: 1 shows debits positive, and cash that comes in; -1 shows credits positive.

    Raises:
        WrongLayout: The sign is neither.
    """

    name: str
    of: tuple[str, ...] = field(converter=listed)
    sign: Literal[1, -1] = 1

    def __attrs_post_init__(self) -> None:
        """Refuse a sign that would multiply."""
        if self.sign not in (1, -1):
            raise WrongLayout(f"row {self.name!r}: the sign is 1 or -1, not {self.sign!r}")


@frozen
class Total:
    """A row that adds and subtracts rows above it.

    Attributes:
        name: Of the row: "gross_profit".
        plus: Names of the rows it adds; one may come without a tuple.
        minus: Names of the rows it subtracts.
    """

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
        title: "income statement".
        rows: Lines, and totals of rows above them.

    Raises:
        WrongLayout: There is no row, a name comes twice, or a total names no row above it.
    """

    title: str
    rows: tuple[Row, ...] = field(converter=_in_order)

    def __attrs_post_init__(self) -> None:
        """Refuse rows that could not be filled."""
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
    def sources(self) -> tuple[str, ...]:
        """Every account or category that a line shows, from top to bottom."""
        return tuple(source for row in self.rows if isinstance(row, Line) for source in row.of)

    def fill(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """Work out every row from the amounts of the accounts or categories, debits positive.

        Raises:
            UnknownAccount: A line shows what has no amount.
        """
        filled: dict[str, int] = {}
        for row in self.rows:
            if isinstance(row, Line):
                filled[row.name] = row.sign * sum(_amount(amounts, source) for source in row.of)
            else:
                plus, minus = (sum(filled[name] for name in side) for side in (row.plus, row.minus))
                filled[row.name] = plus - minus
        return filled


@frozen
class Statement:
    """A filled layout: `statement["revenue"]` is in units, `statement.money()` in the currency.

    Attributes:
        title: With the period or the instant: "income statement, t=0 to t=11".
        rows: Pairs of name and integer units, from top to bottom; `dict(statement)` is their dict.
        totals: Which of the rows are totals.
        digits: Decimals of the currency that one integer unit is.
    """

    title: str
    rows: tuple[tuple[str, int], ...]
    totals: frozenset[str]
    digits: int

    def __getitem__(self, name: str) -> int:
        """Units in the row of that name.

        Raises:
            WrongLayout: There is no such row.
        """
        try:
            return dict(self.rows)[name]
        except (KeyError, TypeError):
            raise WrongLayout(f"{self.title}: {unknown('row', name, self.keys())}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        """Names of the rows, from top to bottom."""
        return tuple(name for name, _ in self.rows)

    def money(self) -> dict[str, float]:
        """The rows in the currency itself, for JSON: 1999 cents are 19.99."""
        return {name: units / 10**self.digits for name, units in self.rows}

    def __str__(self) -> str:
        """Set the rows in a table, lines indented under the edge at which totals stand."""
        lines = [
            (f"{'' if name in self.totals else '  '}{name.replace('_', ' ')}", units)
            for name, units in self.rows
        ]
        figures = [written(units, self.digits) for _, units in lines]
        name, figure = max(len(text) for text, _ in lines), max(map(len, figures))
        table = [
            f"{text:{name}}  {amount:>{figure}}"
            for (text, _), amount in zip(lines, figures, strict=True)
        ]
        return "\n".join([self.title, *table])


def movements(
    book: Book,
    since: int | None = None,
    until: int | None = None,
    *,
    without: str | Collection[str] = (),
    only: str | Collection[str] | None = None,
) -> dict[str, int]:
    """Add up the lines of a period by account; every account is there.

    Args:
        book: Whose journal is read, the period's entries alone.
        since: First tick.
        until: Last tick.
        without: Names of entries left out: the year-end close, for what a year earned.
        only: Names of the entries counted; all where it is not given.

    Raises:
        WrongTime: The period's ends are no ints, or stand in the wrong order.
    """
    moved = dict.fromkeys(book.accounts, 0)
    left_out, counted = listed(without), None if only is None else listed(only)
    span = book.journal.span(since, until)
    for entry in book.journal[span.start : span.stop]:
        if entry.name not in left_out and (counted is None or entry.name in counted):
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
    """What the accounts of *layout* gained in a period.

    Args:
        book: Whose journal is read.
        layout: Lines over income and expense accounts.
        since: First tick.
        until: Last tick.
        closings: Names of the entries of the year-end close, which earn nothing.

    Raises:
        UnknownAccount: A line shows an account that is not in the book.
        WrongTime: The period's ends are no ints, or stand in the wrong order.
    """
    gained = movements(book, since, until, without=closings)
    return _set(book, layout, layout.fill(gained), _period(since, until))


def balance_sheet(book: Book, layout: Layout, at: int | None = None) -> Statement:
    """What the accounts of *layout* hold now, or at the end of tick *at*.

    Earnings of the current year are a line over `chart.temporary` with sign -1: those accounts hold
    what was earned since the last close.

    Raises:
        UnknownAccount: A line shows an account that is not in the book.
        WrongTime: *at* is not an `int`.
    """
    when = "now" if at is None else f"t={at}"
    return _set(book, layout, layout.fill(book.balances(at)), when)


def cash_flow_statement(
    book: Book, layout: Layout, view: CashView, since: int | None = None, until: int | None = None
) -> Statement:
    """What cash did in a period, directly: the layout's rows, then opening_cash and closing_cash.

    Args:
        book: Whose journal is read.
        layout: Lines over the categories of *view*, each of which must be in one.
        view: Sorts the movements of cash.
        since: First tick; cash opens with the balance of the tick before.
        until: Last tick.

    Raises:
        WrongLayout: A category is in no line, or in two, or a row has one of these two names.
        UnknownAccount: A line shows what is no category, or cash is not in the book.
        Unclassified: A movement of cash has no category.
        WrongTime: The period's ends are no ints, or stand in the wrong order.
    """
    flows = view.flows(book, since, until)
    for category in flows:
        if (shown := layout.sources.count(category)) != 1:
            raise WrongLayout(f"{layout.title}: {category!r} is in {shown} lines, not in one")
    filled = layout.fill(flows)
    _keep_free(layout.title, filled, ("opening_cash", "closing_cash"))
    filled["opening_cash"] = opening(book, view.account, since)
    filled["closing_cash"] = book.balance(view.account, at=until)
    return _set(book, layout, filled, _period(since, until))


def roll_forward(
    book: Book,
    account: str,
    named: Mapping[str, str | Collection[str]],
    since: int | None = None,
    until: int | None = None,
    *,
    sign: Literal[1, -1] = 1,
) -> Statement:
    """How an account came from its opening balance to its closing one.

    Args:
        book: Whose journal is read.
        account: Its code.
        named: Row by row, the names of the entries it adds up: {"provision": "J12", ...}.  What
            they leave unexplained shows in a row "unexplained", which should be zero.
        since: First tick.
        until: Last tick.
        sign: -1 shows credits positive.

    Raises:
        WrongLayout: A row is named like one of the three that are always there.
        UnknownAccount: *account* is not in the book.
        WrongTime: The period's ends are no ints, or stand in the wrong order.
    """
    _keep_free(account, named, ("opening", "unexplained", "closing"))
    closing = book.balance(account, at=until)
    rows = {"opening": opening(book, account, since)}
    for row, names in named.items():
        rows[row] = movements(book, since, until, only=names)[account]
    rows["unexplained"] = closing - sum(rows.values())
    rows["closing"] = closing
    shown = tuple((row, sign * units) for row, units in rows.items())
    title = f"{account}, {_period(since, until)}"
    return Statement(title, shown, frozenset({"opening", "closing"}), book.digits)


def _keep_free(title: str, rows: Collection[str], names: Collection[str]) -> None:
    for name in names:
        if name in rows:
            raise WrongLayout(f"{title}: row {name!r} is added to every such statement")


def _amount(amounts: Mapping[str, int], source: str) -> int:
    if source not in amounts:
        raise UnknownAccount(unknown("account or category", source, amounts))
    return amounts[source]


def _set(book: Book, layout: Layout, filled: Mapping[str, int], when: str) -> Statement:
    lines = {row.name for row in layout.rows if isinstance(row, Line)}
    totals = frozenset(name for name in filled if name not in lines)
    return Statement(f"{layout.title}, {when}", tuple(filled.items()), totals, book.digits)


def _period(since: int | None, until: int | None) -> str:
    begin = "the beginning" if since is None else f"t={since}"
    return f"{begin} to {'now' if until is None else f't={until}'}"
