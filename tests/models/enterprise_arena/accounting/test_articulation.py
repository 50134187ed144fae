"""Section 7.3 of the SPEC in every month of random episodes, and the detection of faults."""

import random
from typing import Any

import pytest
from support.arena import MILLION, opened, played
from support.articulated import faults
from support.invariants import BrokenInvariant

from ledgers.book import Memo
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest, Pass
from models.enterprise_arena.statements import CASH_LEDGER, REPORTS

PRESETS = ("paper", "snapshot", "regime")


def dice(seed: int) -> dict[int, Any]:
    """Return an action for every month."""
    chance = random.Random(seed)  # noqa: S311 (dice)
    return {month: _action(chance) for month in range(132)}


def _action(chance: random.Random) -> Any:
    kind = chance.choice(["equity", "debt", "equity", "debt", "grant"])
    amount = chance.choice([-1.0, 1.0, 5 * MILLION, 20 * MILLION, 90 * MILLION]) * chance.random()
    return chance.choice([Pass(), BookClosing(), FundRaisingRequest(kind, amount)])


@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_books_articulate_in_every_month_of_random_episodes(batch: int) -> None:
    """A hundred episodes with random actions; the fixture verifies each month as it ends."""
    closed = 0
    for seed in range(20 * batch, 20 * batch + 20):
        model = EnterpriseArena.preset(PRESETS[seed % 3])
        closed += played(model, dice(seed), seed).months_closed
    assert closed > 20 * 33


def test_cash_is_the_sum_of_the_cash_ledger_s_classes() -> None:
    """All nine classes, over an episode that uses them."""
    model = EnterpriseArena(
        opening_cash=1e9, chargeoff_base_annual=0.0, receivable_chargeoff_share=0
    )
    lender = played(model, dice(3), 3)
    book = lender.books.book
    flows = CASH_LEDGER.flows(book, 0, 131)
    assert len([amount for amount in flows.values() if amount]) == 9
    assert sum(flows.values()) == book.balance("1000") - book.balance("1000", at=-1)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ({"1100": 1, "1110": -1}, "from other entries"),
        ({"2200": -100, "1000": 100}, "balances of the notes"),
        ({"3900": -100, "1000": 100}, "equity changed"),
        ({"1190": -100, "3900": 100}, "equity changed"),
    ],
    ids=str,
)
def test_an_entry_against_the_rules_is_reported(lines: dict[str, int], fault: str) -> None:
    """The kind of the entry may not change these accounts."""
    lender = opened(3, EnterpriseArena())
    lender.books.book.post(3, Memo("J11 a wrong account", "J11"), lines)
    assert fault in " ".join(faults(lender, 3))


def test_a_month_that_does_not_articulate_stops_the_episode() -> None:
    """The fixture of `conftest.py` is active in every test."""
    lender = opened(3, EnterpriseArena())
    lender.books.book.post(3, Memo("J14 cash without a note", "J14"), {"2200": -100, "1000": 100})
    with pytest.raises(BrokenInvariant, match="month 3"):
        lender.close_month()


def test_a_year_s_income_is_the_change_of_equity_but_for_issues() -> None:
    """Over every year of an episode, closings left out."""
    model = EnterpriseArena(opening_cash=1e9)
    lender = played(model, dice(5), 5)
    book = lender.books.book
    for january in range(0, 132, 12):
        before = REPORTS.balance_sheet(book, january - 1)
        after = REPORTS.balance_sheet(book, january + 11)
        earned = REPORTS.income_statement(book, january, january + 11)["net_income"]
        issued = after["paid_in_capital"] - before["paid_in_capital"]
        assert after["total_equity"] - before["total_equity"] == earned + issued
