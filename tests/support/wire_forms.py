"""The reply of a stub in the form of the API that a request has come by."""

import json
from collections.abc import Mapping
from typing import Any

_STOP_REASONS = {"length": "max_tokens", "tool_calls": "tool_use"}


def in_form(path: str, body: Any) -> Any:
    """Return a chat completion as the API of a path writes it; anything else as it is."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not choices or not isinstance(choices[0].get("message"), Mapping):
        return body
    if path.endswith("/responses"):
        return as_response(body)
    return as_message(body) if path.endswith("/messages") else as_chat(body)


def as_chat(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat completion with the fields that it lacks."""
    body = {"created": 1763856000, **completion}
    match completion.get("usage"):
        case {"prompt_tokens": int(read), "completion_tokens": int(written), **rest}:
            counted = {"prompt_tokens": read, "completion_tokens": written, **rest}
            body["usage"] = counted | {"total_tokens": read + written}
    return body


def as_response(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat completion as a Responses reply; reasoning is encrypted."""
    message, finish = completion["choices"][0]["message"], completion["choices"][0]["finish_reason"]
    output: list[dict[str, Any]] = []
    if thought := message.get("reasoning"):
        item = {"type": "reasoning", "id": "rs_1", "encrypted_content": f"<{thought}>"}
        output.append(item | {"summary": [{"type": "summary_text", "text": thought}]})
    if text := message.get("content"):
        part = {"type": "output_text", "text": text, "annotations": []}
        said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        output.append(said | {"content": [part]})
    cut = finish == "length"
    output += [
        {
            "type": "function_call",
            "id": f"fc_{call['id']}",
            "call_id": call["id"],
            **call["function"],
            "status": "incomplete" if cut else "completed",
        }
        for call in message.get("tool_calls") or ()
    ]
    body = {
        "id": completion["id"],
        "object": "response",
        "created_at": 1763856000,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "model": completion["model"],
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if (usage := completion.get("usage")) is None:
        return body
    read, written = usage["prompt_tokens"], usage["completion_tokens"]
    counted = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
    return body | {"usage": counted}


def as_message(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat completion as a message; reasoning is signed."""
    message, finish = completion["choices"][0]["message"], completion["choices"][0]["finish_reason"]
    content: list[dict[str, Any]] = []
    if thought := message.get("reasoning"):
        content.append({"type": "thinking", "thinking": thought, "signature": f"<{thought}>"})
    if text := message.get("content"):
        content.append({"type": "text", "text": text, "citations": None})
    content += [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls") or ()
    ]
    usage = completion.get("usage") or {}
    counted = {
        "input_tokens": usage.get("prompt_tokens"),
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.get("completion_tokens"),
    }
    return {
        "id": completion["id"],
        "type": "message",
        "role": "assistant",
        "model": completion["model"],
        "stop_reason": _STOP_REASONS.get(finish, "end_turn"),
        "stop_sequence": None,
        "content": content,
        "usage": counted if usage else None,
    }
