"""Rollouts for TRL: what its trainer reads of the class, and what a model may do with it."""

import gc
import inspect
import json
import pickle
from typing import Any

import pytest
from attrs import evolve

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.adapters.trl import Rollout, environment
from desim.catalog import model, model_class, models, presets
from desim.errors import ModelFailed, UsageError
from models.beer_game import BeerGame

#: A seat for every set of actions that a world has, each once.
SEATS = {
    role.action: (f"{world}/{preset}", seat)
    for world in models()
    for preset in presets(model_class(world))
    for seat, role in model(world, preset).roles.items()
}


def tools(cls: type[Rollout]) -> dict[str, Any]:
    """Return the methods that TRL 1.16 offers as tools, found as it finds them."""
    instance = cls()
    return {
        name: getattr(instance, name)
        for name, _ in inspect.getmembers(cls, predicate=inspect.isfunction)
        if name not in ("reset", "get_reward") and not name.startswith("_")
    }


@pytest.mark.parametrize(("world", "seat"), SEATS.values())
def test_every_action_is_a_tool_that_transformers_accepts(world: str, seat: str) -> None:
    """Its own function makes a schema of each method: the same names, and a text for each."""
    chat = pytest.importorskip("transformers.utils")
    setup = Setup.of(world, seats=seat)
    schemas = setup.codec(seat).classes
    found = tools(environment(world, seat=seat))
    assert sorted(found) == sorted(schemas)
    for name, method in found.items():
        function = chat.get_json_schema(method)["function"]
        fields = [each.name for each in schemas[name].__attrs_attrs__]
        assert function["name"] == name
        assert list(function["parameters"]["properties"]) == fields
        assert all(each["description"] for each in function["parameters"]["properties"].values())


def test_types_bounds_and_defaults_reach_the_schema() -> None:
    """What a type hint cannot say is in the text."""
    method = tools(environment("enterprise/small", seat="controller"))["set_limits"]
    given = inspect.signature(method).parameters
    assert list(given) == ["department", "floor", "ceiling"]
    assert given["ceiling"].default is None
    assert given["floor"].annotation is float
    assert str(given["ceiling"].annotation) == "float | None"
    assert "consultancy" in str(given["department"].annotation)
    assert "(at least 0)" in inspect.getdoc(method)


def test_reset_takes_a_dataset_row_and_begins_with_the_rules() -> None:
    """Of its columns only the seed counts, and different seeds differ."""
    cls = environment("beer_game/poisson", seat="retailer")
    rollout = cls()
    first = rollout.reset(seed=1, prompt=[{"role": "user", "content": "Play."}], answer=None)
    assert "Every observation has these fields" in first
    traces = []
    for seed in (1, 2, 1, None):
        rollout.reset(seed=seed)
        traces.append([rollout.order(quantity=4) for _ in range(6)])
    assert traces[0] == traces[2] != traces[1]
    assert traces[3] not in traces[:3]
    bare = environment("beer_game/poisson", seat="retailer", rules=False)()
    assert json.loads(bare.reset(seed=1))["week"] == 1


@pytest.mark.parametrize("seed", [-1, 1.5, "3", True])
def test_a_row_with_another_seed_is_refused(seed: Any) -> None:
    """A data set with a wrong column stops the training at its first row."""
    with pytest.raises(UsageError, match="seed"):
        environment("beer_game", seat="retailer")().reset(seed=seed)


def test_a_reset_that_fails_leaves_no_episode() -> None:
    """Otherwise the next call would act in the one before."""
    rollout = environment("beer_game", seat="retailer")()
    rollout.reset(seed=1)
    with pytest.raises(UsageError, match="seed"):
        rollout.reset(seed=-1)
    assert rollout.session is None
    assert rollout.order(quantity=4) == "No episode has begun; call reset first."


BAD: list[dict[str, Any]] = [
    {},
    {"quantity": "many"},
    {"quantity": float("nan")},
    {"quantity": [4]},
    {"quantity": None},
    {"quantity": 4, "units": 1},
]


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_a_bad_call_gets_a_sentence_and_changes_nothing(arguments: dict[str, Any]) -> None:
    """Whatever a model sends as arguments, no exception reaches the trainer."""
    rollout = environment("beer_game/poisson", seat="retailer", rules=False)()
    order: Any = rollout.order
    assert order(**arguments) == "No episode has begun; call reset first."
    first = rollout.reset(seed=3)
    said = order(**arguments)
    assert "; expected" in said
    assert rollout.session is not None
    assert (rollout.session.answered, rollout.rewards) == (0, ())
    assert rollout.session.text() == first


def test_the_name_of_the_method_is_the_action() -> None:
    """Another tag among the arguments is overridden."""
    rollout = environment("beer_game/poisson", seat="retailer", rules=False)()
    rollout.reset(seed=3)
    assert json.loads(rollout.order(quantity=4, do="x"))["week"] == 2


def test_rewards_are_dense_and_add_up_to_the_change_of_the_score() -> None:
    """A month of a year, truncated: the sum of the decisions' rewards is what TRL gets."""
    cls = environment("beer_game/poisson", seat="retailer", max_days=28)
    rollout = cls()
    rollout.reset(seed=1)
    said = ""
    while not said.startswith("The episode is over."):
        said = rollout.order(quantity=0)
    assert rollout.session is not None
    assert rollout.session.truncated
    assert json.loads(said.partition("over. ")[2]) == {
        "ended": "truncated",
        "score": rollout.session.score,
    }
    assert len(rollout.rewards) == rollout.session.answered == 3
    assert sum(1 for each in rollout.rewards if each) >= 2
    assert rollout.get_reward() == pytest.approx(rollout.session.score)


@pytest.mark.parametrize("played", [0, 3])
def test_an_abandoned_episode_pays_to_its_end(played: int) -> None:
    """The default action is taken at the decisions that are left, as for Inspect and verifiers."""
    rollout = environment("beer_game/poisson", seat="retailer", others="order_up_to")()
    rollout.reset(seed=1)
    for _ in range(played):
        rollout.order(quantity=4)
    reward = rollout.get_reward()
    setup = Setup.of("beer_game/poisson", seats="retailer", others="order_up_to")
    with setup.begin(1) as session:
        while not session.done:
            default = session.open[0].observation.incoming_order
            session.step({"do": "order", "quantity": 4 if session.answered < played else default})
        assert reward == pytest.approx(session.score)
        assert len(rollout.rewards) == session.answered == 52
    assert (rollout.called, rollout.default_share) == (played, 1 - played / 52)
    assert rollout.get_reward() == reward
    assert rollout.order(quantity=4).startswith("The episode is over. ")


def test_a_role_without_a_default_action_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An abandoned rollout of it could not be played to its end."""
    roles = BeerGame().roles
    bare = {name: evolve(role, default_action=None, options=None) for name, role in roles.items()}
    monkeypatch.setattr(BeerGame, "roles", bare)
    with pytest.raises(UsageError, match="neither a default action nor options"):
        environment(BeerGame(), seat="retailer", others="constant,quantity=4")


def test_a_call_after_the_end_gets_a_sentence() -> None:
    """It changes neither the episode nor its reward."""
    rollout = environment("edt/published", seat="manager")()
    rollout.reset()
    decide: Any = rollout.decide
    assert rollout.session is not None
    none = [None] * len(rollout.session.open[0].observation.projects)
    said = decide(consultants=0, revenue_risk=0.0, projects=none)
    assert said.startswith("The episode is over. ")
    reward = rollout.get_reward()
    assert decide(consultants=1, revenue_risk=0.0, projects=none) == said
    assert rollout.get_reward() == reward


def test_a_fault_of_the_model_is_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised where it happens and again by `get_reward`; the next episode is whole."""
    rollout = environment("beer_game/poisson", seat="retailer")()
    rollout.reset(seed=1)

    def fails(_: SteppedSession) -> None:
        raise ModelFailed("the model failed at t=1")

    with monkeypatch.context() as patch:
        patch.setattr(SteppedSession, "advance", fails)
        with pytest.raises(ModelFailed, match="failed at t=1"):
            rollout.order(quantity=4)
    with pytest.raises(ModelFailed, match="failed at t=1"):
        rollout.get_reward()
    assert rollout.order(quantity=4).startswith("The episode has failed.")
    rollout.reset(seed=1)
    assert rollout.get_reward() < 0


def test_a_class_can_be_sent_to_another_process() -> None:
    """TRL's asynchronous trainer pickles it; the copy plays the same episodes."""
    cls = environment("beer_game/poisson", seat="retailer", max_decisions=3, rules=False)
    copy = pickle.loads(pickle.dumps(cls))  # noqa: S301 (made here)
    assert pickle.loads(pickle.dumps(Rollout)) is Rollout  # noqa: S301 (as above)
    assert issubclass(copy, Rollout)
    assert (copy.__name__, sorted(tools(copy))) == (cls.__name__, sorted(tools(cls)))
    assert copy().reset(seed=7) == cls().reset(seed=7)


def test_a_world_with_several_seats_wants_one() -> None:
    """TRL's model has one set of tools."""
    with pytest.raises(UsageError, match="give one as `seat`"):
        environment("enterprise/small")
    assert environment("enterprise/small", seat="plant.retailer").__name__ == (
        "EnterprisePlantRetailer"
    )


def test_a_hundred_episodes_leave_nothing_behind() -> None:
    """An instance is reset often: one session is alive, and it is the last one."""
    rollout = environment("beer_game/poisson", seat="retailer", max_decisions=2)()
    for seed in range(100):
        rollout.reset(seed=seed)
        rollout.order(quantity=seed % 9)
    gc.collect()
    assert sum(type(each) is SteppedSession for each in gc.get_objects()) == 1
