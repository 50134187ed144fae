"""The taskset of verifiers, played against the stub of an endpoint."""

import asyncio
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verifiers", reason="the extra `verifiers` is not installed")

import verifiers.v1 as vf
from support.agents import KEY, by_turn, called, rolled_out, said
from support.stub import Served, serving

import desim
from desim import catalog
from desim.adapters.seat.stepped_session import SteppedSession
from desim.adapters.verifiers import TASKSET, load_environment
from desim.adapters.verifiers.data import RolloutState, WorldData
from desim.adapters.verifiers.tool_server import WorldToolset
from desim.errors import UsageError
from desim.records.episode import Episode

#: A Beer Game of six weeks.
SHORT = {"params": {"horizon": 6}}

DECISIONS = 6

ORDER = called(("order", {"quantity": 4}))


def short(
    seeds: str = "1:2",
    harness: dict[str, Any] | None = None,
    agent: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Return the environment of a short Beer Game, with options of harness, agent and taskset."""
    taskset = {"id": TASKSET, "world": "beer_game", "preset": "poisson", "seeds": seeds, **SHORT}
    config: dict[str, Any] = {"taskset": {**taskset, **options}, "agent": agent or {}}
    if harness:
        config["agent"] = {"harness": {"id": TASKSET, **harness}}
    return vf.load_environment(vf.resolve_env_config(config))


def one(env: Any, *answers: Any) -> tuple[Any, Any]:
    """Return the trace of the only task, and the stub that played it."""
    with serving(*answers) as stub:
        (trace,) = rolled_out(env, stub)
    return trace, stub


def test_a_task_is_a_preset_and_a_seed() -> None:
    """The rules are the system prompt, the first observation the user's; neither has the seed."""
    tasks = list(load_environment("beer_game", preset="poisson,classic", seeds="3:5").taskset)
    assert [task.key for task in tasks] == [
        "beer_game/poisson/3",
        "beer_game/poisson/4",
        "beer_game/classic/3",
        "beer_game/classic/4",
    ]
    assert "Keep your own cost" in tasks[0].data.system_prompt
    assert json.loads(tasks[0].data.prompt)["role"] == "retailer"
    assert "seed" not in tasks[0].data.system_prompt + tasks[0].data.prompt
    assert tasks[0].data.prompt != tasks[1].data.prompt  # different seeds differ
    assert tasks[0].data.revision == 1


@pytest.mark.parametrize("world", catalog.models())
def test_there_is_a_taskset_of_every_world(world: str) -> None:
    """Its first task is valid, or has no policy that could show it."""
    task = next(iter(load_environment(world).taskset))
    assert asyncio.run(task.validate(None)) in {True, None}


@pytest.mark.slow
def test_many_rollouts_at_once_play_as_desim_does() -> None:
    """Each has an episode of its own, and none stays open."""
    env = short("0:100")
    with serving(by_turn([{"do": "order", "quantity": 4}] * DECISIONS, 6)) as stub:
        traces = rolled_out(env, stub)
    assert len({trace.info["desim"]["ledger_digest"] for trace in traces}) == 100
    model = catalog.model("beer_game", "poisson", {"horizon": "6"})
    for trace in traces:
        direct = desim.play(model, {"retailer": "constant,quantity=4"}, trace.task.data.seed)
        assert direct.result is not None
        assert trace.info["desim"]["ledger_digest"] == direct.result.ledger_digest
        assert trace.reward == direct.result.score  # of these parameters no scale is known
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, SteppedSession)]


def test_the_reward_is_normalised_where_the_scale_is_known() -> None:
    """With the parameters of a preset it is, and as `score` it is not."""
    for reward, low, high in (("auto", 0, 1), ("score", -1_000, -100)):
        env = load_environment("beer_game", preset="poisson", seeds="1", reward=reward)
        trace, _ = one(env, by_turn([{"do": "order", "quantity": 4}] * 52, 52))
        assert low < trace.reward < high
        assert trace.metrics["score"] == trace.info["desim"]["score"]


def test_wrong_calls_are_answered_with_the_schemas_sentence() -> None:
    """The model reads what is wrong, nothing changes, and the calls are counted."""
    wrong = called(("oder", {}), ("order", {"quantity": "many"}), ("order", "{broken"))
    trace, stub = one(short(), wrong, ORDER)
    texts = [each["content"] for each in stub.requests[1]["messages"][-3:]]
    assert texts[0].startswith("Error: there is no tool 'oder'; did you mean 'order'?")
    assert "quantity" in texts[1]
    assert texts[2] == "Error: the arguments of 'order' are no object"
    assert trace.metrics["wrong"] == 3
    assert trace.metrics["answers"] == DECISIONS
    assert trace.metrics["ended"] == 1
    assert trace.metrics["played"] == 1


def test_an_endless_talker_is_nudged_and_then_defaulted() -> None:
    """Nudges are limited, so a rollout ends even if nobody ever calls a tool."""
    trace, stub = one(short(harness={"nudges": 1}), said("Let me think."))
    assert trace.metrics["defaults"] == DECISIONS
    assert (trace.metrics["default_share"], trace.metrics["played"]) == (1, 0)
    assert len(stub.requests) == 2 * DECISIONS
    assert stub.requests[1]["messages"][-1]["content"].startswith("No tool was called")
    assert stub.requests[2]["messages"][-1]["content"].startswith("The default action was taken")


def test_at_a_limit_of_verifiers_the_rest_is_played_by_default_actions() -> None:
    """A model that is stopped pays for the time that is left, and is counted as stopped."""
    trace, stub = one(short(agent={"max_turns": 2}), ORDER)
    assert len(stub.requests) == 2
    assert trace.ok
    assert trace.stop_condition == "max_turns"
    assert trace.metrics["ended"] == 0
    assert trace.metrics["default_share"] == (DECISIONS - 2) / DECISIONS
    assert trace.info["desim"]["ledger_digest"]


def test_at_our_own_limit_too() -> None:
    """`max_calls` ends the calls, not the episode; `history` cuts what is sent."""
    trace, stub = one(short(harness={"max_calls": 3, "history": 1}), ORDER)
    assert [len(request["messages"]) for request in stub.requests] == [2, 4, 4]
    assert (trace.metrics["ended"], trace.metrics["defaults"]) == (0, DECISIONS - 3)


def test_an_endpoint_that_breaks_off_is_an_error_and_no_score() -> None:
    """A model that stops in the middle has no reward; verifiers repeats such a rollout itself."""
    broken = Served({"error": {"message": "down"}}, status=400)
    trace, _ = one(short(), lambda number, _: ORDER if number < 2 else broken)
    assert not trace.ok
    assert trace.errors[0].type == "ProviderError"
    assert not trace.rewards


@pytest.mark.parametrize("status", [429, 503])
def test_a_rate_limit_loses_no_rollout(status: int) -> None:
    """The call is repeated, and the replies that were paid for before it are kept."""
    busy = Served({"error": {"message": "slow down"}}, status=status)
    trace, stub = one(short(), lambda number, _: busy if number == 3 else ORDER)
    assert trace.ok
    assert (trace.metrics["answers"], trace.metrics["ended"]) == (DECISIONS, 1)
    assert len(stub.requests) >= DECISIONS + 1
    assert trace.info["desim"]["ledger_digest"]


def test_an_endpoint_without_money_ends_the_rollout_at_once() -> None:
    """Its 429 is not one of too many requests, so that the call is not repeated."""
    error = {"message": "no credit", "type": "insufficient_quota", "code": "insufficient_quota"}
    broke = Served({"error": error}, status=429)
    trace, stub = one(short(), lambda number, _: broke if number == 3 else ORDER)
    assert not trace.ok
    assert trace.errors[0].status_code == 429
    assert len(stub.requests) == 4


def test_a_call_is_repeated_so_often() -> None:
    """A negative number is refused before anything is played."""
    with pytest.raises(UsageError, match="retries=-1 was given"):
        short(harness={"retries": -1})


def test_records_are_kept_where_a_folder_is_given(tmp_path: Path) -> None:
    """One for every rollout; its digest is that of the trace."""
    trace, _ = one(short(harness={"records": str(tmp_path)}), ORDER)
    (record,) = tmp_path.glob("*.jsonl.gz")
    result = Episode.read(record).result
    assert result is not None
    assert result.ledger_digest == trace.info["desim"]["ledger_digest"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"world": ""}, "Possible: beer_game"),
        ({"preset": "poison"}, "has no preset 'poison'"),
        ({"reward": "scor"}, "did you mean 'score'"),
        ({"reward": "normalised"}, "nothing is known"),
        ({"seat": "retailr"}, "retailr"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], expected: str) -> None:
    """The options are checked before anything is played."""
    with pytest.raises(UsageError, match=expected):
        list(short(**options).taskset)


def test_a_tool_server_plays_the_same_episode() -> None:
    """What a harness with MCP gets: two tools, and the state that the reward is made of."""
    env = short(task={"served": True})
    (task,) = env.taskset
    assert '{"do": "order"}' in task.data.system_prompt
    server = WorldToolset(vf.ToolsetConfig())

    async def play() -> list[str]:
        async with server._exit_stack:
            await server.setup_task(WorldData.model_validate_json(task.data.model_dump_json()))
            wrong = await server.act({"do": "order", "quantity": "many"})
            table = await server.look_up_table("weeks")
            return [wrong, table] + [
                await server.act({"do": "order", "quantity": 4}) for _ in range(DECISIONS)
            ]

    texts = asyncio.run(play())
    assert texts[0].startswith("Error: ")
    assert texts[-1].startswith("The episode is over.")
    trace, _ = one(short(), ORDER)
    state: RolloutState = server.state
    assert state.over
    assert state.facts["ledger_digest"] == trace.info["desim"]["ledger_digest"]


def test_an_episode_that_a_tool_server_left_is_played_out() -> None:
    """A model that stops talking in the middle pays for the time that is left."""
    (task,) = short(task={"served": True}).taskset
    state = RolloutState(facts={"wrong": 1}, answers=[{"do": "order", "quantity": 4}] * 2)
    trace = SimpleNamespace(state=state, num_turns=2, info={})
    asyncio.run(task.finalize(trace))
    own, _ = one(short(harness={"max_calls": 2}), ORDER)
    assert trace.info["desim"]["ledger_digest"] == own.info["desim"]["ledger_digest"]
    assert (state.facts["wrong"], state.facts["stopped"]) == (1, True)


def test_calls_that_arrive_at_once_are_carried_out_one_by_one() -> None:
    """Harnesses send the calls of one reply together; policies of other roles play in between."""
    (task,) = short(task={"served": True}, others={"wholesaler": "order_up_to"}).taskset
    server = WorldToolset(vf.ToolsetConfig())

    async def play() -> list[str]:
        async with server._exit_stack:
            await server.setup_task(task.data)
            orders = [server.act({"do": "order", "quantity": 4}) for _ in range(DECISIONS)]
            return await asyncio.gather(*orders)

    texts = asyncio.run(play())
    assert texts[-1].startswith("The episode is over.")
    assert len(server.state.answers) == DECISIONS


def test_default_actions_of_a_left_episode_are_not_taken_twice() -> None:
    """Those that the question limit brought come again by themselves."""
    params = {"max_questions_per_tick": 5, "horizon": 6}
    options = {"preset": "capped", "seeds": "1:2", "params": params, "task": {"served": True}}
    (task,) = load_environment("enterprise_arena", **options).taskset
    server = WorldToolset(vf.ToolsetConfig())

    async def play() -> None:
        async with server._exit_stack:
            await server.setup_task(task.data)
            for _ in range(10):
                await server.act({"do": "recall_notes"})

    asyncio.run(play())
    before, defaults = list(server.state.answers), server.state.facts["defaults"]
    assert defaults
    asyncio.run(task.finalize(SimpleNamespace(state=server.state, num_turns=10, info={})))
    assert server.state.answers[: len(before)] == before


def run(tool: str, *arguments: str, out: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of verifiers."""
    file = Path(sys.executable).with_name(tool)
    return subprocess.run(
        [file, TASKSET, *arguments, "--no-rich", "--output-dir", str(out)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, KEY: "k"},
    )


@pytest.mark.slow
def test_vf_eval_and_vf_validate_run_offline(tmp_path: Path) -> None:
    """The commands find the taskset by its package, and need no network and no sandbox."""
    options = ["--env.taskset.world", "beer_game", "--env.taskset.preset", "poisson", "--no-push"]
    options += ["--env.taskset.seeds", "0:2", "--env.agent.harness.id", TASKSET]
    options += ["--env.agent.harness.records", str(tmp_path / "records")]
    with serving(by_turn([{"do": "order", "quantity": 4}] * 52)) as stub:
        client = ["-m", "stub", "--client.base-url", stub.url, "--client.api-key-var", KEY]
        run("vf-eval", *client, *options, out=tmp_path)
    (file,) = tmp_path.rglob("traces.jsonl")
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2
    assert len([*(tmp_path / "records").iterdir()]) == 2
    assert '"ended":1.0' in file.read_text(encoding="utf-8").replace(" ", "")
    checked = ["--taskset.world", "yc_bench", "--runtime.type", "subprocess"]
    run("vf-validate", *checked, "--taskset.seeds", "0:2", out=tmp_path)
    (summary,) = tmp_path.rglob("summary.json")
    assert json.loads(summary.read_text(encoding="utf-8"))["outcomes"]["valid"] == 2
