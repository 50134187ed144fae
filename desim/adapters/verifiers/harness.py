"""The harness of the verifiers taskset: the loop of calls and observations, in process.

Tried with verifiers 0.4.0.
"""

import json
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI
from openai.types.chat import ChatCompletion

from desim.adapters.seat.action_tools import Tool
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_limits import Limits, Nudges
from desim.adapters.seat.tool_session import ToolSession
from desim.adapters.verifiers.data import setup_of
from desim.errors import UsageError, WrongAction


class WorldHarnessConfig(vf.HarnessConfig):
    """Options under `--env.agent.harness.*`."""

    nudges: int = 3
    """As in `tool_limits.Limits`."""
    max_calls: int | None = None
    """As above."""
    history: int | None = None
    """As above."""
    retries: int = 8
    """Times that a call of the model is repeated, at least 0, where the endpoint is rate-limited
    (429), overloaded or unreachable; with growing pauses, in all about 40 seconds for 8."""
    records: str = ""
    """A folder that receives the record of every rollout; empty writes none."""


class WorldHarness(vf.Harness[WorldHarnessConfig]):
    """Asks the model through the rollout's endpoint, and executes its calls."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.limits = Limits(config.nudges, config.max_calls, config.history)
        if config.retries < 0:
            raise UsageError(f"retries={config.retries} was given; it is at least 0")

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,  # noqa: ARG002 (nothing runs there)
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002 (the tools are here)
        data: Any,
    ) -> Any:
        """Play one episode and put its facts into the trace's state."""
        task = trace.task.data
        setup = setup_of(task)
        messages = self._opening(data)
        with setup.begin(task.seed, record=self._record(trace)) as session:
            play = ToolSession(setup, session)
            retries = self.config.retries
            async with AsyncOpenAI(
                base_url=endpoint, api_key=secret, max_retries=retries
            ) as client:
                game = _Game(client, ctx.model, setup, play, self.limits, messages)
                try:
                    await game.play(trace)
                finally:
                    game.report(trace)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    def _opening(self, data: Any) -> list[dict[str, Any]]:
        """Return the first two messages, the rules and the observation."""
        system, prompt = self.resolve_text_prompt(data)
        return [{"role": "system", "content": system}, {"role": "user", "content": prompt}]

    def _record(self, trace: Any) -> Path | None:
        if not self.config.records:
            return None
        folder = Path(self.config.records)
        folder.mkdir(parents=True, exist_ok=True)
        task = trace.task.data
        return folder / f"{task.world}-{task.preset}-{task.seed}-{trace.id}.jsonl.gz"


class _Game:
    """One rollout at play.

    Args:
        client: The client of the rollout's endpoint, which verifiers watches.
        model: The model's name.
        setup: The world and its policies.
        play: Its episode.
        limits: The limits on asking the model.
        messages: The first two messages.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        setup: Setup,
        play: ToolSession,
        limits: Limits,
        messages: list[dict[str, Any]],
    ) -> None:
        self.client, self.model, self.session = client, model, play
        self.messages, self.limits, self.setup = messages, limits, setup
        self.nudges = Nudges(play, limits)
        self.tools = [_offered(tool) for tool in play.tools.values()]
        self.replies = 0
        self.stopped = False

    async def play(self, trace: Any) -> None:
        """Play to the end; with default actions from where verifiers or a limit stops the model."""
        try:
            while not self.session.done and self.limits.may_ask(self.replies):
                await self._round()
        except APIStatusError:
            if trace.stop_condition is None:
                raise  # the endpoint failed; verifiers records why
        self.stopped = not self.session.done
        self.session.play_out()

    def report(self, trace: Any) -> None:
        """Put facts and answers into the trace's state."""
        stopped = self.stopped or not self.session.done
        facts = {**self.session.facts(), "stopped": stopped, "replies": self.replies}
        trace.state.facts, trace.state.answers = facts, list(self.session.answers)

    async def _round(self) -> None:
        """Take one reply and execute its calls."""
        reply = await self._reply()
        self.replies += 1
        self.messages.append(reply.model_dump(exclude_none=True))
        for call in reply.tool_calls or ():
            text = await self._carried_out(call.function.name, call.function.arguments)
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        if text := await self.nudges.after_reply(called=bool(reply.tool_calls)):
            self.messages.append({"role": "user", "content": text})

    async def _reply(self) -> Any:
        """Ask the model and return its message."""
        roles = [message["role"] for message in self.messages]
        sent = self.limits.sent(self.messages, roles)
        # Not `chat.completions.create`, which walks through the whole conversation before every
        # request for names to translate: here all are those of the wire already.
        completion = await self.client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body={"model": self.model, "messages": sent, "tools": self.tools},
        )
        return completion.choices[0].message

    async def _carried_out(self, name: str, arguments: str) -> str:
        """Execute one call and return its effect, or the error, as a text."""
        try:
            return await self.session.call(name, _read(arguments))
        except WrongAction as fault:
            return f"Error: {fault}"


def _read(arguments: str) -> Any:
    """Return the arguments of a call; None, which every tool refuses, if they are not JSON."""
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None


def _offered(tool: Tool) -> dict[str, Any]:
    """Return a tool as the model reads it."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}
