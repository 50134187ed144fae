"""The menu of sensible commands, and what generic policies make of it."""

from support.arena import Seat

from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    BookClosing,
    FundRaisingRequest,
    Month,
    Pass,
)
from models.enterprise_arena.options import options

QUIET = EnterpriseArena(zero_noise=True)


def at(month: int, cash: float = 20e6, pending: int = 0, calls: int = 20) -> Month:
    """Return a header."""
    return Month(month, "Jan 2xx0", cash, 5_000, 50e6, 0.0, 0.0265, pending, calls)


def best(month: Month) -> object:
    """Return what greedy takes."""
    return max(options(month), key=lambda option: option.value).action


def test_passing_comes_first_and_ends_the_month() -> None:
    """Whoever repeats the first option reaches the end."""
    assert options(at(0))[0].action == Pass()
    assert EnterpriseArena().roles["cfo"].default_for(at(7)) == Pass()


def test_money_is_asked_for_unless_a_request_is_under_way() -> None:
    """A second request would be refused, so it is not offered."""
    free = [type(option.action) for option in options(at(0))]
    waiting = [type(option.action) for option in options(at(0, pending=1))]
    assert free.count(FundRaisingRequest) == 2
    assert FundRaisingRequest not in waiting


def test_greedy_asks_for_equity_and_closes_the_books_twice_a_year() -> None:
    """While it waits for money it has the books closed in June and December."""
    assert best(at(0)) == FundRaisingRequest("equity", 20e6)
    waiting = [best(at(month, pending=1)) for month in range(12)]
    closing = [month for month, action in enumerate(waiting) if action == BookClosing()]
    assert closing == [5, 11]
    assert {type(action) for action in waiting} == {Pass, BookClosing}


def test_the_tables_of_a_person_hold_closed_months_and_the_past() -> None:
    """Statements appear with a closing; extracts with every month; the market up to now."""
    seat = Seat(QUIET).to(4)
    model = seat.run.model
    assert isinstance(model, EnterpriseArena)
    before = model.tables(seat.lender, "cfo")
    assert "balance sheet" not in before
    assert [len(before[name]) for name in ("bank", "loan tape", "vendors")] == [4, 4, 4]
    assert [row["month"] for row in before["market"]][-1] == "May 2xx0"
    assert "equity rounds" not in before
    seat.to(7, {5: BookClosing()})
    after = model.tables(seat.lender, "cfo")
    assert [row["month"] for row in after["balance sheet"]] == ["Jun 2xx0"]
    assert after["balance sheet"][0]["cash"] == after["bank"][5]["closing_balance"]
    assert len(after["trial balance, last closing"]) == 18
    for rows in after.values():
        assert all(row.keys() == rows[0].keys() for row in rows)
