"""Several seats of a world as PettingZoo environments."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import desim
from desim.errors import UsageError, WrongAction
from models.beer_game import Order

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils import parallel_to_aec

from desim.adapters.pettingzoo import SeatsEnv
from experiments.adapters import pettingzoo_beer_game as script

STAGES = ("retailer", "wholesaler", "distributor", "factory")
COMPANY = ("controller", "treasury.cfo", "plant.retailer")

WORLDS = [
    pytest.param("beer_game", "poisson", {"seats": STAGES}, id="beer_game"),
    pytest.param("consulting", "published", {"seats": ("candidate", "interviewer")}, id="two"),
    pytest.param(
        "consulting", "published", {"seats": ("candidate", "interviewer", "judge")}, id="three"
    ),
    pytest.param(
        "enterprise",
        "small",
        {"seats": COMPANY, "max_decisions": 40},
        id="enterprise",
        marks=pytest.mark.slow,
    ),
]

#: The package's tests recommend names such as player_0, and observations and actions of one array
#: and the same for all; an agent that was never asked observes a blank, in which all is 0. These
#: are warnings about a style; a fault is an exception.
STYLE = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array",
    "ignore:Observations are different",
    "ignore:Observation space for each agent probably",
    "ignore:Action space for each agent probably",
    "ignore:We recommend agents to be named",
    "ignore:Agents have different observation space sizes",
    "ignore:Observation numpy array is all zeros",
    "ignore:Action mask numpy array is all zeros",
)


def beer(**options: Any) -> SeatsEnv:
    """Return all stages of a Beer Game of six weeks."""
    return SeatsEnv("beer_game", "poisson", seats=STAGES, **{"params": {"horizon": 6}, **options})


def ordered(env: SeatsEnv, seed: int) -> list[Any]:
    """Order four units everywhere in every week; return what every step returned."""
    steps: list[Any] = [env.reset(seed=seed)]
    while env.agents:
        steps.append(env.step(dict.fromkeys(env.agents, Order(4))))
    return steps


# -- the package's own tests -----------------------------------------------------------------------


@STYLE
@pytest.mark.parametrize(("world", "preset", "options"), WORLDS)
@pytest.mark.parametrize("by", [{}, {"action": "options", "flat": True}], ids=["fields", "options"])
def test_the_tests_of_pettingzoo_pass(
    world: str, preset: str, options: Mapping[str, Any], by: Mapping[str, Any]
) -> None:
    """Also of agents that act in turn; the same seed is the same episode."""
    parallel = partial(SeatsEnv, world, preset, **options, **by)

    def aec() -> Any:
        return parallel_to_aec(parallel())

    api_test(aec(), num_cycles=20)
    parallel_api_test(parallel(), num_cycles=20)
    seed_test(aec, num_cycles=10)
    parallel_seed_test(parallel, num_cycles=10)


def test_other_seeds_are_other_episodes() -> None:
    """A world that ignored its seed would pass the package's tests."""
    env = beer()
    assert len({repr(ordered(env, seed)) for seed in range(4)}) == 4
    seeds = [_seed(env, 1), *(_seed(env) for _ in range(3))]
    assert len(set(seeds)) == 4
    env.reset(seed=1)
    assert [_seed(env) for _ in range(3)] == seeds[1:]


def _seed(env: SeatsEnv, given: int | None = None) -> int:
    """Begin an episode and return its seed, which no agent is sent."""
    _, infos = env.reset(seed=given)
    assert not any("seed" in info for info in infos.values())
    return env.episode_seed


# -- decisions -----------------------------------------------------------------------------------


def test_agents_that_do_not_decide_now_need_no_action() -> None:
    """In an interview the two take turns; what the other one gives is ignored."""
    env = SeatsEnv("consulting", "published", seats=("candidate", "interviewer"))
    seen, infos = env.reset(seed=1)
    assert {agent: info["deciding"] for agent, info in infos.items()} == {
        "candidate": False,
        "interviewer": True,
    }
    assert env.observation_space("candidate").contains(seen["candidate"])
    hello = {"do": "say", "text": "Hello."}
    _, _, _, _, infos = env.step({"interviewer": hello, "candidate": "nonsense"})
    assert infos["candidate"]["deciding"]
    seen, _, _, _, infos = env.step({"candidate": {"do": "reply", "text": "Hi."}})
    assert seen["candidate"]["last"] == "Hello."
    assert infos["interviewer"]["deciding"]


def test_rewards_have_an_aim_for_each_seat() -> None:
    """And add up to it."""
    aims = {stage: f"-cost_{stage}" for stage in STAGES}
    env = beer(reward=aims)
    steps = ordered(env, 3)
    metrics = steps[-1][-1]["retailer"]["metrics"]
    for stage in STAGES:
        assert sum(step[1][stage] for step in steps[1:]) == pytest.approx(-metrics[f"cost_{stage}"])


def test_the_end_is_the_same_for_all() -> None:
    """Terminated at the world's end, truncated at the limit of decisions; then no agent is left."""
    steps = ordered(beer(), 3)
    assert steps[-1][2:4] == (dict.fromkeys(STAGES, True), dict.fromkeys(STAGES, False))
    assert steps[-2][2] == dict.fromkeys(STAGES, False)
    env = beer(max_decisions=8)
    steps = ordered(env, 3)
    assert len(steps) == 3
    assert steps[-1][2:4] == (dict.fromkeys(STAGES, False), dict.fromkeys(STAGES, True))
    assert env.agents == []


# -- wrong use -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [{"do": "buy"}, {"do": "order", "quantity": 10**19}, 7, None])
def test_a_wrong_action_changes_nothing(wrong: Any) -> None:
    """Not even for the agents whose actions were right."""
    env, steps = beer(), []
    env.reset(seed=3)
    while env.agents:
        with pytest.raises(WrongAction):
            env.step({**dict.fromkeys(STAGES, Order(4)), "factory": wrong})
        steps.append(env.step(dict.fromkeys(STAGES, Order(4))))
    assert repr(steps) == repr(ordered(beer(), 3)[1:])


def test_wrong_use_is_refused() -> None:
    """In a sentence."""
    env = beer()
    with pytest.raises(UsageError, match="no episode has begun"):
        env.step({})
    with pytest.raises(UsageError, match="no episode has begun"):
        _ = env.episode_seed
    env.reset(seed=1)
    with pytest.raises(UsageError, match="'wholesaler' has an open decision, and no action"):
        env.step({"retailer": Order(1)})
    with pytest.raises(UsageError, match="an action of 'brewery' was given"):
        env.step({**dict.fromkeys(STAGES, Order(1)), "brewery": Order(1)})
    with pytest.raises(UsageError, match="an action of 7 was given"):
        env.step({**dict.fromkeys(STAGES, Order(1)), 7: Order(1)})
    for wrong in (-1, 1.5, "3"):
        with pytest.raises(UsageError, match="a seed is a whole number of at least 0"):
            env.reset(seed=wrong)
    with pytest.raises(UsageError, match="record 5 was given"):
        env.reset(seed=1, options={"record": 5})
    ordered(env, 1)
    with pytest.raises(UsageError, match="the episode is over"):
        env.step({})


# -- beside the contract ---------------------------------------------------------------------------


def test_rules_records_and_members(tmp_path: Path) -> None:
    """As for one seat."""
    env = beer()
    file = tmp_path / "episode.jsonl"
    env.reset(seed=3, options={"record": str(file), "options": 1})
    assert "Every observation has these fields" in env.rules("factory")
    while env.agents:
        env.step(dict.fromkeys(env.agents, Order(4)))
    env.close()
    desim.replay(file)
    member = env.encode("factory", {"do": "order", "quantity": 3})
    assert env.action_space("factory").contains(member)


@pytest.mark.slow
def test_the_script_prints_the_same_costs_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """By agents and by rules."""
    script.main()
    agents, rules = (line[20:] for line in capsys.readouterr().out.splitlines())
    assert agents == rules
