"""The solver of the Inspect tasks, by which a model plays one seat, and their scorers.

Tried with inspect-ai 0.3.285.
"""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    execute_tools,
    get_model,
)
from inspect_ai.scorer import Score, mean, scorer, stderr
from inspect_ai.solver import solver
from inspect_ai.tool import ToolDef, ToolError, ToolInfo, ToolParams
from inspect_ai.util import LimitExceededError, checkpointer

from desim.adapters.inspect_ai.replies import LABEL, Replies, SampleFiles
from desim.adapters.seat.agent_loop import AgentLimits, AgentLoop
from desim.adapters.seat.episodes_of import normalised_score
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import SHARE, ToolSession, share_of_defaults, was_played
from desim.adapters.seat.tools import Tool
from desim.errors import WrongAction

#: The key in a sample's Store of the seat's answers, as tagged objects; with the sample's preset
#: and seed they give the same episode again.
ANSWERS = "desim_answers"

#: The key of what `AgentLoop.facts` returns.
FACTS = "desim_facts"

#: Bytes of a tool's result; Inspect cuts the middle out of a longer one.
_MOST_BYTES = 10_000_000

#: Whole numbers among the facts of an episode that are averaged over samples.
_COUNTS = ("answers", "wrong", "defaults", "replies")


def _play_by_tools(
    world: str,
    arguments: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    folder: str = "",
) -> Any:
    """Return a solver that plays the preset and the seed of a sample's metadata."""
    most = AgentLimits(**(limits or {}))
    setup_of = cache(lambda preset: Setup.of(world, preset, **(arguments or {})))

    async def solve(state: Any, _: Any) -> Any:
        setup = setup_of(state.metadata["preset"])
        files = SampleFiles.of(folder, world, state) if folder else None
        earlier = files.earlier(setup) if files else []
        async with checkpointer() as saved:
            record, file = (files.record, files.replies) if files else (None, None)
            seed = state.metadata["seed"]
            with setup.begin(seed, record=record, label=LABEL) as session:
                play = ToolSession(setup, session)
                replies = _replies(play, file, earlier, saved)
                await _Sample(state, play, most, replies, saved).run()
        if files:
            files.finished()
        return state

    return solve


def _replies(play: ToolSession, file: Path | None, earlier: list[Any], saved: Any) -> Replies:
    """Return the replies of a sample, with the earlier ones of a file or a checkpoint."""
    offered = [_offered(tool) for tool in play.tools.values()]
    model = get_model()

    async def ask(messages: list[Any]) -> Any:
        return await model.generate(messages, offered)

    replies = Replies(ask, file, earlier)
    kept = saved.track("desim_replies", lambda: replies.all, [], value_type=list[ModelOutput])
    if len(kept) > len(earlier):
        replies.all = kept
    return replies


play_by_tools = solver(name="play_by_tools")(_play_by_tools)


class _Sample(AgentLoop):
    """One sample at play."""

    def __init__(
        self, state: Any, session: ToolSession, limits: AgentLimits, given: Replies, saved: Any
    ) -> None:
        super().__init__(session, limits)
        self._state, self._given, self._saved = state, given, saved

    async def run(self) -> None:
        """Play to the end; at a limit of Inspect's with default actions, before it is raised."""
        self._state.store.set(ANSWERS, self.session.answers)
        self._state.messages = [
            ChatMessageSystem(content=self.session.instructions()),
            ChatMessageUser(content=self.session.observation()),
        ]
        try:
            await self.play()
        except (LimitExceededError, anyio.get_cancelled_exc_class()):
            self._end()
            raise
        self._end()

    async def next_reply(self) -> Any:
        if self._given.is_new:
            await self._saved.tick()
        messages = self._state.messages
        roles = [each.role for each in messages]
        reply = await self._given.next(self.limits.sent(messages, roles))
        self._state.output = reply
        messages.append(reply.message)
        return reply

    async def execute(self, reply: Any) -> bool:
        names = dict.fromkeys(call.function for call in reply.message.tool_calls or ())
        if names:
            tools = [_executed(self.session, name) for name in names]
            done = await execute_tools(self._state.messages, tools, max_output=_MOST_BYTES)
            self._state.messages.extend(done.messages)
        return bool(names)

    def remind(self, text: str) -> None:
        self._state.messages.append(ChatMessageUser(content=text))

    def _end(self) -> None:
        """Play the rest by default actions, and put the facts into the Store."""
        self.play_out()
        facts = self.facts()
        self._state.store.set(ANSWERS, self.session.answers)
        self._state.store.set(FACTS, facts)
        self._state.metadata["ledger_digest"] = facts.get("ledger_digest")
        if self._given.repeated:
            transcript().info({"replies given again": self._given.repeated}, source="desim")


def _offered(tool: Tool) -> Any:
    """Return a tool as the model reads it."""
    parameters = ToolParams.model_validate(tool.parameters)
    return ToolInfo(name=tool.name, description=tool.description, parameters=parameters)


def _executed(session: ToolSession, name: str) -> Any:
    """Return the tool that executes calls of a name.

    Inspect checks arguments against the schema of a tool. This tool takes any arguments, so that
    the model reads our sentence, also about a tool that does not exist.
    """

    async def run(**kwargs: Any) -> str:
        try:
            return await session.call(name, kwargs)
        except WrongAction as fault:
            raise ToolError(str(fault)) from None

    anything = ToolParams(additionalProperties=True)
    return ToolDef(run, name=name, description=name, parameters=anything, parallel=False)


# -- scores ----------------------------------------------------------------------------------------


def _world_score() -> Any:
    """Return a scorer of the world's own score, with the counts of the episode.

    `ended` is 1 where the model itself played up to the end, and 0 where it was stopped by a limit;
    the decisions left are then the role's default action. `default_share` is the share of default
    actions. The score of a sample that was not played, in which it is above `MOST_DEFAULTS`, is
    NaN: Inspect leaves it out of mean and standard error and counts it among `unscored_samples`.
    """

    async def score(state: Any, _: Any) -> Any:
        facts = state.store.get(FACTS)
        counts = {name: facts[name] for name in _COUNTS}
        played = was_played(facts)
        reached = facts["score"] if played else math.nan
        share = {SHARE: share_of_defaults(facts)}
        value = {"score": reached, "ended": int(not facts["stopped"]), **share, **counts}
        return Score(
            value=value,
            answer=str(facts["ended"]),
            explanation=None if played else _not_played(facts),
            metadata={**facts, "played": played},
        )

    return score


def _normalised(world: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return a scorer of the score on the scale of the known scores; see `normalised_score`."""
    setup_of = cache(lambda preset: Setup.of(world, preset, **(arguments or {})))

    async def score(state: Any, _: Any) -> Any:
        preset, seed = state.metadata["preset"], state.metadata["seed"]
        facts = state.store.get(FACTS)
        if not was_played(facts):
            return Score.unscored(reason="not_played", explanation=_not_played(facts))
        found = normalised_score(setup_of(preset), preset, seed, facts["score"])
        return None if found is None else Score(value=found)

    return score


def _not_played(facts: Mapping[str, Any]) -> str:
    return f"not played: {facts['defaults']} of {facts['answers']} decisions were default actions"


world_score = scorer(metrics={"score": [mean(), stderr()], "*": [mean()]}, name="world_score")(
    _world_score
)

normalised = scorer(metrics=[mean(), stderr()], name="normalised")(_normalised)
