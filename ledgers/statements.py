"""Statements: a declared layout, filled from a book for a period or an instant, exact in integers.

A period is given by its first and last tick, both included whole. Opening balances are those of
the tick before, so a book whose world begins at t=0 is opened with an entry at t=-1.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from attrs import frozen

from ledgers.accounts import grouped
from ledgers.book import Book
from ledgers.errors import listed, unknown
from ledgers.layout import Layout, Line, Total, WrongLayout
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
    "side_by_side",
]


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
        """Return the units in the row of that name.

        Raises:
            WrongLayout: The statement lacks a row of that name.
        """
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
        lines = [
            (f"{'' if name in self.totals else '  '}{name.replace('_', ' ')}", units)
            for name, units in self.rows
        ]
        figures = [grouped(units, self.digits) for _, units in lines]
        name, figure = max(len(text) for text, _ in lines), max(map(len, figures))
        table = [
            f"{text:{name}}  {amount:>{figure}}"
            for (text, _), amount in zip(lines, figures, strict=True)
        ]
        return "\n".join([self.title, *table])


def side_by_side(columns: Mapping[str, Statement]) -> list[dict[str, Any]]:
    """Return a row for each line of the last statement, with a column for each statement.

    Args:
        columns: The statements by the name of their column; an earlier one may lack lines.

    Returns:
        Rows with the line's name under "line" and an amount in the currency under each column, 0
        where a statement lacks the line.
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

    Args:
        book: The book whose journal is read.
        since: First tick.
        until: Last tick.
        without: Kinds of entries left out: the year-end close, for the earnings of a year.
        only: Kinds of entries counted; None counts all.

    Raises:
        WrongTime: An end of the period is not an `int`, or the last is before the first.
    """
    moved = dict.fromkeys(book.accounts, 0)
    left_out, counted = listed(without), None if only is None else listed(only)
    for (_, _, amounts), memo in book.journal.cells(since, until):
        kind = "" if memo is None else memo.kind
        if kind not in left_out and (counted is None or kind in counted):
            for account, amount in amounts.items():
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

    Args:
        book: The book whose journal is read.
        layout: Lines over income and expense accounts.
        since: First tick.
        until: Last tick.
        closings: Kinds of the entries of the year-end close, which are left out.

    Raises:
        UnknownAccount: A line shows an account that is not in the book.
        WrongTime: An end of the period is not an `int`, or the last is before the first.
    """
    gained = movements(book, since, until, without=closings)
    return _set(book, layout, layout.fill(gained), _period(since, until))


def balance_sheet(book: Book, layout: Layout, at: int | None = None) -> Statement:
    """Return the balances of the accounts of *layout* now, or at the end of tick *at*.

    Earnings of the current year are a line over `chart.temporary` with sign -1: those accounts hold
    the earnings since the last close.

    Raises:
        UnknownAccount: A line shows an account that is not in the book.
        WrongTime: *at* is not an `int`.
    """
    when = "now" if at is None else f"t={at}"
    return _set(book, layout, layout.fill(book.balances(at)), when)


def cash_flow_statement(
    book: Book, layout: Layout, view: CashView, since: int | None = None, until: int | None = None
) -> Statement:
    """Return the direct cash-flow statement of a period.

    The rows of *layout* come first, then opening_cash and closing_cash.

    Args:
        book: The book whose journal is read.
        layout: Lines over the categories of *view*; each category is in exactly one.
        view: Assigns categories to the movements of cash.
        since: First tick; cash opens with the balance of the tick before.
        until: Last tick.

    Raises:
        WrongLayout: A category is in no line, or in two, or a row has one of these two names.
        UnknownAccount: A line shows an unknown category, or the cash account is not in the book.
        Unclassified: A movement of cash has no category.
        WrongTime: An end of the period is not an `int`, or the last is before the first.
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
    kinds: Mapping[str, str | Collection[str]],
    since: int | None = None,
    until: int | None = None,
    *,
    sign: Literal[1, -1] = 1,
) -> Statement:
    """Return the movements of an account from its opening balance to its closing balance.

    Args:
        book: The book whose journal is read.
        account: Code of the account.
        kinds: For each row, the kinds of the entries it sums: {"provision": "J12", ...}. The
            movements of all other entries are in a row "unexplained", which should be zero.
        since: First tick.
        until: Last tick.
        sign: -1 shows credits positive.

    Raises:
        WrongLayout: A row has the name of one of the three that are always present.
        UnknownAccount: *account* is not in the book.
        WrongTime: An end of the period is not an `int`, or the last is before the first.
    """
    _keep_free(account, kinds, ("opening", "unexplained", "closing"))
    closing = book.balance(account, at=until)
    rows = {"opening": opening(book, account, since)}
    for row, of in kinds.items():
        rows[row] = movements(book, since, until, only=of)[account]
    rows["unexplained"] = closing - sum(rows.values())
    rows["closing"] = closing
    shown = tuple((row, sign * units) for row, units in rows.items())
    title = f"{account}, {_period(since, until)}"
    return Statement(title, shown, frozenset({"opening", "closing"}), book.digits)


def _keep_free(title: str, rows: Collection[str], names: Collection[str]) -> None:
    for name in names:
        if name in rows:
            raise WrongLayout(f"{title}: row {name!r} is added to every such statement")


def _set(book: Book, layout: Layout, filled: Mapping[str, int], when: str) -> Statement:
    lines = {row.name for row in layout.rows if isinstance(row, Line)}
    totals = frozenset(name for name in filled if name not in lines)
    return Statement(f"{layout.title}, {when}", tuple(filled.items()), totals, book.digits)


def _period(since: int | None, until: int | None) -> str:
    begin = "the beginning" if since is None else f"t={since}"
    return f"{begin} to {'now' if until is None else f't={until}'}"
