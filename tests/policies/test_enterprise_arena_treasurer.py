"""The treasurer: its measurements, forecasts, odds and requests."""

from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from desim import play
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    BookClosing,
    CheckMarketData,
    Command,
    CommandReply,
    FundRaisingRequest,
    Month,
    Pass,
    ReviewFinancialRecords,
)
from policies.heuristics.enterprise_arena import Treasurer
from policies.heuristics.enterprise_arena.forecast import (
    Debt,
    Odds,
    Yields,
    lowest,
    measure,
    stressed,
)

START = Month(
    current_month=0,
    date="month 0",
    cash_balance=30e6,
    active_users=1_000,
    loan_portfolio_gross=10e6,
    total_debt=0.0,
    lending_rate=0.12,
    pending_fundraisings=0,
    tool_calls_remaining=20,
)

FLOWS = {
    "collections_principal": 600_000.0,
    "loans_originated": -400_000.0,
    "collections_interest": 200_000.0,
    "vendor_payments": -50_000.0,
    "payroll_paid": -40_000.0,
    "tax_paid": -10_000.0,
}


def replied(month: Month, out: Any) -> Month:
    """Answer a tool."""
    return evolve(month, reply=CommandReply("tool", ok=True, out=out))


# -- forecasts -------------------------------------------------------------------------------------


def test_yields_are_measured_in_books_and_headers() -> None:
    """Two months of a book of ten million: what came back, what was lost, what was kept."""
    headers = [START, START, evolve(START, loan_portfolio_gross=9.7e6)]
    yields = measure(FLOWS, headers)
    # 10.0 + 0.4 lent - 0.6 back leaves 9.8 million; 0.1 million of it is gone.
    assert yields.collected == pytest.approx(0.03)
    assert yields.lost == pytest.approx(0.005)
    # Two months promised 0.2 million of interest; costs left half of it.
    assert yields.kept == pytest.approx(0.5)


def test_stress_is_the_worst_year_now_and_quiet_after() -> None:
    """Twelve equal months that make the strongest year seen, then the median of the market."""
    growth = stressed([0.5, 0.4, 0.6], 0.6, 18)
    assert growth[:12] == [pytest.approx(100 * (1.6 ** (1 / 12) - 1))] * 12
    assert growth[12:] == [0.5] * 6
    year = 1.01**11 * 1.1
    assert stressed([1.0] * 24 + [10.0], 0.1, 1) == [pytest.approx(100 * (year ** (1 / 12) - 1))]


def test_the_lowest_cash_is_worked_out_by_hand() -> None:
    """Two months: lending takes more than collections bring, then nothing is lent."""
    yields = Yields(collected=0.05, lost=0.01, kept=0.5)
    # Month 1: 0.5 collected + 0.05 earned - 2.0 lent = -1.45. Month 2: book 11.4: + 0.57 + 0.057.
    assert lowest(START, yields, Debt(), 10_000, [20.0, 0.0]) == pytest.approx(30e6 - 1.45e6)
    assert lowest(START, yields, Debt(), 10_000, [0.0]) == pytest.approx(30e6 + 0.55e6)


def test_debt_is_served_as_it_was_last_month() -> None:
    """An instalment is what the debt fell by; a draw does not hide it."""
    debt = Debt()
    drawn: dict[str, Any] = {"event": "debt_delivered", "month": 3}
    debt.follow(
        evolve(
            START,
            total_debt=6e6,
            notifications=({**drawn, "amount": 6e6, "contract_rate": 0.06},),
        )
    )
    assert (debt.rate, debt.instalment) == (0.06, 0.0)
    debt.follow(evolve(START, total_debt=5.9e6))
    assert debt.instalment == pytest.approx(0.1e6)
    more = ({**drawn, "amount": 3e6, "contract_rate": 0.09},)
    debt.follow(evolve(START, total_debt=8.8e6, notifications=more))
    assert (debt.rate, debt.instalment) == pytest.approx((0.07, 0.1e6))
    # Next month repays 0.1 million and 8.8 million cost 7 percent a year.
    owed = evolve(START, total_debt=8.8e6, loan_portfolio_gross=0.0)
    paid = 0.1e6 + 8.8e6 * 0.07 / 12
    assert lowest(owed, Yields(0, 0, 0), debt, 1.0, [0.0]) == pytest.approx(30e6 - paid)


# -- odds ------------------------------------------------------------------------------------------


def test_odds_are_linear_in_vix_and_in_the_cost_of_debt() -> None:
    """Equity is certain at VIX 10, impossible at 50; debt at no cost, and at fifteen percent."""
    odds = Odds()
    assert [odds.equity(vix) for vix in (5, 10, 30, 50, 80)] == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert [odds.debt(*cost) for cost in ((0, 0), (1, 2), (9, 6), (20, 5))] == [1, 0.8, 0, 0]
    odds.follow(evolve(START, notifications=({"event": "equity_delivered", "month": 1},)))
    odds.submitted("equity")
    assert odds.rounds == 1


def test_outcomes_correct_the_scale() -> None:
    """After four requests with none of two expected successes, the correction is four sixths."""
    odds = Odds()
    for _ in range(4):
        odds.equity(30)
        odds.submitted("equity")
    assert odds.equity(30) == pytest.approx(0.5 * 4 / 6)
    assert odds.debt(1, 2) == 0.8


# -- the policy ------------------------------------------------------------------------------------


def commands(cash: float, vix: float, **arguments: Any) -> list[Command]:
    """Play seven months of one look a month, and answer what a treasurer asks in the last."""
    rule = Treasurer(**arguments)
    for at in range(6):
        month = evolve(START, current_month=at)
        assert rule.decide(month) == CheckMarketData("Monthly_User_Growth", at)
        actions = rule.decide(replied(month, {"values": [0.5]}))
        assert actions == (BookClosing() if at == 5 else Pass())
    month = evolve(START, current_month=6, cash_balance=cash)
    files = [
        {"kind": "cash flow statement", "filename": "flows", "compiled_month": 5},
        {"kind": "balance sheet", "filename": "old", "compiled_month": 0},
        {"kind": "balance sheet", "filename": "position", "compiled_month": 5},
    ]
    answers = {
        ReviewFinancialRecords(): {"documents": files},
        ReviewFinancialRecords("retrieve", "flows"): {"rows": FLOWS},
        ReviewFinancialRecords("retrieve", "position"): {"rows": {"total_equity": 80e6}},
        CheckMarketData("Monthly_User_Growth", 6): {"values": [0.5]},
        CheckMarketData("VIX", 6): {"values": [vix]},
        CheckMarketData("SOFR", 6): {"values": [1.0]},
        CheckMarketData("Baa_Yield", 6): {"values": [4.0]},
        CheckMarketData("Tsy10Y", 6): {"values": [2.0]},
    }
    done = [rule.decide(month)]
    while done[-1] in answers:
        done.append(rule.decide(replied(month, answers[done[-1]])))
    return done


def test_the_treasurer_requests_nothing_when_a_bad_year_leaves_enough() -> None:
    """It reads growth and the books, and passes."""
    assert [type(command) for command in commands(500e6, 15.0)] == [
        CheckMarketData,
        *[ReviewFinancialRecords] * 3,
        Pass,
    ]


def test_the_treasurer_requests_what_a_bad_year_would_lack() -> None:
    """The difference to the floor over the mean fill, in equity while markets are calm."""
    first = commands(1e6, 15.0)[-1]
    assert isinstance(first, FundRaisingRequest)
    assert first.type == "equity"
    second = commands(1e6, 15.0, floor=20e6)[-1]
    assert isinstance(second, FundRaisingRequest)
    assert second.amount - first.amount == pytest.approx(5e6 / 0.85)
    assert commands(1e6, 15.0, least=50e6)[-1] == FundRaisingRequest("equity", 50e6)
    assert commands(1e6, 15.0, least=50e6, most=0.25)[-1] == FundRaisingRequest("equity", 20e6)


def test_the_treasurer_borrows_in_a_panic_within_half_of_book_equity() -> None:
    """Debt where equity has no chance, nothing where debt would be too much of it."""
    actions = commands(1e6, 60.0, least=30e6)[-1]
    assert actions == FundRaisingRequest("debt", 30e6)
    assert commands(1e6, 60.0, least=50e6)[-1] == Pass()


def test_the_treasurer_repeats_a_refused_request_with_less() -> None:
    """While the month goes on; in a world with a bound it is refused in one month alone."""
    episode = play("enterprise_arena/capped", "treasurer", 1)
    months: dict[int, list[float]] = {}
    for step in episode.steps:
        if isinstance(step.action, FundRaisingRequest):
            months.setdefault(step.t, []).append(step.action.amount)
    (amounts,) = [some for some in months.values() if len(some) > 1]
    assert all(less == pytest.approx(0.9 * more) for more, less in pairwise(amounts))
    assert amounts[-2] > 50e6 >= amounts[-1]
    assert episode.metrics["requests_refused"] == len(amounts) - 1


@pytest.mark.parametrize("budget", [0, 4])
def test_a_treasurer_without_data_raises_nothing(budget: int) -> None:
    """Four calls do for growth and the books, and leave none for rates."""
    assert play(EnterpriseArena(tool_budget=budget), "treasurer").metrics["requests"] == 0


def test_hidden_odds_do_not_reach_the_treasurer() -> None:
    """Up to its first request its commands do not depend on the probabilities."""
    worlds = (EnterpriseArena(), EnterpriseArena(equity_midpoint=60.0, debt_base=0.3))
    actions = [[step.action for step in play(world, "treasurer").steps] for world in worlds]
    first = next(at for at, done in enumerate(actions[0]) if isinstance(done, FundRaisingRequest))
    assert actions[0][: first + 1] == actions[1][: first + 1]


def test_the_future_does_not_reach_the_treasurer() -> None:
    """In both profiles its commands are equal up to the month in which growth differs."""
    actions = [
        [(step.t, step.action) for step in play(f"enterprise_arena/{profile}", "treasurer").steps]
        for profile in ("paper", "snapshot")
    ]
    before = [[step for step in steps if step[0] < 33] for steps in actions]
    assert before[0] == before[1]
