"""How is one episode played by the adapters that are not called directly, but by a client?

A function gets an episode and returns another one that plays it once, with the client in this
process: of a protocol, a mock model, or an endpoint that answers as a model.
"""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

from adapter_games import SEED, Game, Work


def mcp(game: Game) -> Work:
    """Play as a client of the protocol whose server is in this process."""
    from desim.adapters.mcp.episodes import Episodes

    episodes = Episodes(game.setup)
    return lambda: asyncio.run(_by_protocol(game, episodes))


async def _by_protocol(game: Game, episodes: Any) -> str | None:
    async with _client(episodes) as client:
        await client.call_tool("begin_episode", {"seed": SEED})
        for name, arguments in game.calls:
            called = await client.call_tool(name, arguments)
    seen = called.model_dump(by_alias=True)["structuredContent"]
    return seen["ended"]["ledger_digest"]


@contextlib.asynccontextmanager
async def _client(episodes: Any) -> AsyncIterator[Any]:
    """Connect a client of the package with a server in this process."""
    import anyio
    from mcp import ClientSession
    from mcp.shared.memory import create_client_server_memory_streams

    from desim.adapters.mcp.mcp_server import server_of

    server = server_of(episodes)
    async with (
        create_client_server_memory_streams() as (mine, its),
        anyio.create_task_group() as tg,
    ):
        tg.start_soon(server.run, *its, server.create_initialization_options())
        async with ClientSession(*mine) as client:
            await client.initialize()
            yield client
        tg.cancel_scope.cancel()
    await episodes.close_all()


def inspect_ai(game: Game) -> Work:
    """Play a sample by Inspect's mock model, with a call in each reply; the log is written."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from desim.adapters.inspect_ai import world_task

    task = world_task(game.model, game.preset, [SEED], arguments={"seats": game.seat})
    usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)

    def replied(name: str, arguments: dict[str, Any]) -> Any:
        output = ModelOutput.for_tool_call("mockllm", name, arguments)
        output.usage = usage
        return output

    def work() -> str | None:
        replies = [replied(*call) for call in game.calls]
        model = get_model("mockllm/model", custom_outputs=replies, memoize=False)
        with tempfile.TemporaryDirectory() as logs, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages that Inspect calls
            (log,) = evaluate(task, model, log_dir=logs, display="none", log_realtime=False)
            return log.samples[0].metadata["ledger_digest"]

    return work


def verifiers(game: Game) -> Work:
    """Play a rollout against an endpoint in this process, with a call in each reply."""
    from desim.adapters.verifiers import desim_worlds, load_environment

    sys.modules.setdefault("desim_worlds", desim_worlds)  # only the wheel has it on top
    env = load_environment(game.model, preset=game.preset, seeds=str(SEED), seat=game.seat)
    return lambda: asyncio.run(_rolled_out(env, game))


async def _rolled_out(env: Any, game: Game) -> str | None:
    import verifiers.v1 as vf

    with patch.dict(os.environ, {"ENDPOINT_KEY": "k"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that verifiers calls
        async with _endpoint(game) as url, env.serving():
            client = vf.EvalClientConfig(base_url=url, api_key_var="ENDPOINT_KEY")
            context = vf.ModelContext(model="answers", client=client)
            (task,) = env.taskset
            played = await env.run_episode(task, context)
    return played.traces[0].info["desim"]["ledger_digest"]


@contextlib.asynccontextmanager
async def _endpoint(game: Game) -> AsyncIterator[str]:
    """Serve chat completions, each with the call that follows those in the request."""
    from aiohttp import web

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return web.json_response(_completion(*game.calls[turn]))

    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _completion(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "answers",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
