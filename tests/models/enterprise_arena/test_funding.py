"""Funding: odds, amounts, delays, rates, repayment, and what of it is told."""

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import DEBT, EQUITY, MILLION, entries, months, opened, played

from desim.params import changed
from desim.schema import from_plain, to_plain
from models.enterprise_arena import EnterpriseArena, FundRaisingRequest
from models.enterprise_arena.funding import debt_chance, equity_chance, leverage_factor

GAME = EnterpriseArena()
#: Rich enough to last, so that funding is all that matters.
RICH = {"opening_cash": 1e9, "zero_noise": True}


def rich(**changes: Any) -> EnterpriseArena:
    """Return a company that lasts."""
    return EnterpriseArena(**{**RICH, **changes})


@pytest.mark.parametrize(
    ("vix", "chance"), [(13, 0.93), (19, 0.84), (25, 0.68), (30, 0.50), (40, 0.18)]
)
def test_equity_is_scarce_where_markets_are_nervous(vix: float, chance: float) -> None:
    """The five points of SPEC section 8.1."""
    assert equity_chance(GAME, vix) == pytest.approx(chance, abs=0.005)


def test_the_odds_of_equity_over_the_table_are_those_of_the_spec() -> None:
    """Mean 0.83, and the least 0.014 in month 62."""
    chances = [equity_chance(GAME, vix) for vix in GAME.table.vix_avg]
    assert sum(chances) / len(chances) == pytest.approx(0.83, abs=0.005)
    assert chances.index(min(chances)) == 62
    assert min(chances) == pytest.approx(0.014, abs=0.0005)


def test_the_odds_of_debt_over_the_table_are_those_of_the_spec() -> None:
    """Mean 0.84; 0.95 at zero rates and 0.68 at a SOFR of 5.3; clipped at both ends."""
    table = GAME.table
    chances = [
        debt_chance(GAME, *pair) for pair in zip(table.sofr, table.baa_10y_spread, strict=True)
    ]
    assert sum(chances) / len(chances) == pytest.approx(0.84, abs=0.005)
    assert debt_chance(GAME, 0, 2) == 0.95
    assert debt_chance(GAME, 5.3, 2) == pytest.approx(0.685)
    assert debt_chance(GAME, 0, 3) == pytest.approx(0.90)
    assert (debt_chance(GAME, 50, 2), debt_chance(GAME, -50, 2)) == (0.30, 0.97)


def test_leverage_above_a_half_spoils_the_odds_of_debt() -> None:
    """Nothing is lost up to 0.5, three quarters at 1, all from 7/6 on."""
    factors = [leverage_factor(GAME, leverage) for leverage in (0, 0.5, 1, 7 / 6, 3)]
    assert factors == pytest.approx([1, 1, 0.25, 0, 0])


def test_money_arrives_when_it_is_due_and_not_before() -> None:
    """It opens the month of settlement, and the outcome is told in that month alone."""
    game = rich(forced_funding={2: (True, 0.9, 4)})
    seen = list(months(game, {2: EQUITY}, until=8))
    pending = [each.month.pending_fundraisings for each in seen]
    assert pending == [0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert [each.month.current_month for each in seen if each.month.notifications] == [6]
    (news,) = seen[6].month.notifications
    assert news["event"] == "equity_delivered"
    assert (news["amount"], news["shares_issued"]) == (18 * MILLION, 1.8 * MILLION)
    assert entries(seen[-1].company, "J1") == [(6, {"1000": 18 * 10**8, "3000": -18 * 10**8})]


def test_a_refusal_is_told_when_it_is_due_and_books_nothing() -> None:
    """Failures take their time as well."""
    game = rich(forced_funding={0: (False, 0.9, 3)})
    seen = list(months(game, {0: EQUITY}, until=4))
    assert [each.month.pending_fundraisings for each in seen] == [0, 1, 1, 0, 0]
    assert [news["event"] for news in seen[3].month.notifications] == ["declined"]
    assert (entries(seen[-1].company, "J1"), seen[-1].company.rounds) == ([], 0)


def test_a_second_request_is_refused_and_uses_the_month() -> None:
    """One may be pending: the first goes on, and the month closes without another."""
    game = rich(forced_funding={0: (True, 1, 3), 1: (True, 1, 1)})
    seen = list(months(game, {0: EQUITY, 1: DEBT}, until=3))
    reply = seen[2].month.reply
    assert reply is not None
    assert (reply.to, reply.ok) == ("fund_raising_request", False)
    assert seen[2].month.current_month == 2
    assert seen[-1].company.raised == {"equity": 20 * 10**8}
    assert seen[-1].company.counts["refused"] == 1


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
    assert seen[1].company.counts["refused"] == 1


def test_a_request_can_follow_in_the_month_of_an_outcome() -> None:
    """What held the place has left it when the month opens."""
    game = rich(forced_funding={0: (True, 1, 1), 1: (True, 1, 1)})
    company = opened(2, game, {0: EQUITY, 1: EQUITY})
    assert company.rounds == 2
    assert company.counts["refused"] == 0


def test_odds_are_drawn_by_month_and_laws() -> None:
    """Success, fill and delay follow the draws of the month of the request."""
    game = EnterpriseArena(opening_cash=1e9)
    actions = {month: FundRaisingRequest("equity", 10 * MILLION) for month in range(132)}
    company = played(game, actions, seed=5)
    asked = [event for event in company.events if event["event"] == "submitted"]
    assert len(asked) > 20
    for event, after in pairwise(asked):
        luck, share, wait = company.draws[event["month"]]
        due = event["month"] + 1 + int(6 * wait)
        assert after["month"] == due
        (outcome,) = [
            each
            for each in company.events
            if each["month"] == due and each["event"] in ("declined", "equity_delivered")
        ]
        assert (outcome["event"] == "equity_delivered") == (luck < event["p_adj"])
        if luck < event["p_adj"]:
            assert outcome["amount"] == round((0.7 + 0.3 * share) * 10 * MILLION, 2)


def test_each_round_closed_makes_the_next_less_likely() -> None:
    """By a quarter; failures cost nothing."""
    game = rich(forced_funding={0: (True, 1, 1), 1: (False, 1, 1), 2: (True, 1, 1)})
    company = opened(3, game, dict.fromkeys(range(4), EQUITY))
    factors = [e["m_company"] for e in company.events if e["event"] == "submitted"]
    assert factors == [1, 0.75, 0.75]


def test_draws_do_not_depend_on_what_is_decided() -> None:
    """Two policies on one seed meet the same noise and the same luck."""
    one = opened(30, GAME, {}, seed=9)
    other = opened(30, GAME, dict.fromkeys(range(30), EQUITY), seed=9)
    assert (one.noise, one.draws) == (other.noise, other.draws)
    assert one.indicators == other.indicators
    assert opened(1, GAME, {}, seed=10).noise != one.noise


def test_the_contract_rate_is_that_of_the_settlement() -> None:
    """Base rate of the month in which money comes, with the leverage just before the draw."""
    game = rich(forced_funding={0: (True, 1, 2), 2: (True, 1, 3)}, opening_cash=20 * MILLION)
    first = FundRaisingRequest("debt", 80 * MILLION)
    seen = list(months(game, {0: first, 2: DEBT}, until=5))
    macro, company = game.table, seen[-1].company
    base = [(macro.tsy2y[month] + macro.baa[month]) / 100 for month in range(6)]
    replied = seen[1].month.reply
    assert replied is not None
    assert replied.out["indicative_rate"] == base[0]
    one, two = company.term_loans
    assert one.rate == base[2]
    (drawn,) = [e for e in company.events if e["event"] == "debt_delivered" and e["month"] == 5]
    assert drawn["leverage_at_settlement"] > 0.5
    assert two.rate == pytest.approx(base[5] + 0.05 * (drawn["leverage_at_settlement"] - 0.5))


def test_a_note_is_repaid_in_sixty_instalments_from_the_month_of_the_draw() -> None:
    """The last one takes what rounding has left; interest is on the balance before it."""
    game = rich(forced_funding={0: (True, 1, 1)})
    company = played(game, {0: FundRaisingRequest("debt", 1_000_000.07)})
    paid = [-amounts["1000"] for _, amounts in entries(company, "J14")]
    assert [month for month, _ in entries(company, "J14")] == list(range(1, 61))
    assert sum(paid) == 100_000_007
    assert set(paid[:-1]) == {1_666_667}
    assert abs(paid[-1] - paid[0]) <= 60
    rate = (game.table.tsy2y[1] + game.table.baa[1]) / 100
    interest = [amounts["5400"] for _, amounts in entries(company, "J13") if "5400" in amounts]
    assert interest[0] == round(1_000_000.07 * rate / 12 * 100)
    assert interest[-1] == round(paid[-1] * rate / 12)
    assert company.term_loans == []


def test_notes_are_serviced_again_after_a_time_without_any() -> None:
    """Interest and instalments start in the month of every draw."""
    terms = {"note_term_months": 3, "forced_funding": {0: (True, 1, 1), 9: (True, 1, 1)}}
    company = played(rich(horizon=20, **terms), {0: DEBT, 9: DEBT})
    assert [month for month, _ in entries(company, "J14")] == [1, 2, 3, 10, 11, 12]


def test_funding_under_way_at_the_end_is_lost() -> None:
    """What is due after the last month comes to nothing."""
    game = rich(horizon=6, forced_funding={5: (True, 1, 1)})
    company = played(game, {5: EQUITY})
    assert company.world.ended == "horizon"
    assert (company.raised.total(), company.request is None) == (0, False)


def test_a_cap_bounds_what_comes_by_book_equity() -> None:
    """Three quarters of the equity at the request, if so set; without, whatever is asked."""
    huge, forced = FundRaisingRequest("equity", 1e9), {0: (True, 1, 1)}
    capped = opened(1, EnterpriseArena(forced_funding=forced, max_raise_multiple=0.75), {0: huge})
    assert capped.raised["equity"] == round(0.75 * 6_365_000_000)
    assert opened(1, EnterpriseArena(forced_funding=forced), {0: huge}).raised["equity"] == 10**11


def test_less_than_a_cent_is_taken_and_books_nothing() -> None:
    """A round too small to post is a round all the same."""
    game = rich(horizon=6, forced_funding={0: (True, 0.7, 1), 1: (True, 0.7, 1)})
    company = played(
        game, {0: FundRaisingRequest("equity", 0.001), 1: FundRaisingRequest("debt", 0.001)}
    )
    assert (company.rounds, company.raised.total(), company.term_loans) == (1, 0, [])


def test_the_officer_is_told_no_odds() -> None:
    """Neither replies nor news hold chances, fills, delays, dates or leverage."""
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
    """Rows are complete, plausible, and each month stands once."""
    with pytest.raises(ValueError, match="forced_funding"):
        EnterpriseArena(forced_funding=table)


@pytest.mark.parametrize("text", ["[[0, true, 0.85, 3]]", '{"0": [true, 0.85, 3]}'])
def test_forced_outcomes_are_read_from_the_command_line(text: str) -> None:
    """As JSON, in both forms; what a record holds reads back equal."""
    model = changed(EnterpriseArena(), {"forced_funding": text})
    assert model.forced == {0: (True, 0.85, 3)}
    assert from_plain(to_plain(model), EnterpriseArena) == model
