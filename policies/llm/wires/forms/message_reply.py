"""Replies of Anthropic's Messages, in the form of chat completions.

Source: reference `wires.md`, section 3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policies.llm.wires.completion import Completion, Decoded, count

#: Finish reasons of chat completions by those of Messages.
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


def whole_blocks(message: Mapping[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """Return the blocks of a message, and whether a call at its end was cut and is left out."""
    blocks = [block for block in message["content"] if isinstance(block, dict)]
    full = _FINISH.get(str(message.get("stop_reason"))) == "length"
    cut = bool(full and blocks and is_use(blocks[-1]))
    return blocks[:-1] if cut else blocks, cut


def as_completion(body: Decoded, blocks: Sequence[dict[str, Any]]) -> Completion:
    """Return a message in the form of a chat completion, of which every field is checked."""
    message = body.value
    reason = message.get("stop_reason")
    finish = _FINISH.get(reason, reason) if isinstance(reason, str) else ""
    said = {
        "content": text_in(blocks),
        "tool_calls": [
            {"id": each.get("id"), "function": _function(each)} for each in blocks if is_use(each)
        ],
        "reasoning": "".join(_texts(blocks, "thinking")),
        "refusal": _refusal(message) if reason == "refusal" else None,
    }
    return Completion(
        {"id": message.get("id"), "model": message.get("model"), "usage": _usage(message)},
        {"finish_reason": finish},
        said,
        body.valid_utf8,
    )


def _function(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": block.get("name"), "arguments": block.get("input")}


def _refusal(message: Mapping[str, Any]) -> str:
    details = message.get("stop_details")
    said = details.get("explanation") if isinstance(details, Mapping) else None
    return said if isinstance(said, str) and said else "the model refused"


def _usage(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tokens as chat completions count them: those of the cache are read, too."""
    usage = message.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    details = usage.get("output_tokens_details")
    thought = details.get("thinking_tokens") if isinstance(details, Mapping) else None
    left = count(usage.get("input_tokens"))
    read, written = (
        count(usage.get(f"cache_{kind}_input_tokens")) or 0 for kind in ("read", "creation")
    )
    return {
        "prompt_tokens": None if left is None else left + read + written,
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def is_use(block: Mapping[str, Any]) -> bool:
    """Return whether a block is the call of a tool."""
    return block.get("type") == "tool_use"


def text_in(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Return the joined texts of blocks."""
    return "".join(_texts(blocks, "text"))


def _texts(blocks: Iterable[Mapping[str, Any]], kind: str) -> Iterator[str]:
    """Yield the texts of the blocks of a kind."""
    for block in blocks:
        if block.get("type") == kind and isinstance(text := block.get(kind), str):
            yield text
