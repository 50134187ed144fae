"""The preset that boards play: a request has a bound, and a refused request is free."""

import math
from typing import Any

import pytest
from attrs import frozen
from support.arena import DEBT, EQUITY, MILLION, Seat, played

from desim import Policy, play, sweep
from desim.errors import WrongAction
from desim.studies.boards.ranking import ranked
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import FundRaisingRequest, Month, Pass
from models.enterprise_arena.report import metrics, score

#: The exploit of the published rule: it makes a score of trillions.
TRILLION = "raise_when_free,amount=1e12"


@frozen
class Grab(Policy):
    """Raises equity whenever it may, and debt in the last months."""

    def decide(self, month: Month) -> FundRaisingRequest | Pass:
        """Request the largest amount unless a request is under way."""
        if month.pending_fundraisings:
            return Pass()
        kind = "debt" if month.current_month >= 124 else "equity"
        return FundRaisingRequest(kind, 50 * MILLION)


LARGEST = 50 * MILLION


def capped(**changes: Any) -> EnterpriseArena:
    """Return the preset with changes."""
    return EnterpriseArena.preset("capped", **changes)


# -- presets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["capped", "regime"])
def test_a_request_for_a_trillion_leads_no_board(preset: str) -> None:
    """It is refused in every month, so that its episodes are those without funding."""
    rules = ("never_raise", "raise_when_free", TRILLION)
    rows = sweep(f"enterprise_arena/{preset}", list(rules), range(3))
    lines = ranked(rows)
    assert (TRILLION,) not in {line.policies for line in lines}
    trillion, nothing = (rows.where(policy=rule).values("score") for rule in (TRILLION, rules[0]))
    assert trillion == nothing
    assert set(rows.where(policy=TRILLION).values("total_raised")) == {0.0}


# -- requests --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (FundRaisingRequest("equity", 1e12), "at most 50,000,000 dollars; the month goes on"),
        (FundRaisingRequest("equity", LARGEST + 0.01), "at most 50,000,000 dollars"),
        (FundRaisingRequest("debt", 0), "amount=0.0 was given; it is above 0"),
        (FundRaisingRequest("debt", -20 * MILLION), "amount=-20000000.0 was given"),
        (FundRaisingRequest("equity", -1e300), "the month goes on"),
        (FundRaisingRequest("gold", MILLION), "type='gold' was given"),
    ],
    ids=str,
)
def test_a_refused_request_leaves_the_month_to_the_officer(
    request_: FundRaisingRequest, why: str
) -> None:
    """The reply says why; another request is accepted in the same month."""
    seat = Seat(capped(horizon=3))
    reply = seat.ask(request_)
    assert (reply.to, reply.ok) == ("fund_raising_request", False)
    assert why in reply.out
    assert _month(seat).current_month == 0
    after = seat.say(FundRaisingRequest("equity", LARGEST))
    assert after is not None
    assert (after.current_month, after.pending_fundraisings) == (1, 1)


def test_not_a_number_is_no_request() -> None:
    """It is wrong, not refused: the question stays open, and nothing has changed."""
    seat = Seat(capped(horizon=3))
    before = seat.month
    for amount in (math.nan, math.inf, -math.inf):
        with pytest.raises((WrongAction, ValueError), match="amount"):
            seat.say(FundRaisingRequest("equity", amount))
        with pytest.raises(WrongAction, match="amount"):
            seat.say({"do": "fund_raising_request", "type": "equity", "amount": amount})
    assert seat.month == before
    assert seat.lender.counts == {}
    assert seat.say(EQUITY) is not None


def test_free_refusals_have_a_limit() -> None:
    """The twenty-first refused request uses the month, so that no policy is asked without end."""
    seat = Seat(capped(horizon=3))
    wrong = FundRaisingRequest("equity", 1e12)
    for _ in range(20):
        assert "the month goes on" in seat.ask(wrong).out
    assert _month(seat).current_month == 0
    after = seat.say(wrong)
    assert after is not None
    assert after.current_month == 1
    assert after.reply is not None
    assert "goes on" not in after.reply.out
    assert "the month goes on" in seat.ask(wrong).out


def test_in_paper_a_refused_request_uses_the_month() -> None:
    """As published (SPEC section 10)."""
    seat = Seat(EnterpriseArena.preset("paper", horizon=3))
    after = seat.say(FundRaisingRequest("equity", -1.0))
    assert after is not None
    assert after.current_month == 1


@pytest.mark.parametrize("given", [-1, 901, 1.5, True])
def test_odd_numbers_of_free_refusals_are_refused(given: Any) -> None:
    """By name."""
    with pytest.raises((ValueError, TypeError), match="free_refusals"):
        EnterpriseArena(free_refusals=given)


def _month(seat: Seat) -> Month:
    assert seat.month is not None
    return seat.month


# -- debt still owed -------------------------------------------------------------------------------


def test_a_loan_at_the_end_does_not_raise_the_score_net_of_debt() -> None:
    """It raises the published score by what was drawn, less the first instalment and interest."""
    changes = {"zero_noise": True, "horizon": 12, "forced_funding": {10: (True, 1, 1)}}
    model = capped(**changes, score_of="value")
    plain, owing = played(model), played(model, {10: DEBT})
    gain = score(owing) - score(plain)
    net = metrics(owing)["score_net_of_debt"] - metrics(plain)["score_net_of_debt"]
    assert gain == pytest.approx(20e6 * 59 / 60, rel=0.01)
    assert -0.15e6 < net < 0  # a month of interest
    assert metrics(owing)["end_debt"] == pytest.approx(20e6 * 59 / 60, abs=0.01)
    assert metrics(plain)["score_net_of_debt"] == score(plain)


def test_a_bankrupt_company_scores_nothing_net_of_debt() -> None:
    """As its published score; its value added is what it has lost of other people's money."""
    model = capped(zero_noise=True, forced_funding={0: (True, 1, 1)})
    lender = played(model, {0: FundRaisingRequest("debt", MILLION)})
    figures = metrics(lender)
    assert figures["survived"] is False
    assert (figures["value"], figures["score_net_of_debt"]) == (0.0, 0.0)
    assert score(lender) == figures["value_added"] == -figures["end_debt"] < 0


@pytest.mark.parametrize("preset", ["capped", "regime"])
def test_money_that_is_raised_adds_no_value(preset: str) -> None:
    """Equity whenever it is free and debt near the end led by 32 and 50 % while it counted."""
    model = EnterpriseArena.preset(preset)
    for seed in range(3):
        greedy = play(model, Grab(), seed=seed)
        plain = play(model, "raise_when_free,amount=50_000_000", seed=seed)
        assert greedy.metrics["total_raised"] >= plain.metrics["total_raised"]
        assert greedy.score <= plain.score
        assert greedy.score == greedy.metrics["value_added"]
