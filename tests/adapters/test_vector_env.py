"""One seat of many Beer Games at once as a vector environment, equal to as many environments."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from desim.errors import UsageError, WrongAction
from desim.lanes import NoLanes

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils import env_checker
from gymnasium.vector import SyncVectorEnv

from desim.adapters.gymnasium import SeatEnv
from desim.adapters.vector_env import LanesEnv

COUNT = 4
SHORT: dict[str, Any] = {"preset": "poisson", "params": {"horizon": 9}}


def environments(**options: Any) -> tuple[LanesEnv, SyncVectorEnv]:
    """Return some episodes on arrays, and as many environments."""
    return (
        LanesEnv("beer_game", num_envs=COUNT, **options),
        SyncVectorEnv([lambda: SeatEnv("beer_game", **options)] * COUNT),
    )


def comparable(infos: Mapping[str, Any]) -> dict[str, Any]:
    """Return score and reason of the ends; nothing before."""
    names = [name for name in ("score", "ended", "_score", "_ended") if name in infos]
    return {name: infos[name].tolist() for name in names}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"flat": True},
        {"flat": True, "max_decisions": 4},
        {"reward": "-total_cost_supply_chain"},
        {"seat": "wholesaler", "others": "order_up_to"},
    ],
    ids=["fields", "flat", "truncated", "metric", "others"],
)
def test_it_returns_what_as_many_environments_return(options: dict[str, Any]) -> None:
    """Observations, rewards, ends and infos are equal, in the next episodes too."""
    lanes, single = environments(**SHORT, **options)
    assert lanes.observation_space == single.observation_space
    assert lanes.action_space == single.action_space
    draw = np.random.default_rng(5)
    seen, _ = lanes.reset(seed=[4, 9, 1, 0])
    for _ in range(3):
        expected, _ = single.reset(seed=list(lanes.episode_seeds))
        over = False
        while not over:
            assert env_checker.data_equivalence(seen, expected, exact=True)
            assert lanes.observation_space.contains(seen)
            quantities = draw.choice([0, 4, 9], COUNT)
            members = [single.envs[0].unwrapped.encode(_order(one)) for one in quantities.tolist()]
            seen, *facts, infos = lanes.step(_batched(single, members))
            expected, *others, expected_infos = single.step(_batched(single, members))
            assert repr(facts) == repr(others)
            assert comparable(infos) == comparable(expected_infos)
            over = facts[1].all() or facts[2].all()
        assert env_checker.data_equivalence(seen, expected, exact=True)
        seen, *facts, infos = lanes.step(None)
        assert not np.any(facts)
        assert infos == {}


def test_seeds_are_given_or_drawn_after_the_one_given_last() -> None:
    """One seed an episode, or the first of as many in a row; others are drawn anew."""
    lanes, _ = environments(**SHORT)
    drawn = []
    for _ in range(2):
        lanes.reset(seed=3)
        assert lanes.episode_seeds == (3, 4, 5, 6)
        lanes.reset()
        drawn.append(lanes.episode_seeds)
    assert drawn[0] == drawn[1]
    assert len({3, 4, 5, 6, *drawn[0]}) == 8


def _order(quantity: int) -> dict[str, Any]:
    return {"do": "order", "quantity": quantity}


def _batched(single: SyncVectorEnv, members: list[Any]) -> Any:
    space = single.single_action_space
    empty = gymnasium.vector.utils.create_empty_array(space, COUNT)
    return gymnasium.vector.utils.concatenate(space, members, empty)


def test_only_a_world_with_a_twin_is_played_on_arrays() -> None:
    """By their ids; the others are played by Gymnasium's own."""
    made = {"num_envs": 2, "vectorization_mode": None}
    assert isinstance(gymnasium.make_vec("desim/BeerGame-v0", **made), LanesEnv)
    assert isinstance(gymnasium.make_vec("desim/Edt-v0", **made), SyncVectorEnv)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"do": "sell"},
        {"do": "order", "quantity": np.zeros(COUNT + 1, int)},
        {"do": np.ones(COUNT, int), "order": {"quantity": np.zeros(COUNT, int)}},
        {"do": np.zeros(COUNT, int)},
        {"do": "order", "quantity": 2**51},
    ],
)
def test_a_wrong_action_changes_nothing(wrong: Any) -> None:
    """The step can be made again, with an array or one number for all."""
    lanes, _ = environments(**SHORT)
    lanes.reset(seed=2)
    expected = repr(lanes.step(_order(6)))
    lanes.reset(seed=2)
    with pytest.raises((WrongAction, NoLanes)):
        lanes.step(wrong)
    assert repr(lanes.step({"do": "order", "quantity": np.full(COUNT, 6)})) == expected


@pytest.mark.parametrize(
    ("message", "model", "options"),
    [
        ("lanes keep no cash; .*SyncVectorEnv", "beer_game", {"params": {"opening_cash": 5}}),
        ("EnterpriseDigitalTwin has no lanes; .*SyncVectorEnv", "edt", {}),
        ("action='options' was given; .*SyncVectorEnv", "beer_game", {"action": "options"}),
        ("num_envs=0 was given", "beer_game", {"num_envs": 0}),
        ("does not answer all lanes", "beer_game", {"seat": "brewery", "others": "foresight"}),
    ],
)
def test_what_has_no_twin_is_refused(message: str, model: str, options: dict[str, Any]) -> None:
    """In a sentence that names what to use instead."""
    with pytest.raises(UsageError, match=message):
        LanesEnv(model, **options)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("option 'record' was given; lanes take none", {"options": {"record": "x"}}),
        ("2 seeds were given for 4 episodes", {"seed": [1, 2]}),
        ("seed", {"seed": [0, 1, 2, "x"]}),
    ],
)
def test_a_wrong_reset_is_refused(message: str, arguments: dict[str, Any]) -> None:
    """The episodes under way go on."""
    lanes, _ = environments(**SHORT)
    with pytest.raises(UsageError, match="call reset first"):
        lanes.step(_order(1))
    lanes.reset(seed=2)
    with pytest.raises(UsageError, match=message):
        lanes.reset(**arguments)
    assert lanes.step(_order(6))[0]["week"].tolist() == [2] * COUNT
