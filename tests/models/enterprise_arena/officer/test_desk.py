"""The header of the month: figures, flash, notifications, replies."""

from typing import Any

import pytest
from attrs import evolve, fields
from support.arena import Seat

from desim.core.model import world_rules
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    BookClosing,
    FundRaisingRequest,
    Month,
    Pass,
    VerifyCashPosition,
)

QUIET = EnterpriseArena(zero_noise=True)
#: What the company has, in a full header.
STATE = ("cash_balance", "active_users", "loan_portfolio_gross", "total_debt", "lending_rate")
EQUITY, DEBT = FundRaisingRequest("equity", 20e6), FundRaisingRequest("debt", 10e6)


def seen(model: EnterpriseArena, month: int, actions: dict[int, Any] | None = None) -> Month:
    """Return the header of a month."""
    found = Seat(model).to(month, actions).month
    assert found is not None
    return found


def test_the_first_header_shows_the_opening_position() -> None:
    """Cash 15 million, 5,000 borrowers, a book of 50 million, no debt, twenty calls."""
    assert seen(QUIET, 0) == Month(
        current_month=0,
        date="Jan 2xx0",
        cash_balance=15e6,
        active_users=5_000,
        loan_portfolio_gross=50e6,
        total_debt=0.0,
        lending_rate=0.0265,
        pending_fundraisings=0,
        tool_calls_remaining=20,
    )


def test_the_header_is_rounded_as_people_read_it() -> None:
    """Worked example, month 2: 5,071.7555 borrowers at a yield of 0.02650542."""
    month = seen(QUIET, 2)
    assert (month.active_users, month.lending_rate) == (5_072, 0.026505)
    assert month.date == "Mar 2xx0"
    assert month.cash_balance == 15_818_171.06


def test_a_request_is_shown_as_under_way_and_its_outcome_once() -> None:
    """Equity requested in month 0 arrives in month 3, and that month alone has a notification."""
    model = evolve(QUIET, forced_funding=((0, True, 0.85, 3),))
    seat = Seat(model)
    after = [seat.to(month, {0: EQUITY}).month for month in range(5)]
    assert [month.pending_fundraisings for month in after if month] == [0, 1, 1, 0, 0]
    news = [month.notifications for month in after if month]
    assert [len(outcome) for outcome in news] == [0, 0, 0, 1, 0]
    assert news[3][0]["event"] == "equity_delivered"
    assert news[3][0]["amount"] == 17e6


def test_writing_into_an_observation_does_not_change_the_state() -> None:
    """The notifications of an observation are copies."""
    seat = Seat(evolve(QUIET, forced_funding=((0, False, 1.0, 1),))).to(1, {0: EQUITY})
    assert seat.month is not None
    seat.month.notifications[0]["event"] = "equity_delivered"
    month = seat.say(VerifyCashPosition())
    assert month is not None
    assert month.notifications[0]["event"] == "declined"


@pytest.mark.parametrize(
    ("action", "to", "ok"),
    [
        (Pass(), "pass", True),
        (BookClosing(), "book_closing", True),
        (EQUITY, "fund_raising_request", True),
        (FundRaisingRequest("bond", 1.0), "fund_raising_request", False),
        (FundRaisingRequest("debt", 0.0), "fund_raising_request", False),
    ],
    ids=str,
)
def test_the_next_month_opens_with_the_actions_reply(action: Any, to: str, ok: bool) -> None:  # noqa: FBT001
    """Every action ends the month, refused ones too."""
    month = seen(QUIET, 1, {0: action})
    assert month.reply is not None
    assert (month.reply.to, month.reply.ok) == (to, ok)


def test_a_hidden_state_costs_a_call() -> None:
    """Neither the header nor a table nor the effect of an action shows what the company has."""
    hidden, shown = (EnterpriseArena.preset(name) for name in ("hidden", "paper"))
    seat, full = Seat(hidden, 1), Seat(shown, 1)
    assert seat.month is not None
    names = {each.name for each in fields(Month)} - {each.name for each in fields(type(seat.month))}
    assert names == {*STATE, "flash"}
    assert {name: getattr(full.month, name) for name in STATE}.items() <= seat.out(
        VerifyCashPosition()
    ).items()
    assert seat.month.tool_calls_remaining == full.month.tool_calls_remaining - 1
    month = seat.say(Pass())
    assert {*hidden.tables(seat.lender, "cfo")} == {"market", "cap table"}
    assert hidden.after(seat.lender, "cfo", Pass(), month) == "Jan 2xx0 is over."
    assert "Tools alone show how things stand" in world_rules(hidden, "cfo")


def test_the_flash_line_shows_the_month_just_closed() -> None:
    """Worked example, months 0 and 1: revenue, net cash flow, cash; none before month 0."""
    model = evolve(QUIET, flash=True)
    assert seen(model, 0).flash is None
    assert seen(model, 1).flash == {
        "revenue": 110_268.98,
        "net_cash_flow": -723_531.4,
        "cash": 14_276_468.6,
    }
    assert seen(model, 2).flash == {
        "revenue": 106_590.3,
        "net_cash_flow": 1_541_702.46,
        "cash": 15_818_171.06,
    }
