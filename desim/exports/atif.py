"""Harbor's Agent Trajectory Interchange Format (ATIF) 1.8: a record as one trajectory.

A step is a message, and the steps of a decision follow each other. The agent's step that took a
decision holds its line of the record in `extra`, as the trajectory holds the header and the result;
so `atif_record` can make a record of the file. A call of a model is one step with
`llm_call_count` 1, also where the reply was refused; an action that no model chose (a default
action, another policy) is a step with `llm_call_count` 0.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from desim.episodes.usage import UsageSums, default_share
from desim.exports.call_forms import RecordedReply
from desim.exports.messages import ChatMessage, ToolCall, messages_of
from desim.records.episode import Episode
from desim.records.lines import ResultLine
from desim.records.record_file import record_stem
from desim.show.files import write_new

#: The version of the format.
SCHEMA = "ATIF-v1.8"

#: The key of the fields of desim in `extra`, and their version, counted up when they change.
OWN, OWN_FORMAT = "desim", "desim-atif/1"

#: Hexadecimal digits of the digest of header and result in the identifier of a trajectory.
_ID_DIGITS = 12

#: The kinds of tokens of which a trajectory has a total.
_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")


def write_trajectory(record: str | Path, folder: str | Path) -> Path:
    """Write a record as the trajectory `trajectory.json` in a folder, and return the file.

    Raises:
        BadRecord: See `trajectory`.
        UsageError: The file exists or cannot be written.
    """
    file = Path(folder) / "trajectory.json"
    write_new(file, [msgspec.json.encode(trajectory(record))])
    return file


def trajectory(record: str | Path) -> dict[str, Any]:
    """Return a record as a trajectory, in plain values.

    Args:
        record: A record, whole or cut, of any policies.

    Raises:
        BadRecord: The record cannot be read.
    """
    path = Path(record)
    episode = Episode.read(path, whole=False, keep_steps=False)
    messages = list(messages_of(path, episode))
    steps = _steps(messages)
    if not steps:  # the format has no trajectory without a step
        steps = [{"step_id": 1, "source": "system", "message": "No decision was made."}]
    own = _own(episode)
    return {
        "schema_version": SCHEMA,
        "session_id": record_stem(path),
        "trajectory_id": _identifier(episode, own),
        "agent": _agent(episode, messages),
        "steps": steps,
        "notes": _notes(episode),
        "final_metrics": _final_metrics(episode, len(steps)),
        "extra": {OWN: own},
    }


def _identifier(episode: Episode, own: Mapping[str, Any]) -> str:
    head, digest = episode.header, hashlib.sha256(msgspec.json.encode(own)).hexdigest()
    name = "/".join(filter(None, [head.model, head.preset]))
    return f"{name}/seed-{head.seed}/{digest[:_ID_DIGITS]}"


def _notes(episode: Episode) -> str:
    end = episode.result
    if end is not None:
        return f"The episode ended: {end.ended}. Its score is {end.score:.10g}; higher is better."
    return "The episode has no result: its record was cut, or its model failed."


def _own(episode: Episode) -> dict[str, Any]:
    lines = {
        "header": episode.header,
        "result": ResultLine.of(episode.result) if episode.result else None,
        "failure": episode.failure,
    }
    plain = {name: msgspec.to_builtins(line) for name, line in lines.items() if line}
    return {"format": OWN_FORMAT, **plain}


def _agent(episode: Episode, messages: Iterable[ChatMessage]) -> dict[str, Any]:
    calls = [message.call for message in messages if message.call]
    names = {name for call in calls if (name := str(call.fields.get("model", "")))}
    tools = {msgspec.json.encode(tool): tool for call in calls for tool in call.tools}
    agent: dict[str, Any] = {"name": "desim", "version": episode.header.version}
    if len(names) == 1:
        agent["model_name"] = names.pop()
    if tools:
        agent["tool_definitions"] = list(tools.values())
    return {**agent, "extra": {"policies": episode.header.policies}}


def _final_metrics(episode: Episode, steps: int) -> dict[str, Any]:
    sums = UsageSums()
    for step in episode.steps:
        sums.add("", step.notes)
    usage = sums.totals().get("", {})
    totals: dict[str, Any] = {
        f"total_{name}": int(usage[name]) for name in _TOKENS if name in usage
    }
    if cost := usage.get("cost"):
        totals["total_cost_usd"] = cost
    end = episode.result
    extra = {
        **({"score": end.score, "ended": end.ended} if end else {}),
        "decisions": len(episode.steps),
        "default_share": default_share(usage),
        "usage": usage,
    }
    return {**totals, "total_steps": steps, "extra": extra}


def _steps(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """Return the steps; a tool's message is a result in the step of the call that it answers."""
    steps: list[dict[str, Any]] = []
    by_call: dict[tuple[str, str], dict[str, Any]] = {}
    for message in messages:
        if message.source == "tool" and (of := by_call.get((message.role, message.answers))):
            result = {"source_call_id": message.answers, "content": message.text}
            of.setdefault("observation", {"results": []})["results"].append(result)
            continue
        step = {"step_id": len(steps) + 1, **_step(message)}
        steps.append(step)
        for call in message.tool_calls:
            by_call[message.role, call.id] = step
    return steps


def _step(message: ChatMessage) -> dict[str, Any]:
    own: dict[str, Any] = {"role": message.role, "number": message.decision}
    if message.source != "assistant":
        source = "system" if message.source == "system" else "user"
        return {"source": source, "message": message.text, "extra": {OWN: own}}
    step: dict[str, Any] = {"source": "agent", "message": message.text}
    if message.is_context:
        step["is_copied_context"] = True
    else:
        step["llm_call_count"] = int(message.call is not None)
    if message.call:
        step |= _of_call(message)
        own |= {"phase": message.call.phase}
        own |= {"digest": message.call.digest} if message.call.digest else {}
        own |= {"no_reply": message.call.failure} if message.reply is None else {}
    if message.tool_calls:
        step["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    if message.step:
        own["decision"] = msgspec.to_builtins(message.step)
    return {**step, "extra": {OWN: own}}


def _of_call(message: ChatMessage) -> dict[str, Any]:
    """Return the fields of a step that a call of a model has."""
    call, reply = message.call, message.reply
    assert call is not None
    effort = call.fields.get("reasoning_effort")
    found = {
        "model_name": str(call.fields.get("model", "")),
        "reasoning_effort": effort if isinstance(effort, str | int | float) else None,
        "reasoning_content": message.thinking,
        "metrics": _metrics(reply, _cost(message)) if reply else None,
    }
    return {name: value for name, value in found.items() if value}


def _cost(message: ChatMessage) -> float | None:
    """Return the cost of a reply: as the server reports it, or that of its decision if alone."""
    assert message.reply is not None
    notes = message.step.notes if message.step else None
    match notes:
        case {"usage": {"calls": 1, "cost": int() | float() as cost}} if cost:
            return cost
    return message.reply.reported_cost


def _metrics(reply: RecordedReply, cost: float | None) -> dict[str, Any]:
    metrics: dict[str, Any] = {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "cached_tokens": reply.cached_tokens,
    }
    if cost is not None:
        metrics["cost_usd"] = cost
    extra = {
        "reasoning_tokens": reply.reasoning_tokens,
        "cache_written_tokens": reply.cache_written_tokens,
        "estimated": reply.estimated,
        "seconds": reply.seconds,
        "served": reply.served,
        "finish": reply.finish,
    }
    return {**metrics, "extra": {name: value for name, value in extra.items() if value}}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "tool_call_id": call.id,
        "function_name": call.name,
        "arguments": dict(call.arguments),
    }
    extra: Mapping[str, Any] = {"raw": call.raw} if call.raw else {}
    if not call.written:
        extra = {"action": True}
    return {**plain, "extra": {OWN: extra}} if extra else plain
