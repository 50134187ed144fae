"""Environments of OpenEnv in this process: what a client may do, see, and not change."""

import gc
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openenv")

from click.testing import CliRunner

import desim
from desim.adapters.openenv import package as openenv_package
from desim.adapters.openenv.environment import Served, WorldEnvironment
from desim.adapters.openenv.tasks import CHANGED, SPLITS, Tasks
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.cli.main import main
from desim.core.run import Run
from desim.errors import ModelFailed, UsageError, WriteFailed
from desim.jobs.rows.known_means import known_scores
from experiments.adapters import canaries
from experiments.adapters.canaries import CANARIES, played


def begun(world: str = "beer_game/poisson", seed: int = 1, **options: Any) -> WorldEnvironment:
    """Return an environment after a reset."""
    environment = Served(Setup.of(world, **options))()
    environment.reset(seed=seed)
    return environment


def act(environment: WorldEnvironment, **action: Any) -> Any:
    """Take a step with a tagged object."""
    return environment.step(environment._served.action.model_validate(action))


# -- steps -----------------------------------------------------------------------------------------


BAD: list[dict[str, Any]] = [
    {},
    {"do": "order"},
    {"do": "order", "quantity": "many"},
    {"do": "order", "quantity": float("nan")},
    {"do": "ordr", "quantity": 4},
    {"do": 7},
    {"do": "order", "quantity": 4, "units": 3},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_wrong_action_is_refused_in_the_observation(bad: dict[str, Any]) -> None:
    """It changes nothing, and a client's program goes on."""
    environment = begun()
    seen = act(environment, **bad)
    assert "expected" in seen.refused
    assert (seen.reward, seen.done) == (0.0, False)
    assert (environment.state.step_count, environment.state.refused) == (1, 1)
    first = begun()
    assert seen.observation == first.reset(seed=1).observation
    assert (
        act(environment, do="order", quantity=4).model_dump()
        == act(first, do="order", quantity=4).model_dump()
    )


def test_rewards_add_up_and_the_end_says_how() -> None:
    """The last observation has the result, and a step after it changes nothing."""
    environment = begun()
    rewards = []
    seen = act(environment, do="order", quantity=4)
    while not seen.done:
        rewards.append(seen.reward)
        assert seen.ended is None
        seen = act(environment, do="order", quantity=4)
    assert seen.observation is None
    assert seen.ended["score"] == pytest.approx(sum(rewards) + seen.reward)
    late = act(environment, do="order", quantity=4)
    assert late.refused == "the episode is over; reset begins another"
    assert (late.done, late.reward, late.ended) == (True, 0.0, seen.ended)


def test_a_step_before_the_first_reset_is_refused() -> None:
    """As on every plain HTTP request."""
    environment = Served(Setup.of("beer_game"))()
    assert act(environment, do="order", quantity=4).refused.startswith("no episode has begun")


def test_a_client_sees_the_deciding_seat_and_no_other() -> None:
    """With two seats each observation is one seat's, and answers come one after another."""
    environment = begun("beer_game/poisson", seats=("retailer", "factory"), others="order_up_to")
    seats = []
    for _ in range(4):
        seen = act(environment, do="order", quantity=4)
        seats.append(seen.seat)
        assert seen.observation["role"] == seen.seat
        assert "retailer" not in json.dumps(seen.observation) or seen.seat == "retailer"
    assert set(seats) == {"retailer", "factory"}


def test_a_truncated_episode_tells_its_score_and_nothing_else() -> None:
    """Neither metrics nor a digest: the seat could not observe them."""
    environment = begun(max_decisions=2)
    act(environment, do="order", quantity=4)
    seen = act(environment, do="order", quantity=4)
    assert seen.done
    assert sorted(seen.ended) == ["ended", "score"]


def test_a_fault_of_the_model_ends_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reaches the client as an error, and the next episode is whole."""
    environment = begun()

    def fails(_: Run[Any]) -> None:
        raise ModelFailed("the model failed at t=1")

    with monkeypatch.context() as patch:
        patch.setattr(Run, "advance", fails)
        with pytest.raises(ModelFailed, match="failed at t=1"):
            act(environment, do="order", quantity=4)
    assert act(environment, do="order", quantity=4).refused.startswith("no episode has begun")
    assert not environment.reset(seed=1).done


# -- resets and tasks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sed": 1}, "did you mean 'seed'"),
        ({"seed": -1}, "seed"),
        ({"seed": "1"}, "seed"),
        ({"preset": "posson"}, "did you mean 'poisson'"),
        ({"split": "test"}, "give split and index of a task"),
        ({"split": "test", "index": 1, "seed": 2}, "give split and index of a task"),
        ({"split": "tset", "index": 1}, "did you mean 'test'"),
        ({"split": "test", "index": 10**9}, "has tasks 0 to"),
        ({"split": "test", "index": True}, "has tasks 0 to"),
        ({"split": "test", "index": -1}, "has tasks 0 to"),
        ({"split": {}, "index": 1}, r"split \{\} was given; Possible: train, test"),
        ({"preset": [1]}, r"preset \[1\] was given"),
        ({"self": 1}, "reset takes no 'self'"),
        ({"episode_id": "x" * 256}, "at most 255 printable characters"),
        ({"episode_id": "\ud800"}, "at most 255 printable characters"),
    ],
)
def test_an_impossible_reset_leaves_the_episode_as_it_is(given: dict[str, Any], says: str) -> None:
    """The sentence says what is possible."""
    environment = begun()
    act(environment, do="order", quantity=4)
    with pytest.raises(UsageError, match=says):
        environment.reset(**given)
    assert act(environment, do="order", quantity=4).observation["week"] == 3


def test_tasks_are_presets_and_seeds_in_disjoint_splits() -> None:
    """Every preset in which the seats act alike, and the seeds with known scores to test on."""
    environment = Served(Setup.of("beer_game/poisson"))()
    assert [each["name"] for each in environment.list_splits()] == list(SPLITS) == ["train", "test"]
    assert not set(SPLITS["train"]) & set(SPLITS["test"])
    for split in SPLITS:
        tasks = environment.list_tasks(split)
        assert len(tasks) == environment.num_tasks(split) > 20
        assert [each["index"] for each in tasks] == list(range(len(tasks)))
        assert len({each["id"] for each in tasks}) == len(tasks)
        assert not any("seed" in each for each in tasks)
        assert (
            tasks[3] == environment.get_task(split, 3) == environment.get_task_range(split, 3, 4)[0]
        )
    with pytest.raises(IndexError, match="index -2 was given"):
        environment.get_task_range("test", -2)
    with pytest.raises(IndexError, match="split 'tset' was given"):
        environment.num_tasks("tset")
    task = environment.get_task("train", 7)
    assert task["revision"] == 1
    seen = environment.reset(split="train", index=7)
    assert environment.state.preset == task["preset"]
    assert "seed" not in environment.state.model_dump()
    assert seen.observation == begun(seed=SPLITS["train"][7])._observation().observation


def test_one_reward_serves_all_seats() -> None:
    """A client gets one number; seats that aim at different things are refused."""
    seats = {"seats": ("retailer", "factory"), "others": "order_up_to"}
    aims = {"retailer": "-cost_retailer", "factory": "-cost_factory"}
    setup = Setup.of("beer_game/poisson", **seats, reward=aims)
    for take in (Served, openenv_package.files):
        with pytest.raises(UsageError, match="-cost_retailer, -cost_factory are rewards"):
            take(setup)
    alike = Setup.of("beer_game/poisson", **seats, reward="-cost_factory")
    assert '"--reward", "-cost_factory"' in openenv_package.files(alike)["Containerfile"]


def test_a_preset_that_draws_nothing_has_one_task_a_split() -> None:
    """Its seeds are all the same episode."""
    tasks = Tasks(Setup.of("reasoning/small"))
    assert all(each.deterministic for each in tasks.of("train"))
    assert len(tasks.of("train")) == len(tasks.setups) == len(tasks.of("test"))


def test_changed_parameters_are_no_preset() -> None:
    """Only what is served is a task then."""
    tasks = Tasks(Setup.of("beer_game/poisson", params={"horizon": 8}))
    assert list(tasks.setups) == [CHANGED]
    assert len(tasks.of("train")) == 1000


def test_a_hundred_episodes_leave_nothing_behind() -> None:
    """One environment, reset again and again: one session is alive, and then none."""
    environment = begun()
    for seed in range(100):
        environment.reset(seed=seed)
        act(environment, do="order", quantity=seed % 9)
    environment.close()
    gc.collect()
    assert not any(type(each) is SteppedSession for each in gc.get_objects())


# -- records and folders ---------------------------------------------------------------------------


def test_every_ended_episode_has_a_record_that_replays(tmp_path: Path) -> None:
    """One without a decision leaves none."""
    environment = Served(Setup.of("beer_game/poisson"), tmp_path)()
    for seed in (1, 2):
        seen = environment.reset(seed=seed, episode_id="../../elsewhere")
        while not seen.done:
            seen = act(environment, do="order", quantity=4)
        (file,) = tmp_path.glob(f"beer_game-poisson-{seed}-*.jsonl.gz")
        assert desim.replay(file).score == seen.ended["score"]
    environment.reset(seed=3)
    environment.close()
    assert len(list(tmp_path.iterdir())) == 2


def test_the_folder_of_an_environment_is_complete(tmp_path: Path) -> None:
    """The manifest's task counts are those of the server, and the command starts it."""
    arguments = ["serve", "beer_game", "--openenv", "--package", str(tmp_path)]
    assert CliRunner().invoke(main, arguments, standalone_mode=False).exit_code == 0
    manifest = json.loads((tmp_path / "openenv.yaml").read_text())
    counts = manifest["validation"]["capabilities"]["declared_task_count"]
    environment = Served(Setup.of("beer_game"))()
    assert counts == {split: environment.num_tasks(split) for split in SPLITS}
    container = (tmp_path / "Containerfile").read_text()
    command = json.loads(container.rpartition("CMD ")[2])
    assert command[:3] == ["desim", "serve", "beer_game"]
    assert {"--openenv", "--no-token"} < set(command)
    check = json.loads(container.partition("HEALTHCHECK CMD ")[2].partition("\n")[0])
    compile(check[2], "health check", "exec")
    plan = json.loads((tmp_path / "validation" / "runtime.json").read_text())
    environment.reset(seed=plan["reset"]["seed"])
    for action in plan["actions"]:
        assert not act(environment, **action).refused
    with pytest.raises(WriteFailed, match="exists"):
        openenv_package.write(Setup.of("beer_game"), tmp_path)


def test_a_container_file_needs_names(tmp_path: Path) -> None:
    """What cannot be said on a command line is refused."""
    with pytest.raises(UsageError, match="serves a preset"):
        openenv_package.files(Setup.of("beer_game", params={"horizon": 8}))
    with pytest.raises(UsageError, match="takes no max_days"):
        openenv_package.files(Setup.of("beer_game", max_days=8))
    arguments = ["serve", "beer_game", "--mcp", "--package", str(tmp_path)]
    said = CliRunner().invoke(main, arguments, standalone_mode=False)
    assert "--package goes with --openenv" in said.output + str(said.exception)


# -- canaries --------------------------------------------------------------------------------------


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("world", ["beer_game/poisson", "edt/interactive", "reasoning/small"])
def test_a_canary_earns_no_more_than_chance(world: str, canary: str) -> None:
    """Zeros, the largest numbers and the longest texts score below the floor of these worlds."""
    setup = Setup.of(world)
    known = known_scores(setup.model, world.partition("/")[2])
    assert known is not None
    score, decisions = played(setup, CANARIES[canary], 0)
    assert score < known.of(0).floor
    assert decisions > 5


def test_a_canary_plays_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score from before the end would say nothing, as costs may be due later."""
    monkeypatch.setattr(canaries, "MOST_DECISIONS", 10)
    with pytest.raises(RuntimeError, match="no end after 11 decisions"):
        played(Setup.of("beer_game/poisson"), canaries.no_op, 0)
