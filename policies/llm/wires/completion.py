"""A chat completion as the server sent it: decoded, checked, and turned into a `ModelReply`.

A server is not trusted to keep to the protocol: every field may be missing or of another type. The
key is removed from every text, as it is or as servers escape it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from attrs import frozen

from desim.schema.untrusted import refuse_constant
from policies.llm.wires.wire import Call, Message, ModelReply

#: Tool calls of a reply; one with more is malformed.
MAX_CALLS = 128

#: Tokens that a server may report for one reply; a larger number is ignored.
MAX_TOKENS = 1_000_000_000

#: Money that a server may report for one reply; a larger number is ignored.
MAX_COST = 10_000.0

#: Fields of a message in which servers send reasoning.
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking")

#: Keys of the texts within them, and how deep they are searched.
_TEXT_KEYS, _DEPTH = ("text", "thinking", "summary", "reasoning", "content"), 4

#: Characters a token, for replies without usage; English text has about four.
_CHARACTERS_PER_TOKEN = 4

#: A shorter key, such as `none` or `4`, is not treated as a secret: it may be part of any reply.
SHORTEST_KEY = 8

#: Removes the key from a text.
Redact = Callable[[str], str]


@frozen
class Decoded:
    """The body of a response.

    Attributes:
        value: The plain value; None if the body is not JSON.
        valid_utf8: Whether the body was valid UTF-8; what was not has been replaced.
    """

    value: Any
    valid_utf8: bool = True


def decoded(content: bytes) -> Decoded:
    """Decode the body of a response."""
    text = content.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return Decoded(None)
    return Decoded(value, text.encode("utf-8", "surrogatepass") == content)


def reply_in(
    body: Decoded, sent: Sequence[Message], seconds: float, redact: Redact
) -> ModelReply | None:
    """Return the reply of the first choice of a chat completion; None for another body.

    Args:
        body: The decoded body.
        sent: The messages of the request, from which missing usage is estimated.
        seconds: Time that the request took.
        redact: Removes the key from every text.
    """
    choices = body.value.get("choices") if isinstance(body.value, Mapping) else None
    choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return None
    text, refusal = (redact(_joined(message.get(key))) for key in ("content", "refusal"))
    calls = tuple(_calls(_listed_calls(message), redact))
    written_texts = [text, refusal, *(part for c in calls for part in (c.name, c.arguments))]
    usage = _mapping(body.value.get("usage"))
    read, written = (count(usage.get(f"{kind}_tokens")) for kind in ("prompt", "completion"))
    prompt_tokens = _estimate(len(msgspec.json.encode([sent]))) if read is None else read
    length = sum(map(len, written_texts)) - len(refusal)
    of_prompt, of_completion = (
        _mapping(usage.get(f"{kind}_tokens_details")) for kind in ("prompt", "completion")
    )
    # In OpenAI's form or DeepSeek's.
    cached = count(of_prompt.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    return ModelReply(
        text,
        () if len(calls) > MAX_CALLS else calls,
        refusal,
        finish=redact(_joined(choice.get("finish_reason"))),
        prompt_tokens=prompt_tokens,
        completion_tokens=_estimate(length) if written is None else written,
        estimated=read is None or written is None,
        seconds=seconds,
        malformed=_malformed(body, written_texts, calls),
        cached_tokens=min(cached or 0, prompt_tokens),
        reported_cost=_money(usage.get("cost")),
        thinking=redact(_reasoning(message)),
        id=redact(_joined(body.value.get("id"))),
        served=redact(_joined(body.value.get("model"))),
        reasoning_tokens=count(of_completion.get("reasoning_tokens")) or 0,
        cache_written_tokens=count(of_prompt.get("cache_write_tokens")) or 0,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _malformed(body: Decoded, texts: Sequence[str], calls: Sequence[Call]) -> str:
    """Return what makes a reply unusable; an empty text if nothing does."""
    if not body.valid_utf8:
        return "your reply was not valid UTF-8"
    if any(_has_surrogate(each) for each in texts):
        return "your reply held half a surrogate pair, which is no character"
    if len(calls) > MAX_CALLS:
        return f"you called more than {MAX_CALLS} tools"
    return ""


def _reasoning(message: Mapping[str, Any]) -> str:
    """Return what the server sends as reasoning, apart from the text."""
    named = (_all_texts(message.get(key)) for key in _REASONING_FIELDS)
    inside = (_all_texts(part) for part in _parts(message.get("content")) if _thinks(part))
    return next((text for text in (*named, "".join(inside)) if text), "")


def _listed_calls(message: Mapping[str, Any]) -> list[Any]:
    """Return the tool calls of a message, in OpenAI's forms or as parts of its content."""
    if isinstance(listed := message.get("tool_calls"), list) and listed:
        return listed
    if isinstance(function := message.get("function_call"), Mapping):
        return [{"function": function}]
    parts = _parts(message.get("content"))
    return [_call_of_part(part) for part in parts if part.get("type") == "tool_use"]


def _calls(listed: Any, redact: Redact) -> list[Call]:
    """Return the tool calls of a message; a missing or repeated id is replaced."""
    calls: list[Call] = []
    identifiers: set[str] = set()
    # One more than is allowed, so that the reply is known to have too many.
    for each in listed[: MAX_CALLS + 1] if isinstance(listed, list) else ():
        function = each.get("function") if isinstance(each, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            # Some servers send the object instead of its text.
            arguments = _compact(arguments)
        identifier = redact(_joined(each.get("id")))
        if not identifier or identifier in identifiers:
            identifier = f"call_{len(calls) + 1}"
        identifiers.add(identifier)
        calls.append(
            Call(
                identifier,
                redact(_joined(function.get("name"))),
                redact(_joined(arguments)),
            )
        )
    return calls


def _compact(arguments: Mapping[str, Any]) -> str:
    """Return an object as JSON; an empty text if it is too deep."""
    try:
        return json.dumps(arguments, separators=(",", ":"))
    except RecursionError:
        return ""


def _joined(value: Any) -> str:
    """Return a text, or the joined texts of a list of content parts; otherwise an empty text.

    Parts of reasoning are left out.
    """
    if isinstance(value, list):
        read = (part for part in value if not (isinstance(part, Mapping) and _thinks(part)))
        texts = (part.get("text") if isinstance(part, Mapping) else part for part in read)
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _parts(content: Any) -> list[Mapping[str, Any]]:
    listed = content if isinstance(content, list) else []
    return [part for part in listed if isinstance(part, Mapping)]


def _thinks(part: Mapping[str, Any]) -> bool:
    """Return whether a content part is reasoning (`thinking`, `reasoning`, `redacted_thinking`)."""
    kind = str(part.get("type"))
    return (
        any(word in kind for word in ("think", "reason", "thought")) or part.get("thought") is True
    )


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


def _call_of_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content part `tool_use` in the form of OpenAI's tool calls."""
    function = {"name": part.get("name"), "arguments": part.get("input")}
    return {"id": part.get("id"), "function": function}


def count(value: Any) -> int | None:
    """Return a number of tokens; None for anything else, and for more than `MAX_TOKENS`."""
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def _money(value: Any) -> float | None:
    """Return a reported amount; None unless it is a number from 0 to `MAX_COST`."""
    return float(value) if type(value) in (int, float) and 0 <= value <= MAX_COST else None


def _estimate(characters: int) -> int:
    """Return the number of tokens that a text of this length is counted as, rounded up."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _has_surrogate(text: str) -> bool:
    """Return whether a text holds half a surrogate pair, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def redactor(key: str) -> Redact:
    r"""Return a function that replaces a key by `[key]`.

    >>> redactor("sk-12345")(r"bad key \u0073k-12345, sk%2D12345")
    'bad key [key], [key]'
    """
    if len(key) < SHORTEST_KEY:
        return lambda text: text
    pattern = re.compile("".join(_ways_written(character) for character in key))
    return lambda text: pattern.sub("[key]", text)


def _ways_written(character: str) -> str:
    """Return a pattern of the ways in which an ASCII character of a key is written."""
    code, plain = f"(?i:{ord(character):02x})", re.escape(character)
    # Text within text doubles backslashes and percent signs; bounded, for a text full of them.
    backslash = rf"\\{{1,8}}(?:u00{code}|x{code}|{plain})"
    percent = rf"%(?:25){{0,3}}{code}"
    entity = rf"&#(?:{ord(character)}|[xX]0{{0,6}}{code});"
    return f"(?:{plain}|{backslash}|{percent}|{entity})"
