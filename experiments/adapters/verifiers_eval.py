"""What rewards does verifiers give two simple players of the Beer Game, behind an endpoint?"""

import asyncio
import json

import verifiers.v1 as vf
from aiohttp import web

from desim.adapters.verifiers import load_environment

PLAYERS = {"four": lambda _: 4, "demand": lambda seen: seen["incoming_order"]}


async def complete(request: web.Request) -> web.Response:
    """Answer as an OpenAI-compatible endpoint whose models are the players."""
    body = await request.json()
    order = {"quantity": PLAYERS[body["model"]](json.loads(body["messages"][-1]["content"]))}
    function = {"name": "order", "arguments": json.dumps(order)}
    calls = [{"id": "1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choices = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    head = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"]}
    return web.json_response({**head, "choices": choices})


async def main() -> None:
    """Play five seeds with each."""
    (app := web.Application()).router.add_post("/v1/chat/completions", complete)
    await (runner := web.AppRunner(app)).setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    async with (env := load_environment("beer_game", preset="poisson", seeds="0:5")).serving():
        for name in PLAYERS:
            model = vf.ModelContext(model=name, client=client)
            played = [await env.run_episode(task, model) for task in env.taskset]
            print(name, *(f"{one.traces[0].reward:.2f}" for one in played))
    await runner.cleanup()


asyncio.run(main())
