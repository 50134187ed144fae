"""One seat of many episodes at once as a vector environment, equal to as many environments."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from support.bakery import Bake, Bakery, Cautious
from support.two_bakers import Rivals

from desim import catalog
from desim.core.model_protocols import offers
from desim.errors import UsageError, WrongAction
from desim.lanes.lane_protocols import HasLanes, NoLanes

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils import env_checker
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from desim.adapters.gymnasium import LanesEnv, SeatEnv, env_id

COUNT = 6
_LOAVES = gymnasium.spaces.Box(0, 40, shape=(), dtype=np.int64)


def environments(mode: AutoresetMode, **options: Any) -> tuple[LanesEnv, SyncVectorEnv]:
    """Return some episodes of a bakery on lanes, and as many environments."""
    model = Bakery(days=9)
    return (
        LanesEnv(model, num_envs=COUNT, autoreset_mode=mode, **options),
        SyncVectorEnv([lambda: SeatEnv(model, **options)] * COUNT, autoreset_mode=mode),
    )


def baked(loaves: Any) -> dict[str, Any]:
    """Return the members of the action space that bake some loaves in each lane."""
    loaves = np.broadcast_to(np.asarray(loaves), COUNT)
    return {"do": np.zeros(COUNT, np.int64), "bake": {"loaves": loaves}}


def comparable(infos: Mapping[str, Any]) -> dict[str, Any]:
    """Return infos without ledger digests, elapsed times, and entries that a mask leaves out."""
    found: dict[str, Any] = {}
    for name, each in infos.items():
        if name in ("ledger_digest", "elapsed") or name.startswith("_"):
            continue
        masked = infos[f"_{name}"]
        found[name] = (
            comparable(each)
            if isinstance(each, Mapping)
            else repr(each[masked].tolist()).replace("None", "nan"),
            masked.tolist(),
        )
    return found


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(
    "options",
    [{}, {"flat": True}, {"scaled": True}, {"max_decisions": 4}, {"reward": "-days"}],
    ids=["fields", "flat", "scaled", "truncated", "metric"],
)
def test_it_returns_what_as_many_environments_return(
    mode: AutoresetMode, options: dict[str, Any]
) -> None:
    """Observations, rewards, ends and infos are equal, in later episodes too."""
    lanes, single = environments(mode, **options)
    assert lanes.metadata["autoreset_mode"] == mode
    assert lanes.observation_space == single.observation_space
    assert lanes.action_space == single.action_space
    draw = np.random.default_rng(5)
    for seed in (3, [4, 4, 9, 1, 0, 2], None):
        (seen, infos), (expected, _) = lanes.reset(seed=seed), single.reset(seed=seed)
        if seed is None:
            break
        assert infos == {}
        for _ in range(40):
            assert env_checker.data_equivalence(seen, expected, exact=True)
            assert lanes.observation_space.contains(seen)
            action = baked(draw.choice([0, 6, 12, 60], COUNT, p=[0.2, 0.4, 0.35, 0.05]))
            seen, *facts, infos = lanes.step(action)
            expected, *others, expected_infos = single.step(action)
            assert repr(facts) == repr(others)
            assert comparable(infos) == comparable(expected_infos)
            assert lanes.episode_seeds == single.get_attr("episode_seed")


def test_other_seats_are_played_by_policies_that_answer_all_lanes() -> None:
    """Their answers are those of the same policies in single environments."""
    options = {"seat": "left", "others": "support.two_bakers:Copying"}
    lanes = LanesEnv(Rivals(), num_envs=COUNT, **options)
    single = SyncVectorEnv([lambda: SeatEnv(Rivals(), **options)] * COUNT)
    lanes.reset(seed=8)
    single.reset(seed=8)
    for loaves in [4, 9, 2, 7, 3, 8] * 3:
        seen, rewards, *_ = lanes.step(baked(loaves))
        expected, expected_rewards, *_ = single.step(baked(loaves))
        assert env_checker.data_equivalence(seen, expected, exact=True)
        assert rewards.tolist() == expected_rewards.tolist()


REQUEST = {"do": "fund_raising_request"}
ARENA = [
    {"do": "pass"},
    {"do": "book_closing"},
    {"do": "verify_cash_position"},
    {**REQUEST, "type": "equity", "amount": 5e6},
    {**REQUEST, "type": "debt", "amount": 2e7},
    {**REQUEST, "type": "debt", "amount": -1.0},
]

ORDERS = [{"do": "order", "quantity": quantity} for quantity in (-3, 0, 4, 9.0)]

#: Spaces of long lists and texts are slow to copy and compare.
FEW = {"max_entries": 2, "max_text": 60}


@pytest.mark.parametrize("options", [{}, {"flat": True}], ids=["fields", "flat"])
@pytest.mark.parametrize(
    ("world", "actions", "arguments"),
    [
        ("enterprise_arena", ARENA, {"params": {"horizon": 12}, "reward": "end_cash", **FEW}),
        ("beer_game", ORDERS, {"preset": "poisson", "params": {"horizon": 9}}),
        (
            "beer_game",
            ORDERS,
            {"preset": "firmbench", "seat": "brewery", "others": "sterman", "max_decisions": 7},
        ),
    ],
    ids=["enterprise_arena", "beer_game", "firmbench"],
)
def test_worlds_return_what_as_many_environments_return(
    world: str, actions: list[Any], arguments: dict[str, Any], options: dict[str, Any]
) -> None:
    """By their ids, with members of the widest action space, over several episodes."""
    made = {"num_envs": COUNT, "bounds": "schema", **arguments, **options}
    lanes = gymnasium.make_vec(env_id(world), **made)
    single = gymnasium.make_vec(env_id(world), vectorization_mode="sync", **made)
    assert isinstance(lanes, LanesEnv)
    (seen, _), (expected, _) = lanes.reset(seed=7), single.reset(seed=7)
    known = [single.envs[0].unwrapped.encode(each) for each in actions]
    draw = np.random.default_rng(1)
    for _ in range(30):
        assert env_checker.data_equivalence(seen, expected, exact=True)
        members = [known[number] for number in draw.integers(len(actions), size=COUNT)]
        empty = create_empty_array(single.single_action_space, COUNT)
        action = concatenate(single.single_action_space, members, empty)
        seen, *facts, infos = lanes.step(action)
        expected, *others, expected_infos = single.step(action)
        assert repr(facts) == repr(others)
        assert comparable(infos) == comparable(expected_infos)


@pytest.mark.parametrize("others", ["order_up_to", "sterman"])
def test_other_stages_of_the_beer_game_are_played_by_rules(others: str) -> None:
    """Rules that remember are new in every episode."""
    made = {"num_envs": 3, "preset": "firmbench", "seat": "wholesaler", "others": others}
    lanes = gymnasium.make_vec(env_id("beer_game"), **made)
    single = gymnasium.make_vec(env_id("beer_game"), vectorization_mode="sync", **made)
    lanes.reset(seed=5)
    single.reset(seed=5)
    member = single.envs[0].unwrapped.encode({"do": "order", "quantity": 5})
    empty = create_empty_array(single.single_action_space, 3)
    action = concatenate(single.single_action_space, [member] * 3, empty)
    for _ in range(25):
        assert repr(lanes.step(action)[1:4]) == repr(single.step(action)[1:4])


def test_only_worlds_with_lanes_are_played_on_lanes_by_default() -> None:
    """`make_vec` makes a SyncVectorEnv of the others."""
    lanes = {name for name in catalog.models() if offers(catalog.model_class(name), HasLanes)}
    assert {"beer_game", "enterprise_arena"} <= lanes
    for name in catalog.models():
        assert bool(gymnasium.spec(env_id(name)).vector_entry_point) == (name in lanes)


def test_an_action_is_also_a_tagged_object_of_arrays() -> None:
    """One number stands for all lanes."""
    lanes, _ = environments(AutoresetMode.NEXT_STEP)
    found = []
    for action in (
        baked(7),
        {"do": "bake", "loaves": np.full(COUNT, 7)},
        {"do": "bake", "loaves": 7},
    ):
        lanes.reset(seed=2)
        found.append(repr(lanes.step(action)))
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"do": "sell"},
        {"do": "bake", "loaves": np.zeros(COUNT + 1, int)},
        {"do": np.ones(COUNT, int), "bake": {"loaves": np.zeros(COUNT, int)}},
        {"do": np.zeros(COUNT, int)},
        baked(1.5),
        {"do": np.zeros(2, int), "bake": {"loaves": np.zeros(COUNT, int)}},
    ],
)
def test_a_wrong_action_changes_nothing(wrong: Any) -> None:
    """The step can be made again."""
    lanes, _ = environments(AutoresetMode.NEXT_STEP)
    found = []
    for _ in range(2):
        lanes.reset(seed=2)
        found.append(repr([lanes.step(baked(6)), lanes.step(baked(5))]))
    lanes.reset(seed=2)
    again = []
    for loaves in (6, 5):
        with pytest.raises(WrongAction):
            lanes.step(wrong)
        again.append(lanes.step(baked(loaves)))
    assert {repr(again)} == set(found)


def test_figures_beyond_the_range_of_lanes_are_refused() -> None:
    """Nothing has changed after the refusal."""
    lanes, _ = environments(AutoresetMode.NEXT_STEP)
    lanes.reset(seed=2)
    with pytest.raises(NoLanes, match="more than 10000 loaves"):
        lanes.step(baked(10_001))
    assert lanes.step(baked(6))[0]["day"].tolist() == [1] * COUNT


@frozen
class _Inherits(Bakery):
    """A bakery whose rules are others."""

    def score(self, books: Any) -> float:
        """Return 1."""
        return 1.0


@pytest.mark.parametrize(
    ("message", "model", "options"),
    [
        ("a bakery with a loan has no lanes; .*SyncVectorEnv", Bakery(loan=True), {}),
        ("has no lanes of its own.*SyncVectorEnv", _Inherits(), {}),
        ("EnterpriseDigitalTwin has no lanes; .*SyncVectorEnv", "edt", {}),
        ("action='options' was given; .*SyncVectorEnv", Bakery(), {"action": "options"}),
        ("render_mode='ansi' was given; .*SyncVectorEnv", Bakery(), {"render_mode": "ansi"}),
        ("num_envs=0 was given", Bakery(), {"num_envs": 0}),
        ("autoreset_mode='Never' was given", Bakery(), {"autoreset_mode": "Never"}),
        ("'seller'", Bakery(), {"seat": "seller"}),
        (
            "Cautious, the policy of 'right', does not answer all lanes",
            Rivals(),
            {"seat": "left", "others": Cautious},
        ),
    ],
)
def test_what_has_no_lanes_is_refused_in_a_sentence(
    message: str, model: Any, options: dict[str, Any]
) -> None:
    """It names what to use instead."""
    with pytest.raises(UsageError, match=message):
        LanesEnv(model, **options)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("option 'record' was given; lanes take none", {"options": {"record": "x"}}),
        ("2 seeds were given for 6 episodes", {"seed": [1, 2]}),
        ("seed", {"seed": -1}),
        ("seed", {"seed": [0, 1, 2, 3, 4, "x"]}),
    ],
)
def test_a_wrong_reset_is_refused(message: str, arguments: dict[str, Any]) -> None:
    """The episodes under way go on."""
    lanes, _ = environments(AutoresetMode.NEXT_STEP)
    with pytest.raises(UsageError, match="call reset first"):
        lanes.step(baked(1))
    lanes.reset(seed=2)
    with pytest.raises(UsageError, match=message):
        lanes.reset(**arguments)
    assert lanes.step(baked(6))[0]["day"].tolist() == [1] * COUNT


#: Checks of Gymnasium that hold for vector environments; older versions lack the last.
CHECKS = [
    name
    for name in (
        "check_reset_seed_determinism",
        "check_reset_return_type",
        "check_reset_options",
        "check_returned_data_not_reused",
    )
    if hasattr(env_checker, name)
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("flat", [False, True])
def test_the_checks_of_gymnasium_find_nothing(check: str, flat: bool) -> None:  # noqa: FBT001
    """One lane, whose ends the checks test; few loaves, because lanes refuse very many."""
    lanes = LanesEnv(Bakery(), flat=flat)
    bake = gymnasium.spaces.Dict({"loaves": _LOAVES})
    few = gymnasium.spaces.Dict({"do": gymnasium.spaces.Discrete(1), "bake": bake})
    lanes.action_space = batch_space(few, 1)
    getattr(env_checker, check)(lanes)


def test_an_action_may_be_an_instance_nowhere() -> None:
    """An instance of the action class is one action, and lanes take one for each."""
    lanes, _ = environments(AutoresetMode.NEXT_STEP)
    lanes.reset(seed=2)
    with pytest.raises(WrongAction, match="expected Bake"):
        lanes.step(Bake(3))
