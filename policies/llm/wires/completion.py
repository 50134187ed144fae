"""A chat completion as the server sent it, turned into a `ModelReply`.

A server is not trusted to keep to the protocol: every field may be missing or of another type.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from desim.schema.untrusted import refuse_constant
from policies.llm.wires.wire import Call, Message, ModelReply, storable

#: Tool calls of a reply; one with more is malformed.
MAX_CALLS = 128

#: Tokens and money that a server may report for one reply; a larger number is ignored.
MAX_TOKENS, MAX_COST = 1_000_000_000, 10_000.0

#: Fields of a message in which servers send reasoning.
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking")

#: Keys of the texts within them, and how deep they are searched.
_TEXT_KEYS, _DEPTH = ("text", "thinking", "summary", "reasoning", "content"), 4

#: Characters a token, for replies without usage; English text has about four.
_CHARACTERS_PER_TOKEN = 4


def decoded(content: bytes) -> Any:
    """Return the plain value of a response's body; None if it is not JSON."""
    try:
        return json.loads(content.decode("utf-8", "replace"), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None


def reply_in(body: Any, sent: Sequence[Message]) -> ModelReply | None:
    """Return the reply of the first choice of a chat completion; None for another body.

    Args:
        body: The decoded body.
        sent: The messages of the request, from which missing usage is estimated.
    """
    choice = mapping(first(mapping(body).get("choices")))
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return None
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    calls = _calls(message.get("tool_calls"))
    written = [text, *(part for call in calls for part in (call.name, call.arguments))]
    return ModelReply(
        text,
        () if len(calls) > MAX_CALLS else calls,
        refusal,
        finish=_text(choice.get("finish_reason")),
        malformed=_malformed([*written, refusal], calls),
        thinking=_reasoning(message),
        id=_text(body.get("id")),
        served=_text(body.get("model")),
        **_usage(mapping(body.get("usage")), sent, written),
    )


def first(value: Any) -> Any:
    """Return the first of a list that is not empty; any other value as it is."""
    return value[0] if isinstance(value, list) and value else value


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object as it is; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def _usage(
    usage: Mapping[str, Any], sent: Sequence[Message], written: Sequence[str]
) -> dict[str, Any]:
    """Return tokens and money as the server reports them, tokens otherwise by lengths."""
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    read = mapping(usage.get("prompt_tokens_details"))
    wrote = mapping(usage.get("completion_tokens_details"))
    prompt_tokens = _estimate(len(msgspec.json.encode([sent]))) if prompt is None else prompt
    completion_tokens = _estimate(sum(map(len, written))) if completion is None else completion
    # In OpenAI's form or DeepSeek's.
    cached = _count(read.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens")) or 0
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "estimated": prompt is None or completion is None,
        "cached_tokens": min(cached, prompt_tokens),
        "cache_written_tokens": _count(read.get("cache_write_tokens")) or 0,
        "reasoning_tokens": _count(wrote.get("reasoning_tokens")) or 0,
        "reported_cost": _money(usage.get("cost")),
    }


def _malformed(texts: Sequence[str], calls: Sequence[Call]) -> str:
    if any(each != storable(each) for each in texts):
        return "your reply held half a surrogate pair, which is no character"
    if len(calls) > MAX_CALLS:
        return f"you called more than {MAX_CALLS} tools"
    return ""


def _calls(listed: Any) -> tuple[Call, ...]:
    """Return the tool calls of a message; a missing or repeated id is replaced."""
    calls: dict[str, Call] = {}
    # One more than is allowed, so that the reply is known to have too many.
    for each in listed[: MAX_CALLS + 1] if isinstance(listed, list) else ():
        function = mapping(each).get("function")
        if not isinstance(function, Mapping):
            continue
        identifier = _text(each.get("id"))
        if not identifier or identifier in calls:
            identifier = f"call_{len(calls) + 1}"
        arguments = _arguments(function.get("arguments"))
        calls[identifier] = Call(identifier, _text(function.get("name")), arguments)
    return tuple(calls.values())


def _arguments(value: Any) -> str:
    """Return the text of arguments; some servers send the object instead."""
    if not isinstance(value, Mapping):
        return _text(value)
    try:
        return json.dumps(value, separators=(",", ":"))
    except RecursionError:
        return ""


def _text(value: Any) -> str:
    """Return a text, or the joined texts of a list of content parts, without those of reasoning."""
    if isinstance(value, list):
        read = (part for part in value if not _thinks(part))
        texts = (part.get("text") if isinstance(part, Mapping) else part for part in read)
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _reasoning(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [part for part in content if _thinks(part)] if isinstance(content, list) else []
    named = (_all_texts(message.get(key)) for key in _REASONING_FIELDS)
    return next((text for text in (*named, _all_texts(parts)) if text), "")


def _thinks(part: Any) -> bool:
    """Return whether a content part is reasoning (`thinking`, `reasoning`, `redacted_thinking`)."""
    kind = str(mapping(part).get("type"))
    named = any(word in kind for word in ("think", "reason", "thought"))
    return named or mapping(part).get("thought") is True


def _all_texts(value: Any, depth: int = 0) -> str:
    """Return the texts of a field of reasoning, whatever form it has."""
    if isinstance(value, str):
        return value
    if depth > _DEPTH:
        return ""
    if isinstance(value, Mapping):
        value = [value.get(key) for key in _TEXT_KEYS]
    listed = value if isinstance(value, list) else []
    return "".join(_all_texts(each, depth + 1) for each in listed)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def _money(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= MAX_COST else None


def _estimate(characters: int) -> int:
    return -(-characters // _CHARACTERS_PER_TOKEN)
