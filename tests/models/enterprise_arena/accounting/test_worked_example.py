"""The worked examples: every entry, balance, statement and figure of months without noise."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.arena import Seen, months, played

from ledgers.book import Entry
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest, Pass
from models.enterprise_arena.lender import Lender, TermLoan
from models.enterprise_arena.processes import chargeoff_rate
from models.enterprise_arena.statements import REPORTS

#: What fourteen months of rounding may add up to (SPEC section 19), cents.
TOLERANCE = 5
EXAMPLES = pytest.mark.traces("enterprise_arena/worked_example*.json")

#: Parameters under another name or in another form than the model's.
_OTHERWISE = ("profile", "collection_rate", "paid_in_capital")


def load(trace: Path) -> dict[str, Any]:
    """Read an example."""
    example: dict[str, Any] = json.loads(trace.read_text(encoding="utf-8"))
    return example


def example_model(example: dict[str, Any], **changes: Any) -> EnterpriseArena:
    """Build the example's model."""
    expected = example["parameters"]
    same = {name: value for name, value in expected.items() if name not in _OTHERWISE}
    return EnterpriseArena.preset(
        expected["profile"],
        **{
            **same,
            "collection_base": expected["collection_rate"],
            "opening_shares": expected["paid_in_capital"] / 10,
            "zero_noise": True,
            **changes,
        },
    )


def action(expected: list[Any]) -> Any:
    """Return an action of the example."""
    match expected:
        case ["fund", kind, amount]:
            return FundRaisingRequest(kind, amount)
        case ["close"]:
            return BookClosing()
        case _:
            return Pass()


@pytest.fixture
def example(trace: Path) -> dict[str, Any]:
    """The example under test."""
    return load(trace)


@pytest.fixture
def seen(example: dict[str, Any]) -> list[Seen]:
    """Its months, played, and the one after them."""
    actions = {int(month): action(expected) for month, expected in example["actions"].items()}
    model = example_model(example, forced_funding=example["forced_funding"])
    return list(months(model, actions, until=len(example["months"])))


def near(mine: int, dollars: float) -> bool:
    """Return whether cents equal an amount in dollars up to rounding."""
    return abs(mine - round(dollars * 100)) <= TOLERANCE


def differing(mine: dict[str, int], expected: dict[str, float]) -> dict[str, tuple[Any, Any]]:
    """Return accounts whose amounts differ; accounts without an expected amount are empty."""
    return {
        name: (mine.get(name), expected.get(name))
        for name in {*mine, *expected}
        if name not in mine or not near(mine[name], expected.get(name, 0.0))
    }


def journal(lender: Lender, month: int) -> Iterator[Entry]:
    """Yield the entries of a month."""
    book = lender.books.book
    span = book.journal.span(month, month)
    yield from book.journal[span.start : span.stop]


def netted(lines: list[dict[str, Any]]) -> dict[str, float]:
    """Return an entry's amounts by account, debits positive."""
    amounts: dict[str, float] = {}
    for line in lines:
        amount = line["debit"] - line["credit"]
        amounts[line["account"]] = amounts.get(line["account"], 0.0) + amount
    return amounts


@EXAMPLES
def test_every_entry_is_posted_in_order(example: dict[str, Any], seen: list[Seen]) -> None:
    """Names, memos and order are the same, amounts to a rounding."""
    for expected in example["months"]:
        mine = list(journal(seen[-1].lender, expected["month"]))
        names = [f"{each['entry']} {each['memo']}" for each in expected["journal"]]
        assert [entry.text for entry in mine] == names
        for entry, each in zip(mine, expected["journal"], strict=True):
            assert differing(dict(entry.amounts), netted(each["lines"])) == {}, entry


@EXAMPLES
def test_balances_are_those_of_the_trial_balances(
    example: dict[str, Any], seen: list[Seen]
) -> None:
    """The opening one and that of every month, accounts at zero included."""
    balances = seen[-1].lender.books.book.balances
    assert differing(balances(-1), example["opening_trial_balance"]) == {}
    for expected in example["months"]:
        assert differing(balances(expected["month"]), expected["trial_balance"]) == {}


@EXAMPLES
def test_statements_are_those_of_every_month(example: dict[str, Any], seen: list[Seen]) -> None:
    """Income and cash of the month, the position at its end, row by row."""
    book = seen[-1].lender.books.book
    for expected in example["months"]:
        month = expected["month"]
        income = dict(REPORTS.income_statement(book, month, month).rows)
        assert differing(income, expected["income_statement_month"]) == {}
        position = dict(REPORTS.balance_sheet(book, month).rows)
        assert differing(position, expected["balance_sheet"]) == {}
        flows = dict(REPORTS.cash_flow_statement(book, month, month).rows)
        assert differing(flows, expected["cash_flow_month"]) == {}


@EXAMPLES
def test_closed_books_report_the_year_to_date(example: dict[str, Any], seen: list[Seen]) -> None:
    """A closing reports from January on."""
    lender = seen[-1].lender
    book = lender.books.book
    expected = {each["month"]: each.get("book_closing_report") for each in example["months"]}
    assert lender.closings == [month for month, report in expected.items() if report]
    for month in lender.closings:
        report, january = expected[month], month - month % 12
        income = dict(REPORTS.income_statement(book, january, month).rows)
        assert differing(income, report["income_statement_ytd"]) == {}
        flows = dict(REPORTS.cash_flow_statement(book, january, month).rows)
        shown = {name: flows[name] for name in report["cash_flow_ytd"]}
        assert differing(shown, report["cash_flow_ytd"]) == {}


@EXAMPLES
def test_drivers_are_those_of_every_month(example: dict[str, Any], seen: list[Seen]) -> None:
    """Margins, growth, collection, rates and charge-offs."""
    lender = seen[-1].lender
    model, macro = lender.params, lender.macro
    for expected in example["months"]:
        month, drivers = expected["month"], expected["drivers"]
        now = lender.indicators[month]
        base = (macro.tsy2y[month] + macro.baa[month]) / 100
        assert {
            "user_growth_pct": now.growth,
            "gross_margin_pct": now.gross_margin,
            "ebitda_margin_pct": now.ebitda_margin,
            "collection_rate": now.collection_rate,
            "base_lending_rate": base,
            "new_loan_rate": base * model.interest_bearing_share,
            "chargeoff_rate_annual": chargeoff_rate(model, macro.unrate[month]),
            "unemployment": macro.unrate[month],
            "vix": macro.vix_avg[month],
            "sofr": macro.sofr[month],
        } == pytest.approx(drivers, abs=1e-6)


@EXAMPLES
def test_borrowers_and_yield_are_those_of_every_month(
    example: dict[str, Any], seen: list[Seen]
) -> None:
    """Before and after the month."""
    for expected, before, after in zip(example["months"], seen, seen[1:], strict=False):
        assert {
            "users_open": before.users,
            "new_borrowers": after.users - before.users,
            "users_close": after.users,
        } == pytest.approx(
            {k: v for k, v in expected["operating"].items() if "rate" not in k}, abs=1e-3
        )
        assert (before.lending_rate, after.lending_rate) == pytest.approx(
            (
                expected["operating"]["portfolio_rate_open"],
                expected["operating"]["portfolio_rate_close"],
            ),
            abs=1e-8,
        )


@EXAMPLES
def test_notes_losses_rounds_and_shares_are_those_of_every_month(
    example: dict[str, Any],
) -> None:
    """At the end of each month: as its successor begins, but for what is news in it."""
    actions = {int(month): action(expected) for month, expected in example["actions"].items()}
    model = example_model(example, forced_funding=example["forced_funding"])
    played = months(model, actions, until=len(example["months"]))
    next(played)
    for expected, after in zip(example["months"], played, strict=True):
        lender = after.lender
        issued = [
            news["shares_issued"] for news in after.month.notifications if "shares" in str(news)
        ]
        assert lender.rounds - len(issued) == expected["equity_rounds"]
        assert lender.shares - sum(issued) == pytest.approx(expected["shares_outstanding"])
        assert near(lender.loss_carryforward, expected["nol_carryforward"])
        notes = [plain(loan) for loan in lender.term_loans if loan.drawn < lender.month]
        for mine, note in zip(notes, expected["notes_payable_schedule"], strict=True):
            assert mine == pytest.approx(note, abs=TOLERANCE / 100)


def plain(loan: TermLoan) -> dict[str, float]:
    """Return a note in the form of an example."""
    return {
        "id": loan.number,
        "principal": loan.principal / 100,
        "balance": loan.balance / 100,
        "rate": loan.rate,
        "drawn": loan.drawn,
    }


@EXAMPLES
def test_requests_and_outcomes_are_those_of_the_events(
    example: dict[str, Any], seen: list[Seen]
) -> None:
    """Requests submitted, refused, delivered and declined, with odds and rates."""
    past = len(example["months"])
    mine = [event for event in seen[-1].lender.events if event["month"] < past]
    expected = [
        {"month": each["month"], **event} for each in example["months"] for event in each["events"]
    ]
    assert len(mine) == len(expected)
    for event, each in zip(mine, expected, strict=True):
        known = {name: value for name, value in each.items() if name != "forced"}
        assert {name: event[name] for name in known} == pytest.approx(known, abs=1e-6)


@EXAMPLES
def test_without_action_cash_runs_out_as_listed(example: dict[str, Any]) -> None:
    """Closing cash of every month; the last month is the first whose closing cash is negative."""
    expected = example["noise_free_pass_only"]["closing_cash"]
    lender = played(example_model(example))
    balance = lender.books.book.balance
    assert lender.world.ended == "cash balance went negative"
    assert lender.months_closed == len(expected)
    wrong = [m for m, cash in enumerate(expected) if not near(balance("1000", at=m), cash)]
    assert wrong == []


@EXAMPLES
def test_cash_lent_without_end_goes_on_as_listed(example: dict[str, Any]) -> None:
    """A billion more in the bank changes nothing but cash, for all months."""
    expected = example["noise_free_pass_only"]["closing_cash_musd_continued_without_stopping"]
    model = example_model(example, opening_cash=1e9 + example["parameters"]["opening_cash"])
    balance = played(model).books.book.balance
    mine = [balance("1000", at=month) / 1e8 - 1000 for month in range(len(expected))]
    assert mine == pytest.approx(expected, abs=0.001)
