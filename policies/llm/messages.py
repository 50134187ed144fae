"""The parts of requests: chat messages, tools, and strict schemas of answers.

Tools and schemas are made from the JSON Schema of a role's actions (`desim.schema.described`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from desim.schema.described import Schema
from policies.llm.replies import BadReply
from policies.llm.wires.wire import Call, Message, ModelReply, Phase, Request

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")

#: The beginning of a message that asks for the same decision again.
ASKED_AGAIN = "That was not understood: "

#: Characters of a function's name that OpenAI's API accepts at most.
_LONGEST_NAME = 64


def user(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def system(text: str) -> Message:
    """Return a system message."""
    return {"role": "system", "content": text}


def request_of(
    instructions: str, text: str, temperature: float | None = None, phase: Phase = "step"
) -> Request:
    """Return a request of instructions, if there are any, and one user message."""
    told = [system(instructions)] if instructions else []
    return Request([*told, user(text)], temperature=temperature, phase=phase)


def assistant_message(reply: ModelReply) -> Message:
    """Return a reply as a message of the conversation, in a form that every server accepts."""
    if not reply.calls:
        text = reply.text or reply.refusal or "(nothing)"
        return {"role": "assistant", "content": text}
    calls = [_sent_back(call) for call in reply.calls]
    return {"role": "assistant", "content": reply.text, "tool_calls": calls}


def _sent_back(call: Call) -> dict[str, Any]:
    name = _NOT_IN_A_NAME.sub("_", call.name)[:_LONGEST_NAME] or "unknown"
    function = {"name": name, "arguments": _object_or_empty(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def tool_results(reply: ModelReply, texts: Sequence[str]) -> list[Message]:
    """Return one tool message for each tool call of a reply; an empty list without calls."""
    return [
        {"role": "tool", "tool_call_id": call.id, "content": text}
        for call, text in zip(reply.calls, texts, strict=True)
    ]


def corrected(reply: ModelReply, bad: BadReply) -> list[Message]:
    """Return an invalid reply and the message that asks for another."""
    why = f"{ASKED_AGAIN}{bad}. Nothing has been done; answer again."
    if reply.calls:
        return [assistant_message(reply), *tool_results(reply, [why] * len(reply.calls))]
    return [assistant_message(reply), user(why)]


def as_json(value: Any) -> str:
    """Write a plain value as JSON, characters beyond ASCII unescaped."""
    return json.dumps(value, ensure_ascii=False)


def _object_or_empty(arguments: str) -> str:
    """Return the arguments if they are a JSON object, else `{}`.

    Some servers parse the arguments of the calls that are sent back to them.
    """
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments if isinstance(decoded, dict) else "{}"


# -- tools and schemas -----------------------------------------------------------------------------


def as_tools(schemas: Mapping[str, Schema]) -> list[Schema]:
    """Return one tool for each action."""
    tools = []
    for name, schema in schemas.items():
        parameters = {key: value for key, value in schema.items() if key != "description"}
        described = {"name": name, "description": schema.get("description", "")}
        tools.append({"type": "function", "function": {**described, "parameters": parameters}})
    return tools


def answer_schema(schemas: Mapping[str, Schema]) -> Schema:
    """Return the strict schema of one tagged object out of several.

    A strict schema is an object at its root, so a choice is wrapped as
    `{"action": {"do": ..., ...}}`; a single action is not.
    """
    choices = [_tagged(name, schema) for name, schema in schemas.items()]
    if len(choices) == 1:
        return strict(choices[0])
    return strict(as_object({"action": {"anyOf": choices}}))


def as_object(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object that requires these properties."""
    return {"type": "object", "properties": dict(properties), "required": [*properties]}


def _tagged(name: str, schema: Schema) -> Schema:
    properties = {"do": {"type": "string", "enum": [name]}, **schema["properties"]}
    return {**schema, "properties": properties, "required": ["do", *schema["required"]]}


def strict(schema: Schema) -> Schema:
    """Make a schema strict: every property required, no other allowed, an optional one nullable."""
    result = {key: _strict_inside(each) for key, each in schema.items() if key != "default"}
    if schema.get("type") == "object" and "properties" in schema:
        needed = schema.get("required", ())
        result["properties"] = {
            name: strict(each) if name in needed else _nullable(strict(each))
            for name, each in schema["properties"].items()
        }
        result |= {"required": [*schema["properties"]], "additionalProperties": False}
    return result


def _strict_inside(value: Any) -> Any:
    if isinstance(value, list):
        return [_strict_inside(each) for each in value]
    return strict(value) if isinstance(value, dict) else value


def _nullable(schema: Schema) -> Schema:
    choices = schema.get("anyOf", [schema])
    null = {"type": "null"}
    return schema if null in choices else {"anyOf": [*choices, null]}
