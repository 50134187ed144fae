"""The named rules of EnterpriseArena, on observations made by hand and on the published targets."""

import importlib.util
import json
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

import pytest

from desim import Rows, play, sweep
from desim.errors import UsageError
from models.enterprise_arena import (
    BookClosing,
    EnterpriseArena,
    FundRaisingRequest,
    Month,
    Pass,
    VerifyCashPosition,
)
from models.enterprise_arena.articulation import checked
from policies.heuristics.enterprise_arena import (
    EquityThenDebt,
    HumanLike,
    NeverRaise,
    RaiseBelow,
    RaiseOnce,
    RaiseWhenFree,
    baselines,
)

ROOT = Path(__file__).parents[2]
#: Of a band test: enough for a gross fault, and little beside the 200 of the experiment.
SEEDS = 12


@pytest.fixture(autouse=True)
def books_articulate() -> Iterator[None]:
    """Verify section 7.3 of the SPEC at the end of every month of every episode."""
    with checked():
        yield


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The experiment that reproduces the targets."""
    monkeypatch.syspath_prepend(ROOT / "experiments")
    spec = importlib.util.spec_from_file_location(
        "reproduced", ROOT / "experiments" / "reproduce_enterprise_arena.py"
    )
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


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


def test_never_raise_passes() -> None:
    """However little cash there is."""
    assert NeverRaise().decide(seen(cash=-1.0)) == Pass()


def test_never_raise_looks_as_often_as_asked_on_average() -> None:
    """One and a half calls a month: one, then two."""
    rule = NeverRaise(tools=1.5)
    said = [rule.decide(seen(month)) for month in (0, 0, 1, 1, 1, 2, 2)]
    looks = [type(command) is VerifyCashPosition for command in said]
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


def test_raise_once_asks_in_its_month_alone() -> None:
    """Before and after it passes."""
    rule = RaiseOnce(amount=20e6, month=3)
    said = [rule.decide(seen(month)) for month in range(6)]
    assert said == [Pass()] * 3 + [FundRaisingRequest("equity", 20e6)] + [Pass()] * 2


def test_equity_then_debt_asks_once_each_as_soon_as_free() -> None:
    """The outcome does not matter; after the last one it passes."""
    rule = EquityThenDebt("equity+debt+equity", 15e6)
    said = [rule.decide(seen(month, 15e6, month == 1)) for month in range(6)]
    kinds = [getattr(command, "type", "pass") for command in said]
    assert kinds == ["equity", "pass", "debt", "equity", "pass", "pass"]


@pytest.mark.parametrize("sequence", ["", "equity+", "equity,debt", "equity debt", "loan"])
def test_equity_then_debt_knows_two_instruments(sequence: str) -> None:
    """Anything else between plus signs is refused."""
    with pytest.raises(ValueError, match="sequence"):
        EquityThenDebt(sequence)


@pytest.mark.parametrize("spec", ["raise_when_free,instrument=gold", "raise_below,amount=0"])
def test_a_request_that_the_world_would_refuse_is_refused_at_once(spec: str) -> None:
    """An unknown instrument, and an amount of nothing."""
    with pytest.raises(UsageError):
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


@pytest.mark.parametrize("seed", [0, 1])
def test_the_schedule_has_three_passes_and_twenty_six_looks(seed: int) -> None:
    """Months 40, 80 and 120 pass; every other month closes the books or asks."""
    told = play("enterprise_arena", "human_like", seed).metrics
    assert (told["passes"], told["tool_calls"]) == (3, 26)
    assert round(told["closing_share"] * 132) == 129 - told["requests"]


# -- targets ---------------------------------------------------------------------------------------


@pytest.mark.traces("enterprise_arena/targets.json")
def test_the_script_holds_the_targets_of_the_reference(trace: Path, script: ModuleType) -> None:
    """Profile, prototype and acceptance band of all, in order."""
    told = json.loads(trace.read_text())["targets"]
    bands = [tuple(each.get("implementation_band") or ()) for each in told]
    assert [target.band or () for target in script.TARGETS] == bands
    assert [(t.profile, t.prototype) for t in script.TARGETS] == [
        (each["profile"], each["achieved"]) for each in told
    ]
    assert all(
        str(each["target"]) in t.published for each, t in zip(told, script.TARGETS, strict=True)
    )


def test_every_rule_lies_where_the_prototype_does(script: ModuleType) -> None:
    """Means of few seeds, within four standard errors of both means."""
    wanted = [t for t in script.TARGETS if t.figure != "time_average" and t.policy != script.ANY]
    played = {profile: _played(wanted, profile) for profile in script.PROFILES}
    early = sweep("enterprise_arena", script.NEVER, range(SEEDS), set={"horizon": 3})
    missed = []
    for target in wanted:
        ours = script.values(target, played[target.profile], early, SEEDS)
        gap = abs(fmean(ours) - target.prototype)
        if gap > 4 * _spread(target, ours) * math.sqrt(1 / SEEDS + 1 / 1000):
            missed.append((target, fmean(ours)))
    assert missed == []


def test_the_time_average_counts_every_call(script: ModuleType) -> None:
    """With 18.94 calls a month it is 5,000 dollars a call below that without, on one history."""
    average = script.time_average("snapshot", 0)
    assert average == pytest.approx(29.6e6, abs=3e6)
    calls = play("enterprise_arena/snapshot", script.LOOKING, 0).metrics["tool_calls"]
    months = play("enterprise_arena/snapshot", script.NEVER, 0).metrics["months"] + 1
    assert calls == math.floor(18.94 * months)


def test_a_ratio_spreads_as_the_delta_method_says(script: ModuleType) -> None:
    """Two of three and none of one: a half in all, not the mean of the two rates."""
    values = script.pooled([2.0, 0.0], [3.0, 1.0])
    assert values == pytest.approx([0.75, 0.25])
    assert fmean(values) == 0.5


def test_baselines_play_every_preset() -> None:
    """Each named spec plays a month of each."""
    for preset in EnterpriseArena.presets:
        model = EnterpriseArena.preset(preset, horizon=2)
        for spec in baselines(model):
            assert play(model, spec).metrics["months"] == 1


def _played(wanted: list[Any], profile: str) -> Rows:
    specs = list(dict.fromkeys(t.policy for t in wanted if t.profile == profile))
    return sweep(f"enterprise_arena/{profile}", specs, range(SEEDS))


def _spread(target: Any, ours: list[float]) -> float:
    """Return the standard deviation of one episode's figure: ours, or that of a share."""
    mean = fmean(ours)
    own = math.sqrt(sum((value - mean) ** 2 for value in ours) / (SEEDS - 1))
    if target.figure not in ("survived", "first_surge"):
        return own
    # Few seeds may all agree where a share is near 0 or 1.
    share = min(max(target.prototype, 1 / SEEDS), 1 - 1 / SEEDS)
    return math.sqrt(share * (1 - share))
