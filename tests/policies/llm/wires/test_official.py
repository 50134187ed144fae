"""What is sent and read, judged by the vendor's own package: its types and its client."""

from typing import Any

import pytest
from support.prompted_seats import CASES
from support.stub import Served, as_chat, call, serving, text

from desim import play

openai = pytest.importorskip("openai", minversion="3")

CASE = next(case for case in CASES if case.world == "enterprise_arena")
GENERIC = "conversation=policies.llm.conversation:CONVERSATION"

OPTIONS = [
    "reply_tokens=9000",
    "seed=7,temperature=0.5",
    'extra_body="{""verbosity"":""low"",""top_p"":0.9,""reasoning_effort"":""xhigh""}"',
]


def request_validator() -> Any:
    """Return a validator of requests, which refuses unknown fields at any depth."""
    from openai.types.chat import completion_create_params
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    schema = TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming).core_schema
    return SchemaValidator(_closed(schema))


def _closed(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(_closed(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    match schema.get("type"):
        case "model":
            return {
                "type": "is-instance",
                "cls": schema["cls"],
                **({"ref": schema["ref"]} if "ref" in schema else {}),
            }
        case "generator":  # it would be validated when it is read
            schema = {k: v for k, v in schema.items() if k != "serialization"} | {"type": "list"}
        case "typed-dict":
            schema = {k: v for k, v in schema.items() if k != "config"}
            schema["extra_behavior"] = "forbid"
    return {name: _closed(each) for name, each in schema.items()}


def test_the_judge_refuses_unknown_fields_at_any_depth() -> None:
    """Otherwise it would judge nothing."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "How many?"}], "model": "m"}
    judge = request_validator()
    judge.validate_python(body)
    for wrong in (body | {"unknown": 1}, body | {"tools": [{"type": "function", "odd": 1}]}):
        with pytest.raises(ValueError, match="validation error"):
            judge.validate_python(wrong)


REPLIES = {
    "tools": call(("order", {"quantity": 4}), reasoning="Four."),
    "json": text('{"do": "order", "quantity": 4}', reasoning="Four."),
    "schema": text('{"do": "order", "quantity": 4}', reasoning="Four."),
}
BAD = {
    "tools": call(("dance", {}), ("dance", {}), reasoning="Dance?"),
    "json": text("", reasoning="Hm."),
    "schema": text("", reasoning="Hm."),
}


@pytest.mark.parametrize("mode", REPLIES)
@pytest.mark.parametrize("options", OPTIONS)
def test_every_request_is_one_of_the_vendors_type(options: str, mode: str) -> None:
    """With every option, in every mode; unknown fields are refused at any depth."""
    judge = request_validator()
    with serving(BAD[mode], REPLIES[mode]) as stub:
        spec = f"llm,model=m,base_url={stub.url},mode={mode},{options},{GENERIC},history=2"
        play("beer_game/poisson", f"{spec},max_calls=5")
        for body in stub.requests:
            judge.validate_python(body)
    assert len(stub.requests) == 5


def test_the_requests_of_a_world_of_its_own_are_too() -> None:
    """Notes, tools and the month's action in one conversation."""
    judge = request_validator()
    note = call(("save_note", {"content": "a", "tags": []}), reasoning="Note it.")
    calls = [note, call((CASE.tool, {CASE.argument: 6})), text("", reasoning="Hm."), note]
    with serving(*calls) as stub:
        spec = f"llm,model=m,base_url={stub.url},mode=tools,max_calls=9"
        play(CASE.model, spec)
        for body in stub.requests:
            judge.validate_python(body)
    assert len(stub.requests) == 9


@pytest.mark.parametrize("served", [*REPLIES.values(), *BAD.values(), text("4", finish="length")])
def test_the_stub_answers_in_the_class_of_the_vendor(served: Served) -> None:
    """So that what is read here is what a server would send."""
    from openai.types.chat import ChatCompletion

    ChatCompletion.model_validate(as_chat(served.body))
