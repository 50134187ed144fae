"""Anthropic's Messages.

Source: reference `wires.md`, section 3. Reasoning goes back only while a tool turn is open, that is
from the last message of the user on: newer models bind it to all that stands before it, and rounds
are dropped from there. Where `thinking_tokens` is given, which only older models take, all of it
goes back: they have no such bound, and refuse a call without the reasoning before it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from policies.llm.wires.completion import Redact, decoded
from policies.llm.wires.fault import check_error
from policies.llm.wires.form import DefaultServer, kept, text_of, with_extra
from policies.llm.wires.forms.message_reply import as_completion, is_use, text_in, whole_blocks
from policies.llm.wires.forms.native import calls_in, native_parts, native_text, plain_text
from policies.llm.wires.wire import CUT_CALL, Message, ModelReply

#: The version of the API that is spoken by default. It refuses sampling parameters.
VERSION = "2026-10-21"

_ANTHROPIC = DefaultServer(
    "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", within="/v1"
)

_SAMPLING = frozenset(("temperature", "top_p"))

_TAKEN = frozenset(
    """model messages tools tool_choice parallel_tool_calls response_format max_completion_tokens
    reasoning_effort thinking_tokens prompt_cache_key service_tier stop extra_body""".split()  # noqa: SIM905 (shorter)
)

#: Tokens of a reply where the user gives no limit, which the API requires, and those beyond a
#: budget of reasoning. The vendor's client refuses more than 21,333 without streaming.
MOST_TOKENS, _BEYOND_THINKING = 16_000, 4_000

_THINKING = ("thinking", "redacted_thinking")

#: Stands for a text without words, which the API refuses.
_NOTHING = "(nothing)"

#: Marks the end of what the server keeps in its cache.
_CACHED = {"cache_control": {"type": "ephemeral"}}


@frozen
class Messages:
    """Anthropic's Messages.

    Attributes:
        version: The version of the API, as a date.
    """

    version: str = VERSION
    name: str = "messages"
    path: str = "v1/messages"
    reply_name: str = "message"
    default: DefaultServer = _ANTHROPIC

    def headers(self, key: str) -> dict[str, str]:
        """Return the key and the version."""
        return {"x-api-key": key, "anthropic-version": self.version}

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that the API takes; JSON without a schema is not among them.

        Older versions take `temperature` and `top_p`, but not with reasoning.
        """
        reasons = (_thinking(given) or {}).get("type", "disabled") != "disabled"
        samples = self.version < VERSION and not reasons
        taken = _TAKEN | _SAMPLING if samples else _TAKEN
        if (given.get("response_format") or {}).get("type") != "json_schema":
            taken -= {"response_format"}
        return kept(self.name, given, taken)

    def body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request."""
        budget = fields.get("thinking_tokens")
        system, turns = _conversation(fields["messages"], keep_thinking=budget is not None)
        body = {
            "model": fields["model"],
            "max_tokens": fields.get("max_completion_tokens")
            or max(MOST_TOKENS, (budget or 0) + _BEYOND_THINKING),
            "system": system,
            "messages": turns,
            "tools": [_tool(each) for each in fields.get("tools", ())],
            "tool_choice": _tool_choice(fields),
            "stop_sequences": fields.get("stop"),
            "thinking": _thinking(fields),
            "output_config": _output_config(fields),
            **{name: fields.get(name) for name in ("service_tier", *sorted(_SAMPLING))},
        }
        body = {name: value for name, value in body.items() if value not in (None, [], {})}
        if fields.get("prompt_cache_key"):
            _mark_cached(body)
        return with_extra(body, fields)

    def reply(
        self, content: bytes, fields: Mapping[str, Any], seconds: float, redact: Redact
    ) -> ModelReply | None:
        """Return the reply of a message; None if the body is something else."""
        body = decoded(content)
        check_error(body.value, redact)
        if not isinstance(body.value, Mapping) or not isinstance(body.value.get("content"), list):
            return None
        blocks, cut = whole_blocks(body.value)
        completion = as_completion(body, blocks)
        reply = completion.reply(fields["messages"], seconds, redact)
        thought = any(block.get("type") in _THINKING for block in blocks)
        native = native_text(self.name, blocks, redact) if thought else ""
        malformed = reply.malformed or (CUT_CALL if cut else "")
        withheld = plain_text(body.value.get("input_transformations"), redact)
        return evolve(reply, native=native, malformed=malformed, withheld=withheld)


def _conversation(
    messages: Sequence[Message], *, keep_thinking: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the blocks of the system prompt, and the turns.

    Messages to the model that follow each other are one turn, results of tools first.
    """
    first = next((n for n, one in enumerate(messages) if one["role"] != "system"), len(messages))
    users = [n for n, one in enumerate(messages) if one["role"] == "user"]
    open_from = users[-1] if users and not keep_thinking else 0
    turns: list[dict[str, Any]] = []
    for number, message in enumerate(messages[first:], first):
        if message["role"] == "assistant":
            thinks = number > open_from or keep_thinking
            turns.append({"role": "assistant", "content": _said(message, thinks=thinks)})
            continue
        if not turns or turns[-1]["role"] != "user":
            turns.append({"role": "user", "content": []})
        turns[-1]["content"].append(_heard(message))
    for turn in turns:
        if turn["role"] == "user":
            turn["content"].sort(key=lambda block: block["type"] != "tool_result")
    return [_words(text_of(each)) for each in messages[:first]], turns


def _words(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text if text.strip() else _NOTHING}


def _heard(message: Message) -> dict[str, Any]:
    """Return the block of a user's message or of the result of a tool."""
    block = _words(text_of(message))
    if message["role"] != "tool":
        return block
    return {
        "type": "tool_result",
        "tool_use_id": message["tool_call_id"],
        "content": block["text"],
    }


def _said(message: Message, *, thinks: bool) -> list[dict[str, Any]]:
    """Return the blocks of an assistant's message: those of the server where they say the same."""
    native = native_parts("messages", message)
    uses = [(block.get("id"), block.get("name")) for block in native if is_use(block)]
    same = text_in(native).strip() == text_of(message).strip()
    if not (native and same and uses == calls_in(message)):
        return _rebuilt(message)
    blocks = [block for block in native if thinks or block.get("type") not in _THINKING]
    blocks = [each for each in blocks if each.get("type") != "text" or each.get("text", "").strip()]
    ends = blocks and blocks[-1].get("type") not in _THINKING
    return [_sent_back(block) for block in blocks] if ends else _rebuilt(message)


def _rebuilt(message: Message) -> list[dict[str, Any]]:
    text, calls = text_of(message), message.get("tool_calls") or ()
    uses = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in calls
    ]
    return [*([_words(text)] if text.strip() or not uses else ()), *uses]


def _sent_back(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block as requests take it: reasoning unchanged, others without what replies add."""
    match block.get("type"):
        case "text":
            names: tuple[str, ...] = ("type", "text")
        case "tool_use":
            names = ("type", "id", "name", "input")
        case _:
            return block
    return {name: block.get(name) for name in names}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    named = {"name": function["name"], "description": function.get("description", "")}
    strict = {"strict": True} if function.get("strict") else {}
    return {**named, "input_schema": function["parameters"], **strict}


def _tool_choice(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    if not fields.get("tools"):
        return None
    choice = fields.get("tool_choice", "auto")
    if isinstance(choice, Mapping):
        chosen: dict[str, Any] = {"type": "tool", "name": choice["function"]["name"]}
    else:
        chosen = {"type": {"required": "any"}.get(choice, choice)}
    one = fields.get("parallel_tool_calls") is False and choice != "none"
    return chosen | ({"disable_parallel_tool_use": True} if one else {})


def _thinking(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    effort = fields.get("reasoning_effort")
    if (budget := fields.get("thinking_tokens")) is not None:
        return {"type": "enabled", "budget_tokens": budget}
    if effort is None:
        return None
    return {"type": "disabled"} if effort == "none" else {"type": "adaptive"}


def _output_config(fields: Mapping[str, Any]) -> dict[str, Any]:
    effort, form = fields.get("reasoning_effort"), fields.get("response_format")
    chosen = {} if effort in (None, "none") else {"effort": effort}
    if not form:
        return chosen
    schema = form["json_schema"]["schema"]
    return {**chosen, "format": {"type": "json_schema", "schema": schema}}


def _mark_cached(body: dict[str, Any]) -> None:
    """Mark the ends of the tools, of the system prompt and of the messages."""
    last = body["messages"][-1]["content"] if body["messages"] else []
    for listed in (body.get("tools"), body.get("system"), last):
        if listed:
            listed[-1] = listed[-1] | _CACHED
