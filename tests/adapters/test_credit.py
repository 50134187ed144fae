"""Rewards that are advantages over redrawn futures, for TRL and verifiers."""

from pathlib import Path
from typing import Any

import pytest

import desim
from desim.adapters.seat.setup import Setup
from desim.adapters.trl import environment
from desim.errors import UsageError
from desim.studies.decisions.advantages import advantages
from models.beer_game import BeerGame

WEEKS, FUTURES = 10, 4
ROLES = ("retailer", "wholesaler", "distributor", "factory")

GAME = BeerGame.preset("poisson", horizon=WEEKS)

#: The options of a rollout.
CREDIT: dict[str, Any] = {
    "params": {"horizon": WEEKS},
    "others": "order_up_to",
    "credit": "order_up_to",
    "credit_futures": FUTURES,
}


def played(quantity: int, decisions: int = WEEKS, **options: Any) -> Any:
    """Return a rollout that orders the same quantity some times, and its reward."""
    rollout = environment("beer_game/poisson", seat="retailer", **{**CREDIT, **options})()
    rollout.reset(seed=3)
    for _ in range(decisions):
        rollout.order(quantity=quantity)
    return rollout, rollout.get_reward()


def test_rewards_are_the_advantages_of_the_decisions() -> None:
    """Those of the same episode, judged alone; the reward is their sum, also when read again."""
    rollout, reward = played(30)
    policies = {**dict.fromkeys(ROLES, "order_up_to"), "retailer": "constant,quantity=30"}
    direct = desim.play(GAME, policies, 3)
    found = advantages(direct, "order_up_to", role="retailer", futures=FUTURES)
    assert list(rollout.rewards) == [line.mean for line in found.lines]
    assert reward == sum(rollout.rewards) == rollout.get_reward()
    assert reward < -10


def test_an_abandoned_rollout_has_the_advantages_of_default_actions() -> None:
    """A model that stops calling tools escapes none of them."""
    rollout, reward = played(30, 0)
    assert len(rollout.rewards) == WEEKS
    assert reward == sum(rollout.rewards) != 0


def test_the_rewards_of_a_started_episode_are_of_its_own_decisions(tmp_path: Path) -> None:
    """The repeated ones are not credited."""
    record = tmp_path / "r.jsonl"
    desim.play(GAME, dict.fromkeys(ROLES, "order_up_to"), 3, record=record)
    rollout = environment("beer_game/poisson", seat="retailer", **CREDIT)()
    rollout.reset(record=str(record), at=12)
    for _ in range(WEEKS - 3):
        rollout.order(quantity=30)
    assert rollout.get_reward() < 0
    assert len(rollout.rewards) == WEEKS - 3


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"credit_futures": 1}, "whole number from 2 to 10,000"),
        ({"credit_futures": 10**9}, "whole number from 2 to 10,000"),
        ({"credit_futures": float("nan")}, "whole number from 2 to 10,000"),
        ({"reward": "-cost_retailer"}, "whose reward is the score"),
        ({"credit": "no_such_rule"}, "no_such_rule"),
        ({"credit": "llm,model=m,base_url=http://x"}, "cannot play in branches"),
    ],
    ids=str,
)
def test_a_credit_that_cannot_be_played_is_refused(options: dict[str, Any], text: str) -> None:
    """When the class is made."""
    with pytest.raises(UsageError, match=text):
        environment("beer_game/poisson", seat="retailer", **{**CREDIT, **options})


def test_credit_is_for_one_seat() -> None:
    """Several seats have no common reward."""
    with pytest.raises(UsageError, match="credit is for one seat"):
        Setup.of("beer_game/poisson", seats=ROLES[:2], credit="order_up_to")


def test_verifiers_has_the_same_reward() -> None:
    """The facts of a trace hold the advantage of each decision."""
    pytest.importorskip("verifiers")
    from support.agents import by_turn, rolled_out
    from support.stub import serving

    from desim.adapters.verifiers import load_environment

    options = {**CREDIT, "others": {"": "order_up_to"}}
    env = load_environment("beer_game", preset="poisson", seeds="3", seat="retailer", **options)
    with serving(by_turn([{"do": "order", "quantity": 30}] * WEEKS)) as stub:
        (trace,) = rolled_out(env, stub)
    assert trace.ok, trace.errors
    rollout, reward = played(30)
    assert trace.info["desim"]["advantages"] == list(rollout.rewards)
    assert trace.reward == pytest.approx(reward)
