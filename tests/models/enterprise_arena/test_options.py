"""The menu of sensible commands, and what generic policies make of it."""

import pytest
from support.arena import Seat

from desim import play
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    BookClosing,
    FundRaisingRequest,
    Month,
    Pass,
    VerifyCashPosition,
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


def test_tools_are_offered_while_there_are_calls() -> None:
    """At the price of a call."""
    worth = {type(option.action): option.value for option in options(at(0, calls=1))}
    assert worth[VerifyCashPosition] == -5_000
    assert VerifyCashPosition not in {type(option.action) for option in options(at(0, calls=0))}


def test_greedy_asks_for_equity_and_closes_the_books_twice_a_year() -> None:
    """While it waits for money it has the books closed in June and December."""
    assert best(at(0)) == FundRaisingRequest("equity", 20e6)
    waiting = [best(at(month, pending=1)) for month in range(12)]
    closing = [month for month, action in enumerate(waiting) if action == BookClosing()]
    assert closing == [5, 11]
    assert {type(action) for action in waiting} == {Pass, BookClosing}


def test_debt_is_worth_something_where_cash_is_short() -> None:
    """Below ten million dollars it beats doing nothing."""

    def debt(cash: float) -> float:
        return next(o.value for o in options(at(0, cash)) if "lenders" in o.note)

    assert debt(9e6) > 0 > debt(11e6)


@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_generic_policies_play_sensible_games(policy: str) -> None:
    """Both survive the eleven years in most of a few seeds."""
    results = [play("enterprise_arena", policy, seed).result for seed in range(5)]
    assert sum(bool(result and result.metrics["survived"]) for result in results) >= 4


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


def test_the_tables_can_be_looked_up_when_the_episode_is_over() -> None:
    """As the page's end screen does, also after a bankruptcy."""
    for model in (EnterpriseArena(horizon=3), EnterpriseArena(opening_cash=100_000.0)):
        seat = Seat(model)
        while seat.month is not None:
            seat.say(BookClosing())
        tables = model.tables(seat.lender, "cfo")
        assert tables["market"]
        assert seat.run.result().ended
