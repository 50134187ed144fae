"""The harness of the verifiers taskset: the loop of calls and observations, in process.

Tried with verifiers 0.4.0.
"""

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletion

from desim.adapters.seat.agent_loop import AgentLimits, AgentLoop
from desim.adapters.seat.tool_session import ToolSession
from desim.adapters.seat.tools import Tool
from desim.adapters.verifiers.data import setup_of
from desim.episodes.usage import NO_MONEY
from desim.errors import UsageError


class WorldHarnessConfig(vf.HarnessConfig):
    """Options under `--env.agent.harness.*`, after `--env.agent.harness.id desim-worlds`."""

    nudges: int = 3
    """As in `agent_loop.AgentLimits`."""
    max_calls: int | None = None
    """As above."""
    history: int | None = None
    """As above."""
    retries: int = 8
    """Times that a call of the model is repeated, at least 0, where the endpoint is rate-limited
    (429, but not for want of money), overloaded or unreachable; with growing pauses, in all about
    40 seconds for 8."""
    records: str = ""
    """A folder that receives the record of every rollout; empty writes none."""


class WorldHarness(vf.Harness[WorldHarnessConfig]):
    """Asks the model through the rollout's endpoint, and executes its calls."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.limits = AgentLimits(config.nudges, config.max_calls, config.history)
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
        with task.begin(self._record(trace)) as session:
            play, retries = ToolSession(setup, session), self.config.retries
            async with AsyncOpenAI(
                base_url=endpoint,
                api_key=secret,
                max_retries=retries,
                http_client=DefaultAsyncHttpxClient(event_hooks={"response": [_end_without_money]}),
            ) as client:
                advantages: dict[str, Any] = {}
                rollout = _Rollout(client, ctx.model, play, self.limits, messages)
                try:
                    await rollout.run(trace)
                    if setup.credit is not None:
                        credited = setup.credit.advantages(session, play.seat)
                        advantages = {"advantages": list(credited)}
                finally:
                    trace.state.facts = {**rollout.facts(), **advantages}
                    trace.state.answers = list(play.answers)
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


class _Rollout(AgentLoop):
    """One rollout at play."""

    def __init__(
        self,
        client: Any,
        model: str,
        session: ToolSession,
        limits: AgentLimits,
        messages: list[dict[str, Any]],
    ) -> None:
        super().__init__(session, limits)
        self._client, self._model, self._messages = client, model, messages
        self._tools = [_offered(tool) for tool in session.tools.values()]

    async def run(self, trace: Any) -> None:
        """Play to the end; with default actions from where verifiers or a limit stops the model."""
        try:
            await self.play()
        except APIStatusError:
            if trace.stop_condition is None:
                raise  # the endpoint failed; verifiers records why
        self.play_out()

    async def next_reply(self) -> Any:
        roles = [message["role"] for message in self._messages]
        sent = self.limits.sent(self._messages, roles)
        # Not `chat.completions.create`, which walks through the whole conversation before every
        # request for names to translate: here all are those of the wire already.
        completion = await self._client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body={"model": self._model, "messages": sent, "tools": self._tools},
        )
        reply = completion.choices[0].message
        self._messages.append(reply.model_dump(exclude_none=True))
        return reply

    async def execute(self, reply: Any) -> bool:
        for call in reply.tool_calls or ():
            arguments = _arguments(call.function.arguments)
            text = await self.session.reply_to(call.function.name, arguments)
            self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        return bool(reply.tool_calls)

    def remind(self, text: str) -> None:
        self._messages.append({"role": "user", "content": text})


async def _end_without_money(response: Any) -> None:
    """Have the client not repeat a call that is refused because no money is left.

    verifiers relays the status of the endpoint, and its body within a text, but no header.
    """
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        text = (await response.aread()).decode("utf-8", "replace")
        if any(code in text for code in NO_MONEY):
            response.headers["x-should-retry"] = "false"


def _arguments(arguments: str) -> Any:
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
