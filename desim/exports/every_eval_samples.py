"""Samples of Every Eval Ever: an episode as the fields of one line."""

from collections.abc import Mapping
from typing import Any

import msgspec

from desim.exports.messages import ChatMessage, ToolCall
from desim.exports.suite_scores import EntryScores, SuiteEpisode


def sample(scores: EntryScores, episode: SuiteEpisode) -> dict[str, Any]:
    """Return the fields of a sample that depend on its episode, in plain values.

    Raises:
        BadRecord: The record cannot be read.
    """
    played, messages = episode.played, episode.messages()
    asked = f"{scores.model}, seed {episode.seed}"
    metadata = {
        "is_correct": "has no meaning: a score is no grade of right or wrong",
        "seed": episode.seed,
        "repeat": episode.job.repeat + 1,
        "ended": played.ended,
        "decisions": played.decisions,
        "revision": played.revision,
        "share_of_default_actions": played.default_share,
        **played.metrics,
    }
    return {
        "evaluation_name": scores.world.name,
        "evaluation_result_id": scores.identifier("result"),
        "sample_id": f"{episode.name}-repeat-{episode.job.repeat + 1}",
        "interaction_type": "agentic",
        "input": {"raw": asked, "reference": []},
        "output": None,
        "messages": [_message(turn, each) for turn, each in enumerate(messages)],
        "answer_attribution": [],
        "evaluation": {
            "score": played.score,
            "is_correct": False,
            "num_turns": max(1, len(messages)),
            "tool_calls_count": sum(len(message.tool_calls) for message in messages),
        },
        **_usage(played.usage),
        "performance": {"latency_ms": 1000 * played.seconds_played},
        "metadata": as_texts(metadata),
    }


def _usage(used: Mapping[str, float]) -> dict[str, Any]:
    if "prompt_tokens" not in used:
        return {}
    read, written = int(used["prompt_tokens"]), int(used.get("completion_tokens", 0))
    counts = {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
        "input_tokens_cache_read": int(used.get("cached_tokens", 0)),
        "input_tokens_cache_write": int(used.get("cache_written_tokens", 0)),
        "reasoning_tokens": int(used.get("reasoning_tokens", 0)),
    }
    return {"token_usage": counts}


def _message(turn: int, message: ChatMessage) -> dict[str, Any]:
    found = {
        "reasoning_trace": message.thinking,
        "tool_calls": [_tool_call(call) for call in message.tool_calls],
        "tool_call_id": [message.answers] if message.answers else [],
    }
    plain = {"turn_idx": turn, "role": message.source, "content": message.text or None}
    return plain | {name: value for name, value in found.items() if value}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    arguments = {name: as_text(value) for name, value in call.arguments.items()}
    return {"id": call.id, "name": call.name, "arguments": arguments}


def as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return facts as texts, which the format wants; those that are None are left out."""
    return {name: as_text(value) for name, value in values.items() if value is not None}


def as_text(value: Any) -> str:
    """Return a text as it is, and any other plain value as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
