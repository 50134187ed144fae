"""Funding: odds, amounts, delays, rates, repayment, and what is shown of it."""

from itertools import pairwise
from typing import Any

import pytest
from support.arena import DEBT, EQUITY, MILLION, entries, months, opened, played

from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import FundRaisingRequest
from models.enterprise_arena.funding import debt_chance, equity_chance, leverage_factor

MODEL = EnterpriseArena()
#: Enough cash for every month, so that a test depends on funding alone.
RICH = {"opening_cash": 1e9, "zero_noise": True}


def rich(**changes: Any) -> EnterpriseArena:
    """Return a model with enough cash for every month."""
    return EnterpriseArena(**{**RICH, **changes})


@pytest.mark.parametrize(
    ("vix", "chance"), [(13, 0.93), (19, 0.84), (25, 0.68), (30, 0.50), (40, 0.18)]
)
def test_equity_is_less_likely_at_high_vix(vix: float, chance: float) -> None:
    """The five points of SPEC section 8.1."""
    assert equity_chance(MODEL, vix) == pytest.approx(chance, abs=0.005)


def test_the_odds_of_debt_over_the_table_are_those_of_the_spec() -> None:
    """Mean 0.84; 0.95 at zero rates and 0.68 at a SOFR of 5.3; clipped at both ends."""
    table = MODEL.table
    chances = [
        debt_chance(MODEL, *pair) for pair in zip(table.sofr, table.baa_10y_spread, strict=True)
    ]
    assert sum(chances) / len(chances) == pytest.approx(0.84, abs=0.005)
    assert debt_chance(MODEL, 0, 2) == 0.95
    assert debt_chance(MODEL, 5.3, 2) == pytest.approx(0.685)
    assert debt_chance(MODEL, 0, 3) == pytest.approx(0.90)
    assert (debt_chance(MODEL, 50, 2), debt_chance(MODEL, -50, 2)) == (0.30, 0.97)


def test_leverage_above_a_half_lowers_the_odds_of_debt() -> None:
    """Nothing is lost up to 0.5, three quarters at 1, all from 7/6 on."""
    factors = [leverage_factor(MODEL, leverage) for leverage in (0, 0.5, 1, 7 / 6, 3)]
    assert factors == pytest.approx([1, 1, 0.25, 0, 0])


def test_money_arrives_when_it_is_due_and_not_before() -> None:
    """It opens the month of settlement, and the outcome is shown in that month alone."""
    model = rich(forced_funding={2: (True, 0.9, 4)})
    seen = list(months(model, {2: EQUITY}, until=8))
    pending = [each.month.pending_fundraisings for each in seen]
    assert pending == [0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert [each.month.current_month for each in seen if each.month.notifications] == [6]
    (news,) = seen[6].month.notifications
    assert news["event"] == "equity_delivered"
    assert (news["amount"], news["shares_issued"]) == (18 * MILLION, 1.8 * MILLION)
    assert entries(seen[-1].lender, "J1") == [(6, {"1000": 18 * 10**8, "3000": -18 * 10**8})]


def test_a_failure_is_shown_when_it_is_due_and_posts_nothing() -> None:
    """A failure has a delay as well."""
    model = rich(forced_funding={0: (False, 0.9, 3)})
    seen = list(months(model, {0: EQUITY}, until=4))
    assert [each.month.pending_fundraisings for each in seen] == [0, 1, 1, 0, 0]
    assert [news["event"] for news in seen[3].month.notifications] == ["declined"]
    assert (entries(seen[-1].lender, "J1"), seen[-1].lender.rounds) == ([], 0)


def test_a_second_request_is_refused_and_uses_the_month() -> None:
    """One may be pending: the first goes on, and the month closes without another."""
    model = rich(forced_funding={0: (True, 1, 3), 1: (True, 1, 1)})
    seen = list(months(model, {0: EQUITY, 1: DEBT}, until=3))
    reply = seen[2].month.reply
    assert reply is not None
    assert (reply.to, reply.ok) == ("fund_raising_request", False)
    assert seen[2].month.current_month == 2
    assert seen[-1].lender.raised == {"equity": 20 * 10**8}
    assert seen[-1].lender.counts["refused"] == 1


@pytest.mark.parametrize(
    ("kind", "amount", "why"),
    [
        ("grant", MILLION, "type='grant' was given"),
        ("Equity", MILLION, "did you mean 'equity'"),
        ("equity", 0, "amount=0"),
        ("debt", -5.0, "amount=-5.0"),
        ("equity", 1e300, "at most 1,000,000,000,000 dollars"),
    ],
)
def test_a_malformed_request_is_refused_and_uses_the_month(
    kind: str, amount: float, why: str
) -> None:
    """Nothing is pending afterwards, and the reply says why."""
    seen = list(months(rich(), {0: FundRaisingRequest(kind, amount)}, until=1))
    reply = seen[1].month.reply
    assert reply is not None
    assert not reply.ok
    assert why in reply.out
    assert seen[1].month.pending_fundraisings == 0
    assert seen[1].lender.counts["refused"] == 1


def test_outcomes_follow_the_draws_of_the_month() -> None:
    """Success, fill and delay follow the draws of the month of the request."""
    model = EnterpriseArena(opening_cash=1e9)
    actions = {month: FundRaisingRequest("equity", 10 * MILLION) for month in range(132)}
    lender = played(model, actions, seed=5)
    asked = [event for event in lender.events if event["event"] == "submitted"]
    assert len(asked) > 20
    for event, after in pairwise(asked):
        luck, share, wait = lender.draws[event["month"]]
        due = event["month"] + 1 + int(6 * wait)
        assert after["month"] == due
        (outcome,) = [
            each
            for each in lender.events
            if each["month"] == due and each["event"] in ("declined", "equity_delivered")
        ]
        assert (outcome["event"] == "equity_delivered") == (luck < event["p_adj"])
        if luck < event["p_adj"]:
            assert outcome["amount"] == round((0.7 + 0.3 * share) * 10 * MILLION, 2)


def test_each_round_closed_makes_the_next_less_likely() -> None:
    """By a quarter; failures cost nothing."""
    model = rich(forced_funding={0: (True, 1, 1), 1: (False, 1, 1), 2: (True, 1, 1)})
    lender = opened(3, model, dict.fromkeys(range(4), EQUITY))
    factors = [e["m_company"] for e in lender.events if e["event"] == "submitted"]
    assert factors == [1, 0.75, 0.75]


def test_the_contract_rate_is_that_of_the_settlement() -> None:
    """Base rate of the month in which money comes, with the leverage just before the draw."""
    model = rich(forced_funding={0: (True, 1, 2), 2: (True, 1, 3)}, opening_cash=20 * MILLION)
    first = FundRaisingRequest("debt", 80 * MILLION)
    seen = list(months(model, {0: first, 2: DEBT}, until=5))
    macro, lender = model.table, seen[-1].lender
    base = [(macro.tsy2y[month] + macro.baa[month]) / 100 for month in range(6)]
    replied = seen[1].month.reply
    assert replied is not None
    assert replied.out["indicative_rate"] == base[0]
    one, two = lender.term_loans
    assert one.rate == base[2]
    (drawn,) = [e for e in lender.events if e["event"] == "debt_delivered" and e["month"] == 5]
    assert drawn["leverage_at_settlement"] > 0.5
    assert two.rate == pytest.approx(base[5] + 0.05 * (drawn["leverage_at_settlement"] - 0.5))


def test_a_note_is_repaid_in_sixty_instalments_from_the_month_of_the_draw() -> None:
    """The last one takes what rounding has left; interest is on the balance before it."""
    model = rich(forced_funding={0: (True, 1, 1)})
    lender = played(model, {0: FundRaisingRequest("debt", 1_000_000.07)})
    paid = [-amounts["1000"] for _, amounts in entries(lender, "J14")]
    assert [month for month, _ in entries(lender, "J14")] == list(range(1, 61))
    assert sum(paid) == 100_000_007
    assert set(paid[:-1]) == {1_666_667}
    assert abs(paid[-1] - paid[0]) <= 60
    rate = (model.table.tsy2y[1] + model.table.baa[1]) / 100
    interest = [amounts["5400"] for _, amounts in entries(lender, "J13") if "5400" in amounts]
    assert interest[0] == round(1_000_000.07 * rate / 12 * 100)
    assert interest[-1] == round(paid[-1] * rate / 12)
    assert lender.term_loans == []


def test_a_cap_bounds_what_comes_by_book_equity() -> None:
    """Three quarters of the equity at the request, if so set; without, whatever is asked."""
    huge, forced = FundRaisingRequest("equity", 1e9), {0: (True, 1, 1)}
    capped = opened(1, EnterpriseArena(forced_funding=forced, max_raise_multiple=0.75), {0: huge})
    assert capped.raised["equity"] == round(0.75 * 6_365_000_000)
    assert opened(1, EnterpriseArena(forced_funding=forced), {0: huge}).raised["equity"] == 10**11


def test_the_officer_sees_no_odds() -> None:
    """Neither replies nor notifications contain chances, fills, delays, dates or leverage."""
    shown = {"event", "month", "type", "amount", "shares_issued", "contract_rate"}
    replied = {"status", "type", "amount", "indicative_rate"}
    actions = {m: (EQUITY if m % 2 else DEBT) for m in range(132)}
    for seen in months(EnterpriseArena(opening_cash=1e9), actions, seed=3):
        for news in seen.month.notifications:
            assert news.keys() <= shown
        if seen.month.reply is not None and seen.month.reply.ok:
            assert seen.month.reply.out.keys() <= replied


@pytest.mark.parametrize(
    "table",
    [
        {0: (True, 0.85, 3)},
        {"0": {"success": True, "fill": 0.85, "delay": 3}},
        [(0, True, 0.85, 3)],
        [[0, True, 0.85, 3]],
    ],
    ids=str,
)
def test_forced_outcomes_are_read_in_every_form(table: Any) -> None:
    """Mappings and rows become the same rows."""
    assert EnterpriseArena(forced_funding=table).forced_funding == ((0, True, 0.85, 3),)


@pytest.mark.parametrize(
    "table",
    [
        [(0, True, 0.85)],
        [(-1, True, 0.85, 3)],
        [(0, 1, 0.85, 3)],
        [(0, True, 1.5, 3)],
        [(0, True, 0.85, 0)],
        [(0, True, 0.85, 3), (0, False, 0.85, 3)],
        {"0": {"success": True, "fill": 0.85}},
        {"May": (True, 0.85, 3)},
        {0: 5},
        7,
    ],
    ids=str,
)
def test_odd_forced_outcomes_are_refused(table: Any) -> None:
    """Rows are complete, plausible, and each month occurs once."""
    with pytest.raises(ValueError, match="forced_funding"):
        EnterpriseArena(forced_funding=table)
