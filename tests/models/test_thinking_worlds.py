"""Every world goes on while a role thinks, and loses neither time nor money over it."""

from pathlib import Path
from typing import Any

import pytest

from desim import Policy, catalog, play, replay
from desim.catalog.presets import presets
from desim.core.roles import Thinking
from models.beer_game import BeerGame
from models.edt import EnterpriseDigitalTwin
from models.enterprise import Enterprise
from models.enterprise_arena import EnterpriseArena
from models.yc_bench import YCBench

HOUR = 3_600_000_000
#: Ticks of a short thought where a tick is a microsecond; elsewhere it is 1.
SHORT = {"yc_bench": HOUR, "enterprise": 24 * HOUR}
SLOW = {"enterprise/group", "enterprise/shock", "yc_bench/paper"}
WORLDS = [
    pytest.param(name, preset, marks=[pytest.mark.slow] if f"{name}/{preset}" in SLOW else [])
    for name, cls in catalog.models().items()
    for preset in presets(cls)
    if name != "edt" or preset == "interactive"
]


@pytest.mark.parametrize(("name", "preset"), WORLDS)
@pytest.mark.parametrize(("policy", "times"), [("greedy", 1), ("random", 7)])
def test_an_episode_with_thinking_replays(
    tmp_path: Path, name: str, preset: str, policy: str, times: int
) -> None:
    """To the same ledgers, in every world and preset, for short and for long thoughts."""
    latency = times * SHORT.get(name, 1)
    record = tmp_path / "a.jsonl"
    given = {"thinking.latency": latency}
    played = play(name, policy, 1, preset=preset, set=given, record=record)
    assert replay(record).result == played.result
    slow = own_roles(catalog.model(f"{name}/{preset}"))
    assert {step.delay for step in played.steps if step.role in slow} == {latency}
    assert {step.delay for step in played.steps if step.role not in slow} <= {0}


def own_roles(model: Any) -> set[str]:
    """Return the roles of a world without those of its parts."""
    return {role for role in model.roles if "." not in role}


@pytest.mark.parametrize("preset", ["classic", "firmbench"])
def test_a_late_order_misses_its_week(preset: str) -> None:
    """The stage orders nothing until then; every week has a row, and the last one ends it."""
    model = BeerGame.preset(
        preset, horizon=8, forced_weeks=0, thinking=Thinking(latency=2), controlled="retailer"
    )
    played = play(model, {"retailer": "greedy", "wholesaler": "greedy"})
    assert played.ended == "horizon"
    for stage in ("retailer", "wholesaler"):
        orders = [week.order for week in played.state.history(stage)]
        made = [step.action.quantity for step in played.steps if step.role == stage]
        first = 3 if preset == "classic" else 2  # players before the week order for the next one
        due = range(first, 9, 3) if preset == "classic" else range(first + 1, 9, 3)
        assert len(orders) == 8
        assert [orders[week - 1] for week in due] == made[: len(due)]
        assert sum(orders) == sum(made[: len(due)])


def test_months_go_on_without_the_officer() -> None:
    """All months are operated; the officer of the lender decides in every third one."""
    model = EnterpriseArena.preset("paper", horizon=12, thinking=Thinking(latency=2))
    played = play(model, "greedy")
    assert [step.t for step in played.steps] == [0, 3, 6, 9]
    assert (
        played.metrics["months"]
        == play(EnterpriseArena.preset("paper", horizon=12), "greedy").metrics["months"]
    )


def test_a_manager_sees_what_happened_while_they_thought() -> None:
    """Each event of the consulting firm is shown, and a manager who waits is asked at once."""
    firm = EnterpriseDigitalTwin.preset("interactive")
    slow = EnterpriseDigitalTwin.preset("interactive", thinking=Thinking(latency=2))
    events = [
        {
            (one.step, one.what, one.project)
            for step in episode.steps
            for one in step.observation.events
        }
        for episode in (play(firm, Waits()), play(slow, Waits()))
    ]
    assert {each for each in events[0] if each[1] != "quarter"} <= events[1]


class Waits(Policy):
    """A manager who only waits."""

    def decide(self, _: Any) -> dict[str, str]:
        """Wait."""
        return {"do": "wait"}


@pytest.mark.parametrize("hours", [30, 700])
def test_a_company_ends_while_its_founder_thinks(hours: int) -> None:
    """At the payday that it cannot pay or at the horizon, not when the answer comes."""
    model = YCBench.preset("paper" if hours == 30 else "default")
    slow = play(model, "greedy", 1, set={"thinking.latency": hours * HOUR})
    assert slow.state.ended is not None
    if slow.ended == "horizon_end":
        assert slow.state.ended == slow.state.clock.horizon
    else:
        assert slow.state.ended == slow.state.bankruptcy


def test_a_group_balances_its_pool_while_the_controller_thinks() -> None:
    """At every month's end, as without a controller if the answer never comes."""
    slow = Enterprise.preset("small", months=6, **{"thinking.latency": 24 * HOUR * 400})
    roles = dict.fromkeys(set(slow.roles) - {"controller"}, "greedy")
    never = play(slow, {**roles, "controller": "greedy"}, 1)
    without = play(Enterprise.preset("small", months=6), roles, 1)
    assert never.metrics == without.metrics
    assert [step.role for step in never.steps].count("controller") == 1
