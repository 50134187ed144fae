"""A chat completion as the server sent it: decoded, checked, and turned into a `ModelReply`.

A server is not trusted to keep to the protocol: every field may be missing or of another type. The
key is removed from every text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
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

#: Removes the key from a text.
Redact = Callable[[str], str]


def decoded(content: bytes) -> Any:
    """Return the plain value of a response's body; None if it is not JSON."""
    try:
        return json.loads(content.decode("utf-8", "replace"), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None


def reply_in(
    content: bytes, body: Any, sent: Sequence[Message], seconds: float, redact: Redact
) -> ModelReply | None:
    """Return the reply of the first choice of a chat completion; None for another body.

    Args:
        content: The body as it was sent.
        body: The decoded body.
        sent: The messages of the request, from which missing usage is estimated.
        seconds: Time that the request took.
        redact: Removes the key from every text.
    """
    choices = _mapping(body).get("choices")
    choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return None
    text, refusal = (redact(_joined(message.get(key))) for key in ("content", "refusal"))
    calls = _calls(message.get("tool_calls"), redact)
    written_texts = [text, refusal, *(part for c in calls for part in (c.name, c.arguments))]
    usage = _mapping(body.get("usage"))
    read, written = (_count(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
    prompt_tokens = _estimate(len(msgspec.json.encode([sent]))) if read is None else read
    length = sum(map(len, written_texts)) - len(refusal)
    of_prompt, of_completion = (
        _mapping(usage.get(f"{kind}_tokens_details")) for kind in ("prompt", "completion")
    )
    # In OpenAI's form or DeepSeek's.
    cached = _count(of_prompt.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens"))
    return ModelReply(
        text,
        () if len(calls) > MAX_CALLS else calls,
        refusal,
        finish=redact(_joined(choice.get("finish_reason"))),
        prompt_tokens=prompt_tokens,
        completion_tokens=_estimate(length) if written is None else written,
        estimated=read is None or written is None,
        seconds=seconds,
        malformed=_malformed(content, written_texts, calls),
        cached_tokens=min(cached or 0, prompt_tokens),
        reported_cost=_money(usage.get("cost")),
        thinking=redact(_reasoning(message)),
        id=redact(_joined(body.get("id"))),
        served=redact(_joined(body.get("model"))),
        reasoning_tokens=_count(of_completion.get("reasoning_tokens")) or 0,
        cache_written_tokens=_count(of_prompt.get("cache_write_tokens")) or 0,
    )


def _malformed(content: bytes, texts: Sequence[str], calls: Sequence[Call]) -> str:
    """Return what makes a reply unusable; an empty text if nothing does."""
    if content.decode("utf-8", "replace").encode() != content:
        return "your reply was not valid UTF-8"
    if any(each != storable(each) for each in texts):
        return "your reply held half a surrogate pair, which is no character"
    if len(calls) > MAX_CALLS:
        return f"you called more than {MAX_CALLS} tools"
    return ""


def _calls(listed: Any, redact: Redact) -> tuple[Call, ...]:
    """Return the tool calls of a message; a missing or repeated id is replaced."""
    calls: dict[str, Call] = {}
    # One more than is allowed, so that the reply is known to have too many.
    for each in listed[: MAX_CALLS + 1] if isinstance(listed, list) else ():
        function = _mapping(each).get("function")
        if not isinstance(function, Mapping):
            continue
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            # Some servers send the object instead of its text.
            arguments = _compact(arguments)
        identifier = redact(_joined(each.get("id")))
        if not identifier or identifier in calls:
            identifier = f"call_{len(calls) + 1}"
        name = redact(_joined(function.get("name")))
        calls[identifier] = Call(identifier, name, redact(_joined(arguments)))
    return tuple(calls.values())


def _compact(arguments: Mapping[str, Any]) -> str:
    """Return an object as JSON; an empty text if it is too deep."""
    try:
        return json.dumps(arguments, separators=(",", ":"))
    except RecursionError:
        return ""


def _joined(value: Any) -> str:
    """Return a text, or the joined texts of a list of content parts, without those of reasoning."""
    if isinstance(value, list):
        read = (part for part in value if not _thinks(part))
        texts = (part.get("text") if isinstance(part, Mapping) else part for part in read)
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _reasoning(message: Mapping[str, Any]) -> str:
    """Return what the server sends as reasoning, apart from the text."""
    content = message.get("content")
    parts = [part for part in content if _thinks(part)] if isinstance(content, list) else []
    named = (_all_texts(message.get(key)) for key in _REASONING_FIELDS)
    return next((text for text in (*named, _all_texts(parts)) if text), "")


def _thinks(part: Any) -> bool:
    """Return whether a content part is reasoning (`thinking`, `reasoning`, `redacted_thinking`)."""
    kind = str(_mapping(part).get("type"))
    named = any(word in kind for word in ("think", "reason", "thought"))
    return named or _mapping(part).get("thought") is True


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


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    """Return a number of tokens; None for anything else, and for more than `MAX_TOKENS`."""
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def _money(value: Any) -> float | None:
    """Return a reported amount; None unless it is a number from 0 to `MAX_COST`."""
    return float(value) if type(value) in (int, float) and 0 <= value <= MAX_COST else None


def _estimate(characters: int) -> int:
    """Return the number of tokens that a text of this length is counted as, rounded up."""
    return -(-characters // _CHARACTERS_PER_TOKEN)
