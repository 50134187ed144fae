"""The solver of the Inspect tasks, by which a model plays one seat, and their scorers.

Tried with inspect-ai 0.3.285.
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    execute_tools,
    get_model,
)
from inspect_ai.scorer import Score, mean, scorer, stderr
from inspect_ai.solver import solver
from inspect_ai.tool import ToolDef, ToolError, ToolInfo, ToolParams
from inspect_ai.util import LimitExceededError

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import SHARE, Tool, ToolSession, share_of_defaults, was_played
from desim.catalog.known_scores import known_scores_of
from desim.catalog.policy_spec import label as label_of
from desim.errors import UsageError, WrongAction
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.short_repr import short_repr

#: The key in a sample's Store of the seat's answers, as tagged objects; with the sample's preset
#: and seed they give the same episode again.
ANSWERS = "desim_answers"

#: The key of the facts of the end, with the number of replies and whether the model left early.
FACTS = "desim_facts"

#: The model's name as a policy, in records.
LABEL = "external"

#: Characters of a file's name that are not written as they are.
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")

#: Bytes of a tool's result; Inspect cuts the middle out of a longer one.
_MOST_BYTES = 10_000_000

#: Whole numbers among the facts of an episode that are averaged over samples.
_COUNTS = ("answers", "wrong", "defaults", "replies")


def _play_by_tools(
    world: str,
    arguments: Mapping[str, Any],
    nudges: int = 3,
    history: int | None = None,
    folder: str = "",
) -> Any:
    """Return a solver that plays the preset and the seed of a sample's metadata."""
    _check_whole("nudges", nudges, 0)
    if history is not None:
        _check_whole("history", history, 1)
    setup_of = cache(lambda preset: Setup.of(world, preset, **arguments))

    async def solve(state: Any, _: Any) -> Any:
        setup = setup_of(state.metadata["preset"])
        record = _new_record(folder, setup, state) if folder else None
        begin = partial(setup.begin, state.metadata["seed"], record=record, label=LABEL)
        with await to_thread.run_sync(begin) as session:
            play = ToolSession(setup, session)
            await _Sample(state, play, nudges, history).run()
        return state

    return solve


play_by_tools = solver(name="play_by_tools")(_play_by_tools)


class _Sample:
    """One sample at play: asks the model, executes calls, reminds it, and plays out the rest."""

    def __init__(self, state: Any, session: ToolSession, nudges: int, history: int | None) -> None:
        self._state, self._session = state, session
        self._nudges, self._history = nudges, history
        self._replies, self._idle, self._progress = 0, 0, session.progress
        self._offered = [_offered(tool) for tool in session.tools.values()]

    async def run(self) -> None:
        """Play to the end; at a limit of Inspect's with default actions, before it is raised."""
        session = self._session
        self._state.store.set(ANSWERS, session.answers)
        self._state.messages = [
            ChatMessageSystem(content=session.instructions()),
            ChatMessageUser(content=session.observation()),
        ]
        try:
            while not session.done:
                called = await self._execute(await self._next_reply())
                if text := await self._reminder(called=called):
                    self._state.messages.append(ChatMessageUser(content=text))
        except (LimitExceededError, anyio.get_cancelled_exc_class()):
            self._end()
            raise
        self._end()

    async def _next_reply(self) -> Any:
        messages = self._state.messages
        reply = await get_model().generate(sent(messages, self._history), self._offered)
        self._replies += 1
        self._state.output = reply
        messages.append(reply.message)
        return reply

    async def _execute(self, reply: Any) -> bool:
        """Execute the calls of a reply, add the results, and return whether there was a call."""
        names = dict.fromkeys(call.function for call in reply.message.tool_calls or ())
        if names:
            tools = [_executed(self._session, name) for name in names]
            done = await execute_tools(self._state.messages, tools, max_output=_MOST_BYTES)
            self._state.messages.extend(done.messages)
        return bool(names)

    async def _reminder(self, *, called: bool) -> str:
        """Return the user's message after a reply; empty if the results of its tools are enough.

        After too many successive replies without an action, it takes the default action.
        """
        session = self._session
        idle = not session.done and session.progress == self._progress
        self._idle = self._idle + 1 if idle else 0
        text = ""
        if self._idle > self._nudges:
            self._idle = 0
            seen = await to_thread.run_sync(session.default)
            text = f"The default action was taken for you. {seen}"
        elif self._idle and not called:
            text = (
                f"No tool was called, so nothing changed. Call one of: {', '.join(session.tools)}."
            )
        self._progress = session.progress
        return text

    def _end(self) -> None:
        """Play the rest by default actions, and put the facts into the Store."""
        session = self._session
        stopped = not session.done
        session.play_out()
        facts = {**session.facts(), "stopped": stopped, "replies": self._replies}
        self._state.store.set(ANSWERS, session.answers)
        self._state.store.set(FACTS, facts)
        self._state.metadata["ledger_digest"] = facts.get("ledger_digest")


def _new_record(folder: str, setup: Setup, state: Any) -> Path:
    """Return the file of a sample's record; one of an unfinished attempt is removed.

    It is named by the world, the evaluated model, the sample, the epoch, and a digest of
    parameters, seats and policies.

    Raises:
        UsageError: The sample is finished.
    """
    labels = {role: label_of(policy) for role, policy in setup.others.items()}
    header = Header.of(setup.model, 0, {**dict.fromkeys(setup.seats, LABEL), **labels})
    played = repr((header.params, header.policies, setup.starts))
    digest = hashlib.sha256(played.encode()).hexdigest()[:8]
    named = (header.model, str(state.model), f"{state.sample_id}-{state.epoch}-{digest}.jsonl.gz")
    record = Path(folder, *(_NOT_PLAIN.sub("-", name) for name in named))
    record.parent.mkdir(parents=True, exist_ok=True)
    if record.exists():
        if Episode.read(record, whole=False, keep_steps=False).result is not None:
            raise UsageError(f"{record} exists; name another folder, or remove it")
        record.unlink()
    return record


def sent(messages: Sequence[Any], history: int | None) -> list[Any]:
    """Return the messages that the model reads; see `history` of `world_task`."""
    replies = [at for at, each in enumerate(messages) if each.role == "assistant"]
    if history is None or len(replies) <= history:
        return list(messages)
    return [*messages[:2], *messages[replies[-history] :]]


def _check_whole(name: str, value: Any, least: int) -> None:
    if type(value) is not int or value < least:
        raise UsageError(
            f"{name}={short_repr(value)} was given; it is a whole number of at least {least}"
        )


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
            return await to_thread.run_sync(session.call, name, kwargs)
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


def _normalised(world: str, arguments: Mapping[str, Any]) -> Any:
    """Return a scorer of the score on the scale of the known scores of a seed.

    It is below 0 under the floor, and above 1 for a new best.
    """
    setup_of = cache(lambda preset: Setup.of(world, preset, **arguments))

    async def score(state: Any, _: Any) -> Any:
        preset, seed = state.metadata["preset"], state.metadata["seed"]
        facts = state.store.get(FACTS)
        if not was_played(facts):
            return Score.unscored(reason="not_played", explanation=_not_played(facts))
        scale = known_scale(setup_of(preset), preset, seed)
        if scale is None:
            return None
        floor, best = scale
        return Score(value=(facts["score"] - floor) / (best - floor))

    return score


def known_scale(setup: Setup, preset: str, seed: int) -> tuple[float, float] | None:
    """Return the known scores of a seed that become 0 and 1.

    Returns None if no scores are known for the seed, these parameters or these roles, if the bound
    is not above the floor, or if the episodes begin in a record.
    """
    known = known_scores_of(type(setup.model), preset)
    roles = tuple(sorted([*setup.seats, *setup.others]))
    if setup.starts is not None or known is None:
        return None
    one = known.of(seed) if roles in known.roles and known.fits(setup.model) else None
    return (one.floor, one.ceiling) if one is not None and one.ceiling > one.floor else None


def _not_played(facts: Mapping[str, Any]) -> str:
    return f"not played: {facts['defaults']} of {facts['answers']} decisions were default actions"


world_score = scorer(metrics={"score": [mean(), stderr()], "*": [mean()]}, name="world_score")(
    _world_score
)

normalised = scorer(metrics=[mean(), stderr()], name="normalised")(_normalised)
