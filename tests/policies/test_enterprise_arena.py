"""The named rules of EnterpriseArena, on observations made by hand and on the published targets."""

import pytest
from attrs import evolve

from desim import play
from desim.errors import UsageError
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    BookClosing,
    CommandReply,
    FundRaisingRequest,
    Month,
    Pass,
    VerifyCashPosition,
)
from policies.heuristics.enterprise_arena import (
    EquityThenDebt,
    HumanLike,
    NeverRaise,
    RaiseBelow,
    RaiseOnce,
    RaiseWhenFree,
    Treasurer,
)


def seen(month: int = 0, cash: float = 15e6, pending: int = 0, *events: str) -> Month:
    """Make what the officer sees in a month."""
    return Month(
        current_month=month,
        date=f"month {month}",
        cash_balance=cash,
        active_users=5_000,
        loan_portfolio_gross=50e6,
        total_debt=0.0,
        lending_rate=0.0265,
        pending_fundraisings=pending,
        tool_calls_remaining=20,
        notifications=tuple({"event": event, "month": month} for event in events),
    )


# -- rules -----------------------------------------------------------------------------------------


def test_never_raise_calls_the_tool_as_often_as_its_average() -> None:
    """One and a half calls a month: one, then two."""
    rule = NeverRaise(tools=1.5)
    commands = [rule.decide(seen(month)) for month in (0, 0, 1, 1, 1, 2, 2)]
    looks = [type(command) is VerifyCashPosition for command in commands]
    assert looks == [True, False, True, True, False, True, False]


def test_raise_when_free_waits_for_its_answer() -> None:
    """A request a month unless one is under way."""
    rule = RaiseWhenFree("debt", 7e6)
    assert rule.decide(seen()) == FundRaisingRequest("debt", 7e6)
    assert rule.decide(seen(pending=1)) == Pass()


def test_raise_below_is_strict() -> None:
    """Exactly the floor is enough cash."""
    rule = RaiseBelow(floor=15e6)
    assert rule.decide(seen(cash=15e6)) == Pass()
    assert rule.decide(seen(cash=15e6 - 0.01)) == FundRaisingRequest("equity", 20e6)
    assert rule.decide(seen(cash=0.0, pending=1)) == Pass()


def test_raise_once_asks_in_the_first_month_alone() -> None:
    """Afterwards it passes."""
    rule = RaiseOnce(amount=20e6)
    commands = [rule.decide(seen(month)) for month in range(3)]
    assert commands == [FundRaisingRequest("equity", 20e6), Pass(), Pass()]


def test_equity_then_debt_asks_once_each_as_soon_as_free() -> None:
    """The outcome does not matter; after the last one it passes."""
    rule = EquityThenDebt("equity+debt+equity", 15e6)
    commands = [rule.decide(seen(month, 15e6, month == 1)) for month in range(6)]
    kinds = [getattr(command, "type", "pass") for command in commands]
    assert kinds == ["equity", "pass", "debt", "equity", "pass", "pass"]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("raise_when_free,instrument=gold", "'instrument' must be in"),
        ("raise_below,amount=0", "'amount' must be > 0"),
        ("equity_then_debt,sequence=equity+", "'sequence' must match"),
    ],
)
def test_a_request_that_the_world_would_refuse_is_refused_at_once(spec: str, why: str) -> None:
    """An unknown instrument, an amount of nothing, a sequence without an end."""
    with pytest.raises(UsageError, match=why):
        play("enterprise_arena", spec)


# -- the human schedule ----------------------------------------------------------------------------


def test_experts_take_turns_by_seed() -> None:
    """A plays even seeds, B odd ones, unless one is named."""
    specs = {"human_like": (66e6, 90e6), "human_like,expert=B,tranches=3": (60e6, 60e6)}
    for spec, amounts in specs.items():
        for seed, amount in enumerate(amounts):
            first = play(EnterpriseArena(horizon=1), spec, seed).steps[0].action
            assert first == FundRaisingRequest("equity", amount)


def test_expert_a_raises_two_rounds_and_closes_the_books() -> None:
    """A failed request is repeated; after the second round there is none."""
    rule = HumanLike("A")
    ask = FundRaisingRequest("equity", 66e6)
    assert rule.decide(seen(0)) == ask
    assert rule.decide(seen(1, 15e6, 1)) == BookClosing()
    assert rule.decide(seen(2, 15e6, 0, "declined")) == ask
    assert rule.decide(seen(3, 70e6, 0, "equity_delivered")) == ask
    assert rule.decide(seen(4, 130e6, 0, "equity_delivered")) == BookClosing()
    assert rule.decide(seen(63)) == BookClosing()


def test_expert_b_borrows_from_two_months_on() -> None:
    """From month 63 until a debt has come, from month 84 until a second has."""
    rule = HumanLike("B")
    rule.decide(seen(0, 15e6, 0, "equity_delivered", "equity_delivered"))
    ask = FundRaisingRequest("debt", 90e6)
    assert rule.decide(seen(62)) == BookClosing()
    assert rule.decide(seen(63)) == ask
    assert rule.decide(seen(64, 15e6, 0, "declined")) == ask
    assert rule.decide(seen(66, 100e6, 0, "debt_delivered")) == BookClosing()
    assert rule.decide(seen(83)) == BookClosing()
    assert rule.decide(seen(84)) == ask
    assert rule.decide(seen(86, 190e6, 0, "debt_delivered")) == BookClosing()


def test_a_notification_counts_once_a_month() -> None:
    """It is still in sight after a look at the bank account."""
    rule = HumanLike("A")
    assert rule.decide(seen(5, 15e6, 0, "equity_delivered")) == VerifyCashPosition()
    assert rule.decide(seen(5, 15e6, 0, "equity_delivered")) == FundRaisingRequest("equity", 66e6)


def test_the_schedule_requests_less_after_a_refused_request() -> None:
    """In the same month where it goes on, and in all later ones."""
    rule = HumanLike("A")
    refused = CommandReply("fund_raising_request", ok=False, out="too much")
    assert rule.decide(seen(0)) == FundRaisingRequest("equity", 66e6)
    assert rule.decide(evolve(seen(0), reply=refused)) == FundRaisingRequest("equity", 0.9 * 66e6)
    declined = evolve(seen(2, 15e6, 0, "declined"), reply=CommandReply("pass", ok=True, out={}))
    assert rule.decide(declined) == FundRaisingRequest("equity", 0.9 * 66e6)


def test_the_schedule_knows_the_future() -> None:
    """Its calendar is that of the published path, and the seed selects its expert."""
    assert HumanLike.knows == "future"
    assert HumanLike.draws
    assert Treasurer.knows == "rules"


@pytest.mark.parametrize("seed", [0, 1])
def test_the_schedule_has_three_passes_and_twenty_six_looks(seed: int) -> None:
    """Months 40, 80 and 120 pass; every other month closes the books or asks."""
    metrics = play("enterprise_arena/paper", "human_like", seed).metrics
    assert (metrics["passes"], metrics["tool_calls"]) == (3, 26)
    assert round(metrics["closing_share"] * 132) == 129 - metrics["requests"]
