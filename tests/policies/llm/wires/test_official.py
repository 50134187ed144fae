"""What is sent and read, judged by the packages of the vendors: their types and their clients."""

from typing import Any

import pytest
from support.official import request_validator
from support.prompted_seats import CASES
from support.stub import Served, call, serving, text
from support.wire_forms import in_form

from desim import play
from policies.llm.wires.forms.apis import APIS

openai = pytest.importorskip("openai", minversion="3")
anthropic = pytest.importorskip("anthropic", minversion="2")

CASE = next(case for case in CASES if case.world == "enterprise_arena")
GENERIC = "conversation=policies.llm.worlds.generic:CONVERSATION"

#: Options that every API takes, and those of one.
OPTIONS = {
    "chat": [
        "seed=7,temperature=0.5,top_p=0.9,service_tier=flex",
        "effort=xhigh,cache=true",
        'extra_body={"verbosity":"low"}',
    ],
    "responses": [
        "temperature=0.5,top_p=0.9,service_tier=flex",
        "effort=none,cache=true",
        'extra_body={"truncation":"auto"}',
    ],
    "messages": [
        "effort=low,cache=true",
        "effort=none",
        "thinking_tokens=2000,service_tier=auto",
        'extra_body={"metadata":{"user_id":"a"}}',
    ],
}


def validator(api: str) -> Any:
    """Return the validator of an API's requests."""
    from anthropic.types import message_create_params
    from openai.types.chat import completion_create_params
    from openai.types.responses import response_create_params

    return request_validator(
        {
            "chat": completion_create_params.CompletionCreateParamsNonStreaming,
            "responses": response_create_params.ResponseCreateParamsNonStreaming,
            "messages": message_create_params.MessageCreateParamsNonStreaming,
        }[api]
    )


def test_the_judges_refuse_unknown_fields_at_any_depth() -> None:
    """Otherwise they would judge nothing."""
    ask: list[Any] = [{"role": "user", "content": "How many?"}]
    bodies: dict[str, dict[str, Any]] = {
        "chat": {"messages": ask, "model": "m"},
        "responses": {"input": ask, "model": "m"},
        "messages": {"messages": ask, "model": "m", "max_tokens": 9},
    }
    for api, body in bodies.items():
        judge = validator(api)
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
@pytest.mark.parametrize(
    ("api", "options"),
    [(api, each) for api in APIS for each in ["reply_tokens=9000", *OPTIONS[api]]],
)
def test_every_request_is_one_of_the_vendors_types(api: str, options: str, mode: str) -> None:
    """With every option, in every mode; unknown fields are refused at any depth."""
    judge = validator(api)
    with serving(BAD[mode], REPLIES[mode]) as stub:
        spec = (
            f"llm,model=m,base_url={stub.url},api={api},mode={mode},{options},{GENERIC},history=2"
        )
        play("beer_game/poisson", f"{spec},max_calls=5")
        for body in stub.requests:
            judge.validate_python(body)
    assert len(stub.requests) == 5


@pytest.mark.parametrize("api", APIS)
def test_the_requests_of_a_world_of_its_own_are_too(api: str) -> None:
    """Notes, tools and the month's action in one conversation."""
    judge = validator(api)
    note = call(("save_note", {"content": "a", "tags": []}), reasoning="Note it.")
    calls = [note, call((CASE.tool, {CASE.argument: 6})), text("", reasoning="Hm."), note]
    with serving(*calls) as stub:
        spec = f"llm,model=m,base_url={stub.url},api={api},mode=tools,effort=high,max_calls=9"
        play(CASE.model, spec)
        for body in stub.requests:
            judge.validate_python(body)
    assert len(stub.requests) == 9


@pytest.mark.parametrize("served", [*REPLIES.values(), *BAD.values(), text("4", finish="length")])
def test_the_stub_answers_in_the_classes_of_the_vendors(served: Served) -> None:
    """So that what is read here is what a server would send."""
    from anthropic.types import Message
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    ChatCompletion.model_validate(in_form("/v1/chat/completions", served.body))
    Response.model_validate(in_form("/v1/responses", served.body))
    Message.model_validate(in_form("/v1/messages", served.body))


def test_the_clients_of_the_vendors_read_the_stub() -> None:
    """Their text, calls and usage are those that desim reads."""
    ask: list[Any] = [{"role": "user", "content": "How many?"}]
    with serving(call(("order", {"quantity": 4}), reasoning="Four.")) as stub:
        client = openai.OpenAI(base_url=stub.url, api_key="k")
        chat = client.chat.completions.create(model="m", messages=ask)
        response = client.responses.create(model="m", input=ask)
        claude = anthropic.Anthropic(base_url=stub.url.removesuffix("/v1"), api_key="k")
        message = claude.messages.create(model="m", max_tokens=9, messages=ask)
    assert chat.choices[0].message.tool_calls[0].function.arguments == '{"quantity": 4}'
    assert [item.type for item in response.output] == ["reasoning", "function_call"]
    assert response.output[1].arguments == '{"quantity": 4}'
    assert [block.type for block in message.content] == ["thinking", "tool_use"]
    assert message.content[1].input == {"quantity": 4}
    assert chat.usage.completion_tokens == response.usage.output_tokens == 5
    assert message.usage.output_tokens == 5
