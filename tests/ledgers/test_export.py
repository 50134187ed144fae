"""Exports: Beancount itself accepts the file, and the table says the same as the journal."""

import csv
import datetime as dt
import io
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from beancount.core import data, realization
from beancount.loader import load_string
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from lemonade import CHART, lemonade

from ledgers.book import Book, UnknownAccount
from ledgers.chart import KINDS, Account, Chart
from ledgers.export import COLUMNS, WrongExport, beancount_names, save, to_beancount, to_csv

Anything: TypeAlias = Any
CENT = Decimal("0.01")
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


def months(tick: int) -> dt.date:
    """The first of a month; tick 0 is January 2015."""
    return dt.date(2015 + tick // 12, tick % 12 + 1, 1)


def bean_check(file: Path) -> "subprocess.CompletedProcess[str]":
    """Have the real command look at a file."""
    command = Path(sys.executable).with_name("bean-check")
    return subprocess.run([command, file], capture_output=True, text=True, check=False)


def test_a_journal_reads_as_a_beancount_file() -> None:
    """Accounts are opened, entries are transactions, balances are asserted exactly."""
    chart = Chart((Account("1000", "Cash at bank", "asset"), Account("4000", "Sales", "income")))
    book = chart.book()
    book.post(0, 'J1 sold "as is"', {"1000": 12_345_67, "4000": -12_345_67})
    book.post(2, "J2 refund", {"4000": 67, "1000": -67})
    assert to_beancount(book, chart, months, title="A stand") == (
        'option "title" "A stand"\n'
        'option "operating_currency" "USD"\n'
        "\n"
        "2015-01-01 open Assets:Cash-At-Bank USD\n"
        "2015-01-01 open Income:Sales USD\n"
        "\n"
        '2015-01-01 * "J1 sold \\"as is\\""\n'
        "  Assets:Cash-At-Bank  12345.67 USD\n"
        "  Income:Sales  -12345.67 USD\n"
        "\n"
        '2015-03-01 * "J2 refund"\n'
        "  Income:Sales  0.67 USD\n"
        "  Assets:Cash-At-Bank  -0.67 USD\n"
        "\n"
        "2015-03-02 balance Assets:Cash-At-Bank  12345.00 ~ 0 USD\n"
        "2015-03-02 balance Income:Sales  -12345.00 ~ 0 USD\n"
    )


def test_bean_check_accepts_a_journal(tmp_path: Path) -> None:
    """The command of the Beancount project finds nothing to say about our file."""
    file = tmp_path / "stand.beancount"
    save(file, to_beancount(lemonade(), CHART, months, "EUR", "Lemonade"))
    done = bean_check(file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_bean_check_sees_one_cent(tmp_path: Path) -> None:
    """The balances asserted are exact: a file in which one cent is missing is not accepted."""
    text = to_beancount(lemonade(), CHART, months)
    assert text.count("  81.01 ~ 0 USD") == 1
    file = tmp_path / "stand.beancount"
    save(file, text.replace("  81.01 ~ 0 USD", "  81.02 ~ 0 USD"))
    done = bean_check(file)
    assert done.returncode == 1
    assert "Balance failed for 'Assets:Cash-At-Bank'" in done.stderr


@settings(max_examples=50)
@given(
    names=st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(KINDS)), min_size=2, max_size=6),
    entries=st.lists(st.tuples(TEXTS, st.integers(-(10**9), 10**9)), max_size=4),
    digits=st.sampled_from([0, 2, 12]),
)
def test_beancount_reads_back_what_was_posted(
    names: list[tuple[str, str, Anything]], entries: list[tuple[str, int]], digits: int
) -> None:
    """Whatever accounts and entries are called: no error, the same texts, the same balances."""
    chart = Chart(
        Account(f"{number}{code}", name or "x", kind)
        for number, (code, name, kind) in enumerate(names)
    )
    book = chart.book(digits)
    debit, credit, *_ = chart.codes
    for time, (text, amount) in enumerate(entries):
        book.post(time, text, {debit: amount, credit: -amount})
    read, errors, _ = load_string(to_beancount(book, chart, months))
    assert errors == []
    assert [e.narration for e in read if isinstance(e, data.Transaction)] == [t for t, _ in entries]
    balances = {e.account: e.amount.number for e in read if isinstance(e, data.Balance)}
    unit = Decimal(10) ** -digits
    called = beancount_names(book, chart)
    assert balances == {called[code]: units * unit for code, units in book.balances().items()}


def test_beancount_works_out_the_same_balances() -> None:
    """Beancount's own sums over our transactions are the balances of the book."""
    book = lemonade()
    read, _, _ = load_string(to_beancount(book, CHART, months))
    accounts = realization.realize(read)
    for code, name in beancount_names(book, CHART).items():
        held = realization.get(accounts, name).balance.get_currency_units("USD").number
        assert held == book.balance(code) * CENT


def test_kinds_have_roots_and_names_are_made_plain() -> None:
    """Accents fall, other signs part words, and a name without any letter gives way to the code."""
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
    assert list(beancount_names(chart.book(), chart).values()) == [
        "Assets:Credit-A-Recevoir-Net",
        "Assets:Wear-Tear-Contra",
        "Liabilities:2nd-Loan",
        "Equity:K-4",
        "Income:Account",
        "Expenses:CoGS",
    ]


def test_names_that_would_be_one_are_told_apart() -> None:
    """The first keeps the plain name; later ones get the code, and where that is taken a number."""
    chart = Chart(
        Account(code, name, "asset")
        for code, name in (
            ("a", "Cash"),
            ("b", "cash"),
            ("c", "Cash-B"),
            ("d", "Cash D"),
            ("D", "cash!"),
            ("?", "cash?"),
        )
    )
    assert [name.partition(":")[2] for name in beancount_names(chart.book(), chart).values()] == [
        "Cash",
        "Cash-B",
        "Cash-B-C",
        "Cash-D",
        "Cash-2",
        "Cash-3",
    ]


def test_an_empty_journal_is_a_file_too(tmp_path: Path) -> None:
    """Accounts are opened on the day of tick 0 and stand at zero."""
    file = tmp_path / "empty.beancount"
    save(file, to_beancount(CHART.book(), CHART, months))
    assert bean_check(file).returncode == 0
    assert "2015-01-01 open Assets:Stand USD" in file.read_text()


@pytest.mark.parametrize("currency", ["usd", "", "U", "TRUE", "US D", "USD\n", "USD-", "A" * 25])
def test_a_currency_beancount_would_not_read_is_refused(currency: str) -> None:
    """A wrong name of a currency is found before a line is written."""
    with pytest.raises(WrongExport) as refused:
        to_beancount(lemonade(), CHART, months, currency)
    assert str(refused.value) == f"a currency is named like USD or EUR, not {currency!r}"


def test_days_are_dates() -> None:
    """A moment counts as its day; what is no date is refused."""
    book = lemonade()

    def moments(tick: int) -> dt.datetime:
        return dt.datetime.combine(months(tick), dt.time(9))

    assert to_beancount(book, CHART, moments) == to_beancount(book, CHART, months)
    assert to_csv(book, CHART, moments) == to_csv(book, CHART, months)
    no_dates: Anything = str
    with pytest.raises(WrongExport, match=r"^date\(-1\) must be a datetime.date, not '-1'$"):
        to_csv(book, CHART, no_dates)


def test_a_journal_reads_as_a_table() -> None:
    """One row a line of the journal, the amount in the column of its side."""
    table = to_csv(lemonade(), CHART, months).split("\r\n")
    assert table[:3] == [
        "time,date,entry,text,code,account,debit,credit",
        "-1,2014-12-01,1,founding,cash,Cash at bank,100.00,",
        "-1,2014-12-01,1,founding,capital,Paid-in capital,,100.00",
    ]
    assert table[3].startswith('0,2015-01-01,2,"stand bought, half of it with a loan",cash,')
    assert to_csv(lemonade(), CHART).split("\r\n")[1] == "-1,,1,founding,cash,Cash at bank,100.00,"


@given(st.lists(st.tuples(TEXTS, st.integers(-(10**40), 10**40))))
def test_a_table_reads_back_as_the_journal(entries: list[tuple[str, int]]) -> None:
    """Whatever the texts and however large the amounts, nothing is lost or rounded."""
    book = CHART.book()
    for time, (text, amount) in enumerate(entries):
        book.post(time, text, {"cash": amount, "sales": -amount})
    header, *rows = csv.reader(io.StringIO(to_csv(book, CHART), newline=""))
    assert tuple(header) == COLUMNS
    read = [
        (int(time), int(entry) - 1, text, code, cents(debit) - cents(credit))
        for time, _, entry, text, code, _, debit, credit in rows
    ]
    assert read == [
        (entry.time, entry.time, entry.text, code, amount)
        for entry in book.journal
        for code, amount in entry.amounts.items()
    ]


def cents(amount: str) -> int:
    """Read an amount with two decimals; nothing is nothing."""
    return int(amount.replace(".", "") or 0)


def test_a_file_is_written_once(tmp_path: Path) -> None:
    """A file that is there already stays as it is; line ends arrive as they were given."""
    file = tmp_path / "journal.csv"
    save(file, "é\r\n")
    assert file.read_bytes() == b"\xc3\xa9\r\n"
    with pytest.raises(WrongExport) as refused:
        save(str(file), "new")
    assert str(refused.value) == f"{file} is there already; name a new file"
    assert file.read_bytes() == b"\xc3\xa9\r\n"


@pytest.mark.parametrize("export", [to_beancount, to_csv])
def test_a_book_of_another_chart_is_refused(export: Anything) -> None:
    """An account that the chart does not know has no name to be written."""
    with pytest.raises(UnknownAccount, match=r"^no account is named 'gold'; there is cash, stand"):
        export(Book("cash", "gold"), CHART, months)
