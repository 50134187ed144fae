"""Rollouts of verifiers in this process, against the stub of an endpoint."""

import asyncio
import os
import warnings
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from support.stub import Served, Stub, call, text

#: The variable of the environment that holds the stub's key.
KEY = "STUB_KEY"

_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def called(*calls: tuple[str, Any]) -> Served:
    """Return a completion with tool calls, with the fields that verifiers needs."""
    return _dated(call(*calls, usage=_USAGE))


def said(words: str) -> Served:
    """Return a completion with text."""
    return _dated(text(words, usage=_USAGE))


def _dated(served: Served) -> Served:
    served.body["created"] = 0
    return served


def by_turn(answers: Sequence[dict[str, Any]], in_one: int = 10) -> Any:
    """Return a script of the stub that plays tagged objects, so many in one reply.

    It counts the replies in a request, so that concurrent rollouts do not disturb each other.
    """
    calls = [
        (one["do"], {key: each for key, each in one.items() if key != "do"}) for one in answers
    ]

    def script(_: int, body: dict[str, Any]) -> Served:
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return called(*calls[turn * in_one : (turn + 1) * in_one])

    return script


def rolled_out(env: Any, stub: Stub, tasks: Sequence[Any] = ()) -> list[Any]:
    """Return the traces of one rollout of each task, eight at once."""
    import verifiers.v1 as vf

    client = vf.EvalClientConfig(base_url=stub.url, api_key_var=KEY)
    context = vf.ModelContext(model="stub", client=client)

    async def run() -> list[Any]:
        async with env.serving():
            chosen = tasks or list(env.taskset)
            slots = [slot for task in chosen for slot in env.slots(task)]
            gate = asyncio.Semaphore(8)  # the stub accepts few connections at a time
            episodes = await asyncio.gather(*(env.run_slot(s, context, gate) for s in slots))
        return [episode.traces[0] for episode in episodes]

    with patch.dict(os.environ, {KEY: "k"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that verifiers calls
        return asyncio.run(run())
