"""One seat of a world as a Gymnasium environment."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.failing_world import Grind, Mill

import desim
from desim import Policy, catalog
from desim.errors import ModelFailed, UsageError, WrongAction
from models.beer_game import BeerGame, Order

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

from desim.adapters.gymnasium import SeatEnv, env_id, register_all
from experiments.adapters import gymnasium_beer_game as script

SHORT = {"params": {"horizon": 6}}
SEATS = [
    (name, preset, role)
    for name in catalog.models()
    for preset in catalog.presets(catalog.model_class(name))
    for role in catalog.model(name, preset).roles
]
FIRST = [(name, *next(s for s in SEATS if s[0] == name)[1:]) for name in catalog.models()]


def beer(**options: Any) -> SeatEnv:
    """Return the retailer of a Beer Game of six weeks."""
    return SeatEnv("beer_game", "poisson", **{**SHORT, "seat": "retailer", **options})


def ordered(env: SeatEnv, seed: int, quantity: int = 4) -> list[Any]:
    """Order the same quantity in every week; return what every step returned."""
    steps = [env.reset(seed=seed)]
    while len(steps) == 1 or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step({"do": "order", "quantity": quantity}))
    return steps


def shown(steps: list[Any]) -> str:
    """Return everything that steps returned as a text, to be compared."""
    return repr(steps)


# -- ids -------------------------------------------------------------------------------------------


def test_every_world_has_an_id_and_needs_no_import() -> None:
    """Its name in CamelCase; `make` imports the module that stands before the colon."""
    env = gymnasium.make(
        "desim.adapters.gymnasium:desim/BeerGame-v0",
        preset="poisson",
        seat="retailer",
        others="order_up_to",
    )
    env.reset(seed=3)
    assert {env_id(name) for name in catalog.models()} <= set(gymnasium.registry)
    assert env_id("yc_bench") == "desim/YcBench-v0"
    register_all()  # again: a second registration of Gymnasium's would warn


# -- the package's own tests -----------------------------------------------------------------------


@pytest.mark.parametrize(("world", "preset", "seat"), FIRST)
def test_check_env_finds_nothing(world: str, preset: str, seat: str) -> None:
    """Warnings are errors."""
    env = gymnasium.make(env_id(world), preset=preset, seat=seat)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"action": "options", "flat": True}], ids=["", "options"])
@pytest.mark.parametrize(("world", "preset", "seat"), SEATS)
def test_check_env_finds_nothing_in_any_seat(
    world: str, preset: str, seat: str, options: dict[str, Any]
) -> None:
    """The roles of every preset; actions by their fields, and by the number of an option."""
    env = gymnasium.make(env_id(world), preset=preset, seat=seat, **options)
    check_env(env.unwrapped, skip_render_check=True)


# -- episodes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("world", "preset", "seat"), FIRST)
@pytest.mark.parametrize("flat", [False, True], ids=["whole", "flat"])
def test_every_observation_is_in_the_space(world: str, preset: str, seat: str, flat: bool) -> None:  # noqa: FBT001
    """Random options are taken, for as long as sixty decisions."""
    env = SeatEnv(world, preset, seat=seat, action="options", flat=flat, max_decisions=60)
    observation, info = env.reset(seed=2)
    draw, over = np.random.default_rng(0), False
    while not over:
        assert env.observation_space.contains(observation)
        assert info["action_mask"].tolist() == observation["action_mask"].tolist()
        offered = np.flatnonzero(info["action_mask"])
        observation, _, terminated, truncated, info = env.step(draw.choice(offered))
        over = terminated or truncated
    assert env.observation_space.contains(observation)


def test_a_seed_is_an_episode_and_others_are_others() -> None:
    """Also in a new environment."""
    env = beer()
    assert shown(ordered(env, 3)) == shown(ordered(env, 3)) == shown(ordered(beer(), 3))
    assert len({shown(ordered(env, seed)) for seed in range(5)}) == 5


def test_a_reset_without_a_seed_draws_one() -> None:
    """The seeds drawn follow from the seed that was given last."""
    env = beer()
    drawn = []
    for _ in range(2):
        env.reset(seed=8)
        assert env.episode_seed == 8
        drawn.append([seed_after_reset(env) for _ in range(3)])
    assert drawn[0] == drawn[1]
    assert len({8, *drawn[0]}) == 4


def seed_after_reset(env: SeatEnv) -> int:
    """Begin an episode and return its seed."""
    env.reset()
    return env.episode_seed


def test_the_end_says_how_it_was() -> None:
    """Facts of the end are in the last info, and none before; nothing new is observed."""
    steps = ordered(beer(), 3)
    assert [step[2] for step in steps[1:]] == [False] * 5 + [True]
    assert not any(step[3] for step in steps[1:])
    assert all(step[-1].keys() == {"elapsed"} for step in steps[:-1])  # nor the seed
    info = steps[-1][-1]
    episode = desim.play(BeerGame.preset("poisson", horizon=6), {"retailer": _Four()}, 3)
    assert info["score"] == episode.result.score == sum(step[1] for step in steps[1:])
    assert info["ledger_digest"] == episode.result.ledger_digest
    assert info["metrics"]["weeks_completed"] == 6
    assert repr(steps[-1][0]) == repr(steps[-2][0])


class _Four(Policy):
    """Orders four units."""

    def decide(self, _: Any) -> Order:
        return Order(4)


def test_an_episode_is_truncated_after_its_decisions() -> None:
    """The observation is what the last decision led to, and no digest is shown."""
    env = beer(max_decisions=4)
    steps = ordered(env, 3)
    assert [step[2:4] for step in steps[1:]] == [(False, False)] * 3 + [(False, True)]
    assert steps[-1][0]["week"] == steps[-2][0]["week"] + 1
    assert steps[-1][-1].keys() == {"elapsed", "ended", "score"}
    with pytest.raises(UsageError, match="the episode is over; call reset first"):
        env.step(Order(1))


@pytest.mark.parametrize(
    "wrong",
    [{"do": "order", "quantity": -(10**19)}, {"do": "buy"}, Order, 5, None, {"do": 0}, "order"],
)
def test_a_wrong_action_changes_nothing(wrong: Any) -> None:
    """The step can be made again."""
    env = beer()
    env.reset(seed=3)
    steps = []
    for _ in range(6):
        with pytest.raises(WrongAction):
            env.step(wrong)
        steps.append(env.step(Order(4)))
    assert shown(steps) == shown(ordered(beer(), 3)[1:])


def test_options_are_actions_by_number() -> None:
    """A number that is not on offer is the role's default action."""
    env = beer(action="options", max_options=9)
    observation, info = env.reset(seed=3)
    options = env.options
    assert info["action_mask"].sum() == len(options) < 9
    assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    assert observation["values"][: len(options)].tolist() == [each.value for each in options]
    played = []
    for action in (len(options) - 1, options[-1].action, 8):
        env.reset(seed=3)
        played.append(env.step(action)[0]["observation"]["last_order"])
    default = catalog.model("beer_game", "poisson").roles["retailer"]
    asked = desim.Run(catalog.model("beer_game", "poisson"), 3, {"retailer"}).advance()[0]
    usual = default.default_for(asked.observation).quantity
    assert played == [options[-1].action.quantity] * 2 + [usual]
    for wrong in (9, -1, 1.5, "0"):
        with pytest.raises(WrongAction, match="the number of an option, 0 to 8"):
            env.step(wrong)


def test_a_record_is_kept(tmp_path: Path) -> None:
    """As an option of `reset`, for one episode; it replays."""
    env, file = beer(), tmp_path / "episode.jsonl"
    env.reset(seed=3, options={"record": str(file)})
    over = False
    while not over:
        over = env.step(Order(4))[2]
    env.close()
    header = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert header["policies"]["retailer"] == "gymnasium"
    desim.replay(file)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("'action' must be in", lambda: beer(action="best")),
        ("max_text", lambda: beer(max_text=0)),
        ("max_entries", lambda: beer(max_entries=10**6)),
        ("max_options", lambda: beer(max_options=0)),
        ("max_decisions", lambda: beer(max_decisions=0)),
        ("no role 'cook'|'cook'", lambda: beer(seat="cook")),
        ("'costs'", lambda: ordered(beer(reward="costs"), 1)),
        ("option 'hard' was given; Possible: record", lambda: beer().reset(options={"hard": 1})),
        ("record 5 was given", lambda: beer().reset(options={"record": 5})),
        ("no episode has begun", lambda: beer().step(Order(1))),
        ("no episode has begun", lambda: beer().episode_seed),
    ],
)
def test_wrong_arguments_are_refused(message: str, make: Callable[[], Any]) -> None:
    """In a sentence."""
    with pytest.raises(UsageError, match=message):
        make()


# -- text and faults -------------------------------------------------------------------------------


def test_a_failed_episode_takes_no_answer_until_the_next_one() -> None:
    """It has ended by the fault of the model."""
    env = SeatEnv(Mill(days=3), seat="miller")
    env.reset(seed=1)
    with pytest.raises(ModelFailed):
        env.step(Grind(13))
    with pytest.raises(UsageError, match="the episode has failed; call reset first"):
        env.step(Grind(1))
    env.reset(seed=1)
    env.step(Grind(1))


# -- many ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [{}, {"action": "options", "flat": True}], ids=["", "options"])
def test_environments_can_be_vectorised(mode: str, options: dict[str, Any]) -> None:
    """Of the world with the most kinds of actions; seeds differ."""
    many = gymnasium.make_vec(
        env_id("yc_bench"), num_envs=2, vectorization_mode=mode, preset="direct", **options
    )
    try:
        many.reset(seed=3)
        assert many.get_attr("episode_seed") == (3, 4)
        many.action_space.seed(1)
        for _ in range(5):
            observations, rewards, terminated, _, _ = many.step(many.action_space.sample())
        assert rewards.shape == terminated.shape == (2,)
        assert many.observation_space.contains(observations)
    finally:
        many.close()


# -- scripts --------------------------------------------------------------------------------------


def test_a_rule_through_the_environment_costs_what_the_policy_does() -> None:
    """The newcomer's script, which orders up to 20 units, beside `order_up_to`."""
    env = gymnasium.make(script.ID, preset="poisson", seat="retailer", others="order_up_to")
    others = dict.fromkeys(("wholesaler", "distributor", "factory"), "order_up_to")
    for seed in range(3):
        lineup = {"retailer": "order_up_to,target=20", **others}
        played = desim.play(BeerGame.preset("poisson"), lineup, seed)
        assert script.cost(env, 20, seed) == -played.score
