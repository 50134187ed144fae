"""The month: its order, solvency, how an episode ends, tax, year end, noise, score."""

from collections.abc import Generator
from statistics import fmean, pstdev
from typing import Any

import pytest
from support.arena import DEBT, EQUITY, MILLION, entries, months, opened, played

from desim import Run
from desim.core.model import world_rules
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import BookClosing, FundRaisingRequest, Pass
from models.enterprise_arena.params import OPERATE, PAYDAY, SERVICE
from models.enterprise_arena.report import metrics, score, trailing_revenue
from models.enterprise_arena.statements import REPORTS

#: Without noise and funding, cash is negative at the close of month 33.
QUIET = EnterpriseArena(zero_noise=True)


def test_a_month_is_posted_in_the_order_of_the_spec() -> None:
    """J0 and funding open it, tax ends it."""
    model = EnterpriseArena(
        zero_noise=True,
        forced_funding={10: (True, 1, 1), 11: (True, 1, 1)},
        opening_allowance=0,
        chargeoff_base_annual=0.0001,
        receivable_chargeoff_share=0.0001,
        allowance_on_loans=0,
        allowance_on_receivables=0,
    )
    lender = opened(13, model, {10: FundRaisingRequest("debt", MILLION), 11: EQUITY})
    names = [entry.kind for entry in lender.books.book.journal if entry.time == 12]
    order = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
    assert order == [f"J{n}" for n in (0, 1, *range(3, 17))]


def test_a_payday_is_an_event_of_a_process_of_its_own() -> None:
    """At its rank, behind the operations and before the service of notes, it pays the staff."""
    run = Run(EnterpriseArena(horizon=2), 1)
    posted: dict[int, list[str]] = {}

    def watch(rank: int) -> Generator[Any, Any, None]:
        yield run.world.timeout(0, rank=rank)
        posted[rank] = [entry.kind for entry in run.state.books.book.journal][-3:]

    for rank in (OPERATE, PAYDAY, SERVICE):
        run.world.process(watch(rank))
    (decision,) = run.advance()
    run.answer(decision, Pass())
    run.advance()
    assert any(text.startswith("paydays waits for an event") for text in run.world.waiting())
    assert posted[OPERATE][-1] == "J9"
    # A watch of the same rank comes later, because it was started later.
    assert posted[PAYDAY] == posted[SERVICE] == ["J10", "J11", "J12"]


def test_a_bankruptcy_ends_the_episode() -> None:
    """It closes month 33 with negative cash, and month 34 does not begin."""
    acted = [seen.month.current_month for seen in months(QUIET, {})]
    lender = played(QUIET)
    assert acted == list(range(34))
    assert lender.world.ended == "cash balance went negative"
    assert (score(lender), metrics(lender)["months"]) == (0.0, 33)
    assert metrics(lender)["end_cash"] == metrics(lender)["low_cash"] == -1_005_760.81


def test_funding_due_in_a_month_saves_it() -> None:
    """Money is credited before solvency is tested."""
    late = EnterpriseArena(zero_noise=True, forced_funding={32: (True, 1, 3)})
    saved = EnterpriseArena(zero_noise=True, forced_funding={32: (True, 1, 2)})
    assert metrics(played(late, {32: EQUITY}))["months"] == 33
    assert metrics(played(saved, {32: EQUITY}))["months"] > 33


@pytest.mark.parametrize(
    ("preset", "when", "negative"),
    [
        ("paper", "at the end of a month", [33]),
        ("snapshot", "when a month opens (money due then counts)", [33, 61]),
    ],
)
def test_the_preset_and_its_texts_say_when_solvency_is_tested(
    preset: str, when: str, negative: list[int]
) -> None:
    """Equity that is due when month 34 opens comes too late in `paper`."""
    saved = {"zero_noise": True, "forced_funding": {32: (True, 1, 2)}}
    model = EnterpriseArena.preset(preset, **saved)
    cash = model.series(played(model, {32: EQUITY}))["cash"].values
    assert [month for month, dollars in enumerate(cash) if dollars < 0] == negative
    assert f"cash is never below zero {when}" in world_rules(model, "cfo")
    assert f"cash is below $0 {when}" in model.texts("cfo").briefing.it_ends


@pytest.mark.parametrize(
    ("horizon", "ended"), [(33, "horizon"), (34, "cash balance went negative")]
)
def test_solvency_is_tested_once_more_at_the_end(horizon: int, ended: str) -> None:
    """The closing cash of the last month decides, and what would settle next does not."""
    model = EnterpriseArena(zero_noise=True, horizon=horizon, forced_funding={33: (True, 1, 1)})
    lender = played(model, {33: EQUITY})
    assert lender.world.ended == ended
    assert lender.world.now == horizon - 1
    assert (score(lender) > 0) == (ended == "horizon")
    assert metrics(lender)["months"] == horizon - 1


def test_tax_is_paid_a_month_after_it_was_accrued() -> None:
    """On income above the losses carried forward."""
    model = EnterpriseArena(
        zero_noise=True,
        opening_cash=1e9,
        chargeoff_base_annual=0.0,
        receivable_chargeoff_share=0.0,
        allowance_on_receivables=0.0,
        opening_loss_carryforward=1_000_000.0,
    )
    lender = played(model)
    accrued = {month: lines["5500"] for month, lines in entries(lender, "J16")}
    paid = {month: -lines["1000"] for month, lines in entries(lender, "J15")}
    assert paid == {month + 1: tax for month, tax in accrued.items() if month < 131}
    first = min(accrued)
    book = lender.books.book
    income = [REPORTS.income_statement(book, m, m)["pretax_income"] for m in range(132)]
    assert sum(income[:first]) < 100_000_000 < sum(income[: first + 1])
    assert accrued[first] == round(0.21 * (sum(income[: first + 1]) - 100_000_000))
    assert accrued[first + 1] == round(0.21 * income[first + 1])


def test_losses_are_carried_forward_without_an_end() -> None:
    """What is lost in a month reduces the income of later ones, across years."""
    lender = opened(20, QUIET)
    book = lender.books.book
    lost = sum(REPORTS.income_statement(book, m, m)["pretax_income"] for m in range(20))
    assert lender.loss_carryforward == -lost
    assert entries(lender, "J16") == []


def test_noise_has_the_moments_of_the_spec() -> None:
    """Means and deviations of 40 seeds of 132 months, each within four standard errors."""
    model = EnterpriseArena(opening_cash=1e9)
    drawn = [row for seed in range(40) for row in opened(0, model, seed=seed).noise]
    size = len(drawn)
    for at, sigma in enumerate((2.0, 1.5, 0.5, 0.04)):
        values = [row[at] for row in drawn]
        assert abs(fmean(values)) < 4 * sigma / size**0.5
        assert abs(pstdev(values) / sigma - 1) < 4 / (2 * size) ** 0.5


def test_indicators_stay_in_their_ranges() -> None:
    """However large the noise; EBITDA margin never exceeds gross margin."""
    model = EnterpriseArena(
        opening_cash=1e12, sigma_gross_margin=50, sigma_ebitda_margin=50, sigma_collection=1
    )
    for now in played(model, seed=1).indicators:
        assert 10 <= now.gross_margin <= 80
        assert now.ebitda_margin <= min(60, now.gross_margin)
        assert now.ebitda_margin >= 0
        assert 0.85 <= now.collection_rate <= 1


def test_the_score_is_that_of_the_spec() -> None:
    """Five times trailing revenue and closing cash, less the charge for calls."""
    lender = played(EnterpriseArena(opening_cash=1e9))
    book = lender.books.book
    revenue = REPORTS.income_statement(book, 120, 131)["revenue"]
    assert trailing_revenue(lender) == revenue
    assert score(lender) == pytest.approx((5 * revenue + book.balance("1000")) / 100)
    lender.calls[7] += 3
    assert score(lender) == pytest.approx((5 * revenue + book.balance("1000")) / 100 - 15_000)


def test_trailing_revenue_reaches_over_a_year_end() -> None:
    """Twelve months, whatever the horizon; fewer where there are no more."""
    lender = played(EnterpriseArena(zero_noise=True, horizon=30))
    book = lender.books.book
    for last in (0, 5, 11, 12, 17, 29):
        first = max(0, last - 11)
        figures = REPORTS.income_statement(book, first, last)["revenue"]
        assert trailing_revenue(lender, last) == figures


def test_metrics_are_those_of_the_actions() -> None:
    """The columns of Table 2, by hand."""
    forced = {0: (True, 0.5, 2), 3: (False, 1, 1), 5: (True, 0.25, 1)}
    model = EnterpriseArena(zero_noise=True, horizon=10, forced_funding=forced)
    actions: dict[int, Any] = {0: EQUITY, 1: EQUITY, 3: DEBT, 5: DEBT, 7: BookClosing()}
    lender = played(model, actions)
    figures = metrics(lender)
    assert figures["survived"] is True
    assert (figures["equity_raised"], figures["debt_raised"]) == (10 * MILLION, 5 * MILLION)
    assert figures["total_raised"] == 15 * MILLION
    assert (figures["requests"], figures["requests_refused"], figures["successes"]) == (4, 1, 2)
    assert figures["success_rate"] == pytest.approx(2 / 3)
    assert (figures["request_share"], figures["successful_request_share"]) == (0.4, 0.2)
    assert (figures["passes"], figures["pass_share"], figures["closing_share"]) == (5, 0.5, 0.1)
    book = lender.books.book
    closing = [book.balance("1000", at=m) / 100 for m in range(-1, 10)]
    # Funding settles at the opening of months 2 and 6, before the opening cash is recorded.
    settled = {2: 10 * MILLION, 6: 5 * MILLION}
    cash = [closing[m] + settled.get(m, 0) for m in range(10)] + closing[-1:]
    assert figures["end_cash"] == closing[-1]
    assert figures["low_cash"] == min(cash)
    assert figures["peak_cash"] == max(cash)


@pytest.mark.parametrize(
    "changes",
    [
        {"horizon": 133},
        {"horizon": 0},
        {"collection_base": 1.5},
        {"collection_range": (1.0, 0.5)},
        {"opening_cash": float("nan")},
        {"opening_cash": True},
        {"vendor_shares": (0.5, 0.5, 0.5, 0, 0)},
        {"delay_range": (0, 6)},
        {"cash_tool": "all"},
        {"growth_column": "baa"},
    ],
    ids=str,
)
def test_odd_parameters_are_refused(changes: dict[str, Any]) -> None:
    """By name."""
    with pytest.raises((ValueError, TypeError), match=next(iter(changes))):
        EnterpriseArena(**changes)
