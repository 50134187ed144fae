"""The lender as one company of a group: its calendar, cash in and out, statements and documents."""

import random
from itertools import pairwise
from typing import Any

import pytest
from attrs import frozen
from support.arena import DEBT, EQUITY, MILLION, entries, months, opened, played
from support.articulated import faults
from support.holdings import intercompany, pay_cash, receive_cash
from support.series import series_of

from desim import World
from ledgers.consolidation import ACCOUNT, KIND, NotEnoughCash
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import BookClosing, Pass
from models.enterprise_arena.documents import on_file, retrieved
from models.enterprise_arena.lender import BANKRUPT, Lender
from models.enterprise_arena.params import MONTH_END, PAYDAY, YEAR_END
from models.enterprise_arena.processes import Process
from models.enterprise_arena.statements import reports

#: After everything else of a month; before a month opens; between its operations and its close.
RANKS = (MONTH_END + 1, YEAR_END, PAYDAY)


def link(world: World, lender: Lender, seed: int, rank: int) -> Process:
    """Receive or pay random amounts at one place of every month."""
    purse = lender.books.intercompany
    chance = random.Random(f"{seed} {rank}")  # noqa: S311 (dice)
    yield world.timeout(0 if rank else 1, rank=rank)
    while True:
        for _ in range(chance.choice([0, 0, 0, 1, 3])):
            partner = chance.choice(["plant", "office", "shop"])
            if chance.random() < 0.5 or lender.cash < 1:
                purse.receive(world.now, partner, chance.randrange(1, 500 * MILLION))
            else:
                most = lender.cash if chance.random() < 0.01 else max(1, lender.cash // 9)
                purse.send(world.now, partner, chance.randint(1, most))
        yield world.timeout(1, rank=rank)


@frozen(kw_only=True, slots=False)
class Linked(EnterpriseArena):
    """The lender with random partners, who act inside months, after and between them."""

    luck: int = 0

    def begin(self, world: World) -> Lender:
        """Start the partners beside the lender."""
        lender = super().begin(world)
        for rank in RANKS:
            world.process(link(world, lender, self.luck, rank))
        return lender


def dice(seed: int) -> dict[int, Any]:
    """Return an action for every month."""
    chance = random.Random(seed)  # noqa: S311 (dice)
    return {month: chance.choice([Pass(), BookClosing(), EQUITY, DEBT]) for month in range(132)}


def figures(model: EnterpriseArena, lender: Lender) -> dict[str, dict[str, dict[str, float]]]:
    """Return the yearly statements by name, line and column."""
    return {
        name: {row["line"]: {k: v for k, v in row.items() if k != "line"} for row in rows}
        for name, rows in model.statements(lender).items()
    }


# -- the calendar ----------------------------------------------------------------------------------


# -- without a group -------------------------------------------------------------------------------


def test_a_refused_payment_changes_nothing() -> None:
    """The account is not added, and the episode ends as it would have."""
    model = EnterpriseArena(horizon=20)
    *_, seen = months(model, {}, until=10)
    lender = seen.lender
    before = lender.books.book.digest(), lender.closing_cash, lender.cash
    with pytest.raises(NotEnoughCash, match=f"the cash is {lender.cash} cents"):
        pay_cash(model, lender, lender.cash + 1, "plant")
    for move in (pay_cash, receive_cash):
        for cents in (0, -5, 1.5, True):
            with pytest.raises(ValueError, match="a whole number above 0"):
                move(model, lender, cents, "plant")  # type: ignore[arg-type] # what is tested
    assert (lender.books.book.digest(), lender.closing_cash, lender.cash) == before
    assert ACCOUNT not in lender.books.book.accounts


# -- random months ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_books_articulate_with_random_cash_of_a_group(batch: int) -> None:
    """Inside months, after and between them; every month again at the end of the episode."""
    closed = 0
    for seed in range(8 * batch, 8 * batch + 8):
        model = Linked(luck=seed, history=("table", "regimes")[seed % 2])
        lender = played(model, dice(seed), seed)
        closed += lender.months_closed
        assert {entry.references["partner"] for entry in _group(lender)} >= {"plant", "office"}
        assert [fault for m in range(lender.months_closed) for fault in faults(lender, m)] == []
        _reports_agree_with_the_book(model, lender)
    assert closed > 8 * 60


def _group(lender: Lender) -> list[Any]:
    return [entry for entry in lender.books.book.journal if entry.kind == KIND]


def _reports_agree_with_the_book(model: Linked, lender: Lender) -> None:
    book, last = lender.books.book, lender.months_closed - 1
    assert sum(intercompany(model, lender).values()) == book.balance(ACCOUNT)
    assert lender.closing_cash == book.balance("1000", at=last)
    assert model.metrics(lender)["end_cash"] == series_of(model, lender)["cash"][-1]
    tables = figures(model, lender)
    income, sheet, flows = (
        tables[name] for name in ("income_statement", "balance_sheet", "cash_flow")
    )
    for before, after in pairwise(sheet["cash"]):
        claims = sheet["total_liabilities"][after] + sheet["total_equity"][after]
        assert sheet["total_assets"][after] == pytest.approx(claims, abs=0.01)
        assert flows["opening_cash"][after] == sheet["cash"][before]
        assert flows["closing_cash"][after] == sheet["cash"][after]
        gained = income["net_income"][after] + flows["equity_proceeds"][after]
        equity = sheet["total_equity"][after] - sheet["total_equity"][before]
        assert equity == pytest.approx(gained, abs=0.01)


# -- what reports show -----------------------------------------------------------------------------


def test_equity_and_leverage_do_not_change() -> None:
    """Cash of a group is an asset and a debt at once, or one asset instead of another."""
    model = EnterpriseArena(opening_cash=1e9, zero_noise=True, forced_funding={0: (True, 1, 1)})
    lender = opened(3, model, {0: DEBT})
    before = lender.books.equity, lender.leverage, lender.books.pretax
    assert before[1] > 0
    receive_cash(model, lender, 400 * 10**8, "plant")
    assert (lender.books.equity, lender.leverage, lender.books.pretax) == before
    pay_cash(model, lender, 900 * 10**8, "plant")
    assert (lender.books.equity, lender.leverage, lender.books.pretax) == before
    assert intercompany(model, lender) == {"plant": 500 * 10**8}


def test_the_balance_sheet_shows_what_is_due_by_its_sign() -> None:
    """An asset if the group owes it on balance, otherwise a liability."""
    model = EnterpriseArena()
    lender = opened(5, model)
    book = lender.books.book
    rows = {}
    for way, cents in ((receive_cash, 700), (pay_cash, 1_200)):
        way(model, lender, cents, "plant")
        sheet = reports(book, 5).balance_sheet(book, 5)
        assert sheet["total_assets"] == sheet["total_liabilities"] + sheet["total_equity"]
        rows[way.__name__] = sheet["due_from_group"], sheet["due_to_group"]
    assert rows == {"receive_cash": (0, 700), "pay_cash": (500, 0)}


@frozen(kw_only=True, slots=False)
class Late(EnterpriseArena):
    """The lender in a group that acts after the close of months 20 and 25."""

    def begin(self, world: World) -> Lender:
        """Start the group beside the lender."""
        lender = super().begin(world)
        world.process(self._group(world, lender))
        return lender

    def _group(self, world: World, lender: Lender) -> Process:
        yield world.timeout(20, rank=RANKS[0])
        closed = lender.closing_cash
        receive_cash(self, lender, 1_000, "plant")
        pay_cash(self, lender, 600, "office")
        assert lender.closing_cash == closed + 400
        yield world.timeout(5, rank=RANKS[0])
        pay_cash(self, lender, 600, "plant")


def test_a_document_on_file_never_changes() -> None:
    """Those of months before the first entry have no line of a group."""
    model = Late(opening_cash=1e9, horizon=30)
    first: dict[str, Any] = {}
    for seen in months(model, dict.fromkeys(range(30), BookClosing())):
        files = on_file(seen.lender)
        first |= {name: retrieved(files, name) for name in files if name not in first}
    files = on_file(seen.lender)
    assert {name: retrieved(files, name) for name in files} == first
    with_group = [
        name
        for name, paper in first.items()
        if any(word in repr(paper) for word in ("group", "intercompany"))
    ]
    assert {name.split("/")[1] for name in with_group} == {
        *(f"2xx1_{month:02}" for month in range(9, 13)),
        *(f"2xx2_{month:02}" for month in range(1, 6)),
    }
    assert {name.split("/")[2] for name in with_group} == {
        "bank_statement",
        "balance_sheet",
        "cash_flow_ytd",
        "trial_balance",
        "general_ledger",
    }


def test_the_next_month_opens_with_the_cash_of_the_group() -> None:
    """The officer sees it; peak, low and the flash figures count it."""
    model = Rescued(opening_cash=1_000_000, zero_noise=True, horizon=3, flash=True)
    seen = list(months(model, {}))
    opening = [each.month.cash_balance for each in seen]
    lender = seen[-1].lender
    book = lender.books.book
    assert opening[1:] == [book.balance("1000", at=month) / 100 for month in (0, 1)]
    assert lender.peak == book.balance("1000", at=1)
    assert seen[2].month.flash is not None
    assert seen[2].month.flash["cash"] == opening[2]
    assert seen[2].month.flash["net_cash_flow"] == pytest.approx(opening[2] - opening[1])


@frozen(kw_only=True, slots=False)
class Rescued(EnterpriseArena):
    """The lender in a group that sends fifty million dollars after the close of every month."""

    def begin(self, world: World) -> Lender:
        """Start the group beside the lender."""
        lender = super().begin(world)
        world.process(self._group(world, lender))
        return lender

    def _group(self, world: World, lender: Lender) -> Process:
        while True:
            yield world.timeout(0, rank=RANKS[0])
            receive_cash(self, lender, 50 * MILLION * 100, "plant")
            yield world.timeout(1, rank=YEAR_END)


def test_cash_of_the_group_saves_a_lender_before_the_next_month_opens() -> None:
    """The solvency test is at the opening; without the group the lender ends at once."""
    broke = {"opening_cash": 0, "opening_payables": 40e6, "horizon": 5}
    assert played(EnterpriseArena(**broke)).world.ended == BANKRUPT
    lender = played(Rescued(**broke))
    assert (lender.world.ended, lender.months_closed) == ("horizon", 5)
    assert lender.low >= 0


# -- after the end ---------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [0, 1, 40])
@pytest.mark.parametrize("horizon", [132, 30])
def test_an_entry_after_the_end_breaks_nothing(later: int, horizon: int) -> None:
    """Whether the clock stands at the last month or goes on; only then is the score what it was."""
    model = EnterpriseArena(opening_cash=1e9, horizon=horizon)
    lender = played(model)
    before, end = model.score(lender), lender.closing_cash
    lender.world._now += later
    pay_cash(model, lender, 300, "plant")
    assert [entry[0] for entry in entries(lender, KIND)] == [horizon - 1 + later]
    assert lender.closing_cash == (end if later else end - 300)
    assert model.score(lender) == pytest.approx(before if later else before - 3, abs=0.001)
    assert model.metrics(lender)["end_cash"] == lender.closing_cash / 100
    assert [fault for month in range(horizon) for fault in faults(lender, month)] == []
    tables = figures(model, lender)
    assert sum(tables["cash_flow"]["intercompany_cash"].values()) == -3.0
    assert list(tables["balance_sheet"]["due_from_group"].values())[-1] == 3.0
    assert len(series_of(model, lender)["cash"]) == horizon
    assert len(model.tables(lender, "cfo")["bank"]) >= horizon - 1
