"""The lender as one company of a group: its calendar, cash in and out, statements and documents."""

# ruff: noqa: DTZ001 (the calendar has no time zones)

import datetime as dt
import random
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve, frozen
from support.arena import DEBT, EQUITY, MILLION, entries, months, opened, played
from support.articulated import faults
from support.holdings import cash_of, intercompany, pay_cash, receive_cash
from support.invariants import BrokenInvariant
from support.series import series_of

from desim import World
from ledgers.book import Memo
from ledgers.consolidation import ACCOUNT, KIND, NotEnoughCash
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest, Pass
from models.enterprise_arena.documents import on_file, retrieved
from models.enterprise_arena.funding import submit
from models.enterprise_arena.lender import BANKRUPT, Lender
from models.enterprise_arena.params import MONTH_END, PAYDAY, YEAR_END
from models.enterprise_arena.processes import Process
from models.enterprise_arena.statements import reports

#: After everything else of a month; before a month opens; between its operations and its close.
RANKS = (MONTH_END + 1, YEAR_END, PAYDAY)
#: The tables of a person; a document whose contents are those of today.
CAP_TABLE = "t0_board_materials/cap_table"


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


def test_the_model_offers_what_a_group_needs() -> None:
    """A calendar and an intercompany account."""
    model = EnterpriseArena()
    assert model.time.calendar is not None
    assert model.purse(opened(0, model)).balances == {}


@pytest.mark.parametrize(
    ("tick", "moment"),
    [
        (-1, dt.datetime(2015, 1, 1)),
        (0, dt.datetime(2015, 2, 1)),
        (11, dt.datetime(2016, 1, 1)),
        (13, dt.datetime(2016, 3, 1)),
        (131, dt.datetime(2026, 1, 1)),
    ],
)
def test_a_tick_is_the_end_of_its_month(tick: int, moment: dt.datetime) -> None:
    """There and back; a second earlier it is the tick before."""
    calendar = EnterpriseArena().time.calendar
    assert calendar.moment(tick) == moment
    assert calendar.last_tick(moment) == tick
    assert calendar.last_tick(moment - dt.timedelta(seconds=1)) == tick - 1
    assert EnterpriseArena().time.date(tick) == (moment - dt.timedelta(days=1)).date()


def test_the_calendar_begins_with_the_macro_table() -> None:
    """A table of other years has another one, and a drawn history that of its table."""
    table = EnterpriseArena().table
    dates = tuple(f"{2030 + month // 12}-{month % 12 + 1:02}" for month in table.month)
    later = EnterpriseArena(macro=evolve(table, date=dates))
    assert later.time.calendar.moment(0) == dt.datetime(2030, 2, 1)
    assert EnterpriseArena.preset("regime").time.calendar == EnterpriseArena().time.calendar


@pytest.mark.parametrize("date", ["2015-00", "2015-13", "0000-01"])
def test_a_month_that_no_calendar_has_is_refused(date: str) -> None:
    """When the table is read, and not in the first episode."""
    table = EnterpriseArena().table
    with pytest.raises(ValueError, match=f"'{date}' was given; it is YYYY-MM"):
        evolve(table, date=(date, *table.date[1:]))


# -- without a group -------------------------------------------------------------------------------


def test_a_lender_without_a_group_shows_nothing_of_one() -> None:
    """Neither its book, nor any document, nor its statements; the golden digests hold the rest."""
    model = EnterpriseArena(opening_cash=1e9)
    lender = played(model, dict.fromkeys(range(132), BookClosing()))
    assert ACCOUNT not in lender.books.book.accounts
    assert intercompany(model, lender) == {}
    papers = [retrieved(on_file(lender), name) for name in on_file(lender)]
    shown = repr([papers, model.statements(lender)])
    assert len(papers) > 900
    assert "group" not in shown
    assert "ntercompany" not in shown


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


def test_a_lender_whose_cash_is_negative_pays_nothing() -> None:
    """Its balance is reported as it is."""
    model = EnterpriseArena(opening_cash=0, zero_noise=True, opening_payables=1e9)
    lender = played(model)
    assert lender.world.ended == BANKRUPT
    assert cash_of(model, lender) < 0
    with pytest.raises(NotEnoughCash):
        pay_cash(model, lender, 1, "plant")


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


def test_a_fault_after_the_close_stops_the_next_month() -> None:
    """With entries of a group, a month is verified again when the next one ends."""
    model = EnterpriseArena()
    lender = opened(3, model)
    receive_cash(model, lender, 100, "plant")
    lender.close_month()
    lender.books.book.post(3, Memo("cash from plant", KIND), {"1100": 100, ACCOUNT: -100})
    lender.world._now = 4
    with pytest.raises(BrokenInvariant, match="month 3"):
        lender.close_month()


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


def test_the_odds_and_the_rate_of_a_request_do_not_change() -> None:
    """Twice the same request, once after the group has paid in a billion."""
    model = EnterpriseArena(forced_funding={0: (True, 1, 1)})
    events = []
    for cents in (0, 10**11):
        lender = opened(4, model, {0: FundRaisingRequest("debt", 60 * MILLION)})
        if cents:
            receive_cash(model, lender, cents, "plant")
        assert submit(lender, "debt", 1e6).ok
        events.append(lender.events[-1])
    assert events[0]["m_company"] < 1
    assert events[0] == events[1]


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


def test_the_balance_of_several_companies_is_one_line() -> None:
    """`intercompany` tells them apart."""
    model = EnterpriseArena()
    lender = opened(5, model)
    receive_cash(model, lender, 700, "plant")
    pay_cash(model, lender, 300, "office")
    book = lender.books.book
    sheet = reports(book, 5).balance_sheet(book, 5)
    assert (sheet["due_from_group"], sheet["due_to_group"]) == (0, 400)
    assert intercompany(model, lender) == {"plant": -700, "office": 300}


def test_statements_have_the_lines_from_the_first_entry_on() -> None:
    """Financing has the net cash; years before it show zeros, as the lines must be the same."""
    model = Late(opening_cash=1e9, horizon=30)
    lender = played(model)
    tables = figures(model, lender)
    flows, sheet = tables["cash_flow"], tables["balance_sheet"]
    assert list(flows["intercompany_cash"].values()) == [0.0, 4.0, -6.0]
    for year in flows["financing"]:
        parts = ("equity_proceeds", "debt_proceeds", "debt_repaid", "intercompany_cash")
        assert flows["financing"][year] == sum(flows[part][year] for part in parts)
    assert list(sheet["due_to_group"].values()) == [0.0, 0.0, 4.0, 0.0]
    assert list(sheet["due_from_group"].values()) == [0.0, 0.0, 0.0, 2.0]
    lines = list(flows)
    assert lines.index("intercompany_cash") + 1 == lines.index("financing")


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


def test_the_bank_statement_shows_both_ways_of_a_month() -> None:
    """In the month to which the entry belongs, although it came after the close."""
    model = Late(opening_cash=1e9, horizon=30)
    lender = opened(29, model)
    paper = retrieved(on_file(lender), "raw/2xx1_09/bank_statement")
    assert paper["rows"][-1] == {"class": "group", "inflow": 10.0, "outflow": 6.0}
    moved = sum(row["inflow"] - row["outflow"] for row in paper["rows"])
    assert paper["closing_balance"] == pytest.approx(paper["opening_balance"] + moved)
    after = retrieved(on_file(lender), "raw/2xx1_10/bank_statement")
    assert after["opening_balance"] == paper["closing_balance"]
    bank = model.tables(lender, "cfo")["bank"]
    assert [row.get("group") for row in bank[19:23]] == [None, 4.0, 0.0, 0.0]


def test_trial_balance_and_ledger_have_the_account() -> None:
    """Last, with its entries and the balance of every month."""
    model = Late(opening_cash=1e9, horizon=30)
    lender = opened(29, model, dict.fromkeys(range(30), BookClosing()))
    files = on_file(lender)
    row = retrieved(files, "closings/2xx1_09/trial_balance")["rows"][-1]
    assert row == {"account": ACCOUNT, "name": "Intercompany", "debit": 0.0, "credit": 4.0}
    lines = retrieved(files, "closings/2xx1_09/general_ledger")["accounts"][-1]
    assert (lines["account"], lines["opening_balance"]) == (ACCOUNT, 0.0)
    assert [line["text"] for line in lines["lines"]] == ["cash from plant", "cash to office"]


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


def test_an_entry_after_a_bankruptcy_breaks_nothing() -> None:
    """It belongs to the month in which the lender ended, which was not closed."""
    model = EnterpriseArena()
    lender = played(model)
    assert lender.world.ended == BANKRUPT
    end = lender.closing_cash
    receive_cash(model, lender, 10**11, "plant")
    assert (model.score(lender), lender.closing_cash) == (0.0, end)
    assert cash_of(model, lender) > 0
    assert faults(lender, lender.month) == []
    assert figures(model, lender)["balance_sheet"]["due_to_group"]
