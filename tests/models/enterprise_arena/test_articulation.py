"""Section 7.3 of the SPEC, month by month, whatever is decided, and that a fault is found."""

import random
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import MILLION, opened, played

from ledgers.invariants import BrokenInvariant
from models.enterprise_arena import BookClosing, EnterpriseArena, FundRaisingRequest, Pass
from models.enterprise_arena.articulation import faults
from models.enterprise_arena.reports import CASH_LEDGER, REPORTS

PRESETS = ("paper", "snapshot", "regime")


def dice(seed: int) -> dict[int, Any]:
    """Return an action for every month."""
    chance = random.Random(seed)  # noqa: S311 (dice)
    return {month: _action(chance) for month in range(132)}


def _action(chance: random.Random) -> Any:
    kind = chance.choice(["equity", "debt", "equity", "debt", "grant"])
    amount = chance.choice([-1.0, 1.0, 5 * MILLION, 20 * MILLION, 90 * MILLION]) * chance.random()
    return chance.choice([Pass(), BookClosing(), FundRaisingRequest(kind, amount)])


@pytest.mark.parametrize("batch", range(10))
def test_books_articulate_in_every_month_of_random_episodes(batch: int) -> None:
    """Two hundred episodes with random actions; the fixture verifies each month as it ends."""
    closed = 0
    for seed in range(20 * batch, 20 * batch + 20):
        game = EnterpriseArena.preset(PRESETS[seed % 3])
        closed += played(game, dice(seed), seed).months_closed
    assert closed > 20 * 33


def test_cash_is_the_sum_of_the_cash_ledger_s_classes() -> None:
    """All nine classes, over an episode that uses them."""
    game = EnterpriseArena(
        opening_cash=1e9, chargeoff_base_annual=0.0, receivable_chargeoff_share=0
    )
    company = played(game, dice(3), 3)
    book = company.books.book
    flows = CASH_LEDGER.flows(book, 0, 131)
    assert len([amount for amount in flows.values() if amount]) == 9
    assert sum(flows.values()) == book.balance("1000") - book.balance("1000", at=-1)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ({"1100": 1, "1110": -1}, "from other entries"),
        ({"2200": -100, "1000": 100}, "balances of the notes"),
        ({"3900": -100, "1000": 100}, "equity changed"),
        ({"1190": -100, "3900": 100}, "equity changed"),
    ],
    ids=str,
)
def test_an_entry_against_the_rules_is_found(lines: dict[str, int], found: str) -> None:
    """Posted under a name that may not move these accounts."""
    company = opened(3, EnterpriseArena())
    company.books.book.post(3, "J11 a slip of the pen", lines)
    assert found in " ".join(faults(company, 3))


def test_a_month_that_does_not_articulate_stops_the_episode() -> None:
    """The fixture is on in every test of this folder."""
    company = opened(3, EnterpriseArena())
    company.books.book.post(3, "J14 money from nowhere", {"2200": -100, "1000": 100})
    with pytest.raises(BrokenInvariant, match="month 3"):
        company.close_month()


def test_a_year_s_income_is_the_change_of_equity_but_for_issues() -> None:
    """Over every year of an episode, closings left out."""
    game = EnterpriseArena(opening_cash=1e9)
    company = played(game, dice(5), 5)
    book = company.books.book
    for january in range(0, 132, 12):
        before = REPORTS.balance_sheet(book, january - 1)
        after = REPORTS.balance_sheet(book, january + 11)
        earned = REPORTS.income_statement(book, january, january + 11)["net_income"]
        issued = after["paid_in_capital"] - before["paid_in_capital"]
        assert after["total_equity"] - before["total_equity"] == earned + issued
