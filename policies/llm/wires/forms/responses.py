"""OpenAI's Responses, without state at the server.

Source: reference `wires.md`, section 2. The record holds the conversation, so nothing is stored at
the server, and reasoning goes back in encrypted form, with the items that followed it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from policies.llm.wires.completion import Completion, Decoded, Redact, decoded
from policies.llm.wires.fault import check_error
from policies.llm.wires.form import OPENAI, DefaultServer, kept, text_of, with_extra
from policies.llm.wires.forms.native import (
    calls_in,
    native_parts,
    native_text,
    plain_text,
)
from policies.llm.wires.wire import CUT_CALL, Message, ModelReply, NoReply

_TAKEN = frozenset(
    """model messages tools tool_choice parallel_tool_calls response_format max_completion_tokens
    reasoning_effort temperature top_p prompt_cache_key service_tier extra_body""".split()  # noqa: SIM905 (shorter)
)

#: Fields with the same name and meaning in both APIs.
_SAME = ("model", "parallel_tool_calls", "temperature", "top_p", "prompt_cache_key", "service_tier")

#: Finish reasons by the reason of a response that is incomplete.
_CUTS = {"max_output_tokens": "length", "content_filter": "content_filter"}

#: The states of a response that holds a reply.
_ENDED = ("completed", "incomplete")

#: The phase of a message that is not the answer.
_COMMENTARY = "commentary"


@frozen
class Responses:
    """OpenAI's Responses."""

    name: str = "responses"
    path: str = "responses"
    reply_name: str = "response"
    default: DefaultServer = OPENAI

    def headers(self, key: str) -> dict[str, str]:
        """Return the bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that the API takes."""
        return kept(self.name, given, _TAKEN)

    def body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request."""
        instructions, items = _conversation(fields["messages"])
        tools, effort = fields.get("tools"), fields.get("reasoning_effort")
        body = {
            **{name: fields.get(name) for name in _SAME},
            "instructions": instructions or None,
            "input": items,
            "tools": [_tool(each) for each in tools] if tools else None,
            "tool_choice": _tool_choice(fields["tool_choice"]) if tools else None,
            "reasoning": None if effort is None else {"effort": effort},
            "max_output_tokens": fields.get("max_completion_tokens"),
            "text": _format(fields.get("response_format")),
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        body = {name: value for name, value in body.items() if value is not None}
        return with_extra(body, fields)

    def reply(
        self, content: bytes, fields: Mapping[str, Any], seconds: float, redact: Redact
    ) -> ModelReply | None:
        """Return the reply of a response; None if the body is something else."""
        body = decoded(content)
        check_error(body.value, redact)
        if not isinstance(body.value, Mapping) or not isinstance(body.value.get("output"), list):
            return None
        if (status := body.value.get("status", "completed")) not in _ENDED:
            raise NoReply(f"sent a response that is {redact(str(status))[:40]}")
        items, cut = _whole(body.value["output"])
        completion = _as_completion(body, items)
        reply = completion.reply(fields["messages"], seconds, redact)
        return evolve(
            reply,
            native=native_text(self.name, items, redact) if _has_more(items) else "",
            malformed=reply.malformed or (CUT_CALL if cut else ""),
            withheld=plain_text(body.value.get("input_transformations"), redact),
        )


# -- requests --------------------------------------------------------------------------------------


def _conversation(messages: Sequence[Message]) -> tuple[str, list[dict[str, Any]]]:
    """Return the instructions and the items of a conversation."""
    first = next((n for n, one in enumerate(messages) if one["role"] != "system"), len(messages))
    instructions = "\n\n".join(text_of(each) for each in messages[:first])
    return instructions, [item for each in messages[first:] for item in _items(each)]


def _items(message: Message) -> list[dict[str, Any]]:
    """Return the items of a message: those of the server where they say the same."""
    match message["role"]:
        case "tool":
            call = message["tool_call_id"]
            return [
                {"type": "function_call_output", "call_id": call, "output": text_of(message)},
            ]
        case "assistant":
            native = native_parts("responses", message)
            return native if native and _says_the_same(native, message) else _rebuilt(message)
        case role:
            return [{"role": role, "content": text_of(message)}]


def _says_the_same(items: Sequence[dict[str, Any]], message: Message) -> bool:
    calls = [(each.get("call_id"), each.get("name")) for each in items if _is_call(each)]
    return _text_in(items).strip() == text_of(message).strip() and calls == calls_in(message)


def _rebuilt(message: Message) -> list[dict[str, Any]]:
    text, calls = text_of(message), message.get("tool_calls") or ()
    # llama.cpp's server does not recognize it without its type.
    item = {"type": "message", "role": "assistant", "content": text}
    said = [item] if text or not calls else []
    return [
        *said,
        *({"type": "function_call", "call_id": call["id"], **call["function"]} for call in calls),
    ]


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function["parameters"],
        "strict": bool(function.get("strict")),
    }


def _tool_choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping):
        return choice
    return {"type": "function", "name": choice["function"]["name"]}


def _format(form: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return how a text is to be written."""
    if form is None:
        return None
    return {"format": {"type": form["type"], **form.get("json_schema", {})}}


# -- replies ---------------------------------------------------------------------------------------


def _whole(output: Sequence[Any]) -> tuple[list[dict[str, Any]], bool]:
    """Return the items that can go back, and whether a call was cut.

    The server refuses reasoning without the item that followed it.
    """
    items = [item for item in output if isinstance(item, dict)]
    cut = [item for item in items if _is_call(item) and item.get("status") == "incomplete"]
    whole = [item for item in items if item not in cut]
    while whole and whole[-1].get("type") == "reasoning":
        whole.pop()
    return whole, bool(cut)


def _has_more(items: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether items say more than a text and calls."""
    return any(each.get("type") == "reasoning" or each.get("phase") for each in items)


def _as_completion(body: Decoded, items: Sequence[dict[str, Any]]) -> Completion:
    """Return a response in the form of a chat completion, of which every field is checked."""
    response = body.value
    calls = [
        {
            "id": each.get("call_id"),
            "function": {"name": each.get("name"), "arguments": each.get("arguments")},
        }
        for each in items
        if _is_call(each)
    ]
    reasoning = [each for each in response["output"] if isinstance(each, dict)]
    said = {
        "content": _text_in(items),
        "tool_calls": calls,
        "refusal": "".join(_texts(items, "refusal")),
        "reasoning": [each for each in reasoning if each.get("type") == "reasoning"],
    }
    return Completion(
        {"id": response.get("id"), "model": response.get("model"), "usage": _usage(response)},
        {"finish_reason": _finish(response, called=bool(calls))},
        said,
        body.valid_utf8,
    )


def _finish(response: Mapping[str, Any], *, called: bool) -> str:
    if response.get("status") == "incomplete":
        details = response.get("incomplete_details")
        reason = str(details.get("reason")) if isinstance(details, Mapping) else ""
        return _CUTS.get(reason, reason or "length")
    return "tool_calls" if called else "stop"


def _usage(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usage under the names of chat completions."""
    usage = response.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
        "cost": usage.get("cost"),
    }


def _is_call(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call"


def _text_in(items: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the answer, without commentary."""
    answers = [each for each in items if each.get("phase") != _COMMENTARY]
    return "".join(_texts(answers, "text"))


def _texts(items: Sequence[Mapping[str, Any]], name: str) -> Iterator[str]:
    """Yield the texts under a name in the parts of messages."""
    for item in items:
        parts = item.get("content")
        if item.get("type") == "message" and isinstance(parts, list):
            for part in parts:
                if isinstance(part, Mapping) and isinstance(text := part.get(name), str):
                    yield text
