"""Exports of a book: Beancount itself accepts the file, and the tables equal the journal."""

import csv
import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from beancount.core import data
from beancount.loader import load_string
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.lemonade import CASH, CHART, SALES, bean_check, lemonade

from ledgers.book import Book, Memo
from ledgers.chart import KINDS, Account, Chart
from ledgers.errors import WrongExport
from ledgers.export import JOURNAL_COLUMNS, beancount_names, to_beancount

Anything: TypeAlias = Any
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


def months(tick: int) -> dt.date:
    """The first of a month; tick 0 is January 2015."""
    return dt.date(2015 + tick // 12, tick % 12 + 1, 1)


def test_a_journal_reads_as_a_beancount_file() -> None:
    """Accounts are opened, entries are transactions, balances are asserted exactly."""
    chart = Chart((Account("1000", "Cash at bank", "asset"), Account("4000", "Sales", "income")))
    book = Book(*chart)
    book.post(0, 'sold "as is"', {"1000": 12_345_67, "4000": -12_345_67})
    book.post(2, Memo("refund", "J2", {"customer": "Ann"}), {"4000": 67, "1000": -67})
    assert to_beancount(book, months, title="A stand") == (
        'option "title" "A stand"\n'
        'option "operating_currency" "USD"\n'
        "\n"
        "2015-01-01 open Assets:Cash-At-Bank USD\n"
        "2015-01-01 open Income:Sales USD\n"
        "\n"
        '2015-01-01 * "sold \\"as is\\""\n'
        "  Assets:Cash-At-Bank  12345.67 USD\n"
        "  Income:Sales  -12345.67 USD\n"
        "\n"
        '2015-03-01 * "refund"\n'
        '  kind: "J2"\n'
        '  references: "{\\"customer\\":\\"Ann\\"}"\n'
        "  Income:Sales  0.67 USD\n"
        "  Assets:Cash-At-Bank  -0.67 USD\n"
        "\n"
        "2015-03-02 balance Assets:Cash-At-Bank  12345.00 ~ 0 USD\n"
        "2015-03-02 balance Income:Sales  -12345.00 ~ 0 USD\n"
    )


@examples(50)
@given(
    names=st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(KINDS)), min_size=2, max_size=6),
    entries=st.lists(st.tuples(TEXTS, st.integers(-(10**9), 10**9)), max_size=4),
    digits=st.sampled_from([0, 2, 12]),
)
def test_beancount_reads_back_what_was_posted(
    names: list[tuple[str, str, Anything]], entries: list[tuple[str, int]], digits: int
) -> None:
    """For any names and texts: no error, the same texts, the same balances."""
    chart = Chart(
        Account(f"{number}{code}", name or "x", kind)
        for number, (code, name, kind) in enumerate(names)
    )
    book = Book(*chart, digits=digits)
    debit, credit, *_ = chart.codes
    for time, (text, amount) in enumerate(entries):
        book.post(time, text, {debit: amount, credit: -amount})
    read, errors, _ = load_string(to_beancount(book, months))
    assert errors == []
    assert [e.narration for e in read if isinstance(e, data.Transaction)] == [t for t, _ in entries]
    balances = {e.account: e.amount.number for e in read if isinstance(e, data.Balance)}
    unit = Decimal(10) ** -digits
    names_ = beancount_names(book)
    assert balances == {names_[code]: units * unit for code, units in book.balances().items()}


def test_kinds_have_roots_and_names_are_made_plain() -> None:
    """Accents are dropped, other signs part words, and a code replaces a name without letters."""
    chart = Chart(
        (
            Account("1", "Crédit à recevoir, net", "asset"),
            Account("2", "wear & tear (contra)", "contra_asset"),
            Account("3", "2nd loan", "liability"),
            Account("k.4", "資本", "equity"),
            Account("-", "?!", "income"),
            Account("6", "CoGS", "expense"),
        )
    )
    assert list(beancount_names(Book(*chart)).values()) == [
        "Assets:Credit-A-Recevoir-Net",
        "Assets:Wear-Tear-Contra",
        "Liabilities:2nd-Loan",
        "Equity:K-4",
        "Income:Account",
        "Expenses:CoGS",
    ]

    """Day 0 is 2000-01-01; a tick that is no day of the calendar needs a date."""
    book = Book("a")
    book.post(-1, "opening", a=0)
    book.post(31, "later", a=0)
    text = book.export("beancount")["journal.beancount"]
    assert '1999-12-31 * "opening"' in text
    assert '2000-02-01 * "later"' in text
    book.post(10**13, "microseconds", a=0)
    with pytest.raises(WrongExport, match=r"^t=10000000000000 counted in days from 2000-01-01 is "):
        book.export("beancount")


def test_a_journal_reads_as_a_table() -> None:
    """One row a line of the journal, the amount in the column of its side."""
    table = lemonade().export("csv", months)["journal.csv"].split("\r\n")
    assert table[:3] == [
        "time,date,entry,kind,text,code,account,debit,credit,references",
        "-1,2014-12-01,1,founding,founding,cash,Cash at bank,100.00,,",
        "-1,2014-12-01,1,founding,founding,capital,Paid-in capital,,100.00,",
    ]
    assert table[3].startswith(
        '0,2015-01-01,2,purchase,"stand bought, half of it with a loan",cash'
    )
    assert table[6].endswith('J1,lemons on credit,lemons,Lemons,30.00,,"{""supplier"":""grove""}"')
    undated = lemonade().export("csv")["journal.csv"].split("\r\n")
    assert undated[1] == "-1,,1,founding,founding,cash,Cash at bank,100.00,,"


def test_a_book_without_a_chart_exports_codes(tmp_path: Path) -> None:
    """A code is then its own name; Beancount requires a root, and Equity stands for no kind."""
    book = Book("cash.berlin", Account("rent", "Rent paid", "expense"), digits=0)
    book.post(0, "rent", {"rent": 900, "cash.berlin": -900})
    file = tmp_path / "plain.beancount"
    file.write_text(book.export("beancount")["journal.beancount"], encoding="utf-8")
    assert bean_check(file) == ""
    assert list(beancount_names(book).values()) == ["Equity:Cash-Berlin", "Expenses:Rent-Paid"]
    assert book.export("csv")["trial_balance.csv"].split("\r\n")[1:3] == [
        "cash.berlin,cash.berlin,,,900",
        "rent,Rent paid,expense,900,",
    ]


@given(
    entries=st.lists(st.tuples(TEXTS, TEXTS, st.integers(-(10**40), 10**40))),
    digits=st.sampled_from([0, 2, 12]),
)
def test_a_table_reads_back_as_the_journal(
    entries: list[tuple[str, str, int]], digits: int
) -> None:
    """For any texts and amounts, nothing is lost or rounded."""
    book = Book(*CHART, digits=digits)
    for time, (text, kind, amount) in enumerate(entries):
        book.post(time, Memo(text, kind), {CASH: amount, SALES: -amount})
    header, *rows = csv.reader(io.StringIO(book.export("csv")["journal.csv"], newline=""))
    assert tuple(header) == JOURNAL_COLUMNS
    read = [
        (int(time), int(entry) - 1, kind, text, code, units(debit, digits) - units(credit, digits))
        for time, _, entry, kind, text, code, _, debit, credit, _ in rows
    ]
    assert read == [
        (entry.time, entry.time, entry.kind, entry.text, code, amount)
        for entry in book.journal
        for code, amount in entry.amounts.items()
    ]


def units(amount: str, digits: int) -> int:
    """Read an amount with that many decimals; an empty cell is zero."""
    whole, _, decimals = amount.partition(".")
    assert len(decimals) == (digits if amount else 0)
    return int((whole + decimals) or 0)


@pytest.mark.parametrize(
    ("digits", "amount", "shown"),
    [
        (0, 1234, "1234"),
        (12, 5, "0.000000000005"),
        (12, -(10**27), "-1000000000000000.000000000000"),
    ],
)
def test_bean_check_accepts_any_digits(
    tmp_path: Path, digits: int, amount: int, shown: str
) -> None:
    """Whole units, twelve decimals, and as many digits as Beancount computes with."""
    book = Book(*CHART, digits=digits)
    book.transfer(0, "sale", CASH, SALES, amount)
    file = tmp_path / "digits.beancount"
    file.write_text(book.export("beancount")["journal.beancount"], encoding="utf-8")
    assert bean_check(file) == ""
    assert f"  Assets:Cash-At-Bank  {shown} USD\n" in file.read_text(encoding="utf-8")


def test_amounts_that_beancount_would_round_are_refused() -> None:
    """The table has them to the last digit."""
    book = Book(*CHART, digits=12)
    book.transfer(0, "sale", CASH, SALES, 10**28 + 1)
    with pytest.raises(WrongExport, match=r"^the amounts sum to 29 digits and Beancount computes "):
        book.export("beancount")
    assert "10000000000000000.000000000001" in book.export("csv")["journal.csv"]
