"""Replies of Responses and Messages: what they mean, and that a server may send anything."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.stub import Served, serving

from desim import play
from policies.llm.chat.messages import assistant_message, tool_results, user
from policies.llm.wires.completion import redactor
from policies.llm.wires.forms.apis import form_of
from policies.llm.wires.forms.native import native_parts
from policies.llm.wires.wire import ModelReply, NoReply

FIELDS = {"model": "m", "messages": [user("How many?")]}
KEY = "sk-very-secret-0123456789"


def read(api: str, body: Any, key: str = "") -> ModelReply:
    """Return the reply of a body."""
    reply = form_of(api).reply(json.dumps(body).encode(), FIELDS, 1.0, redactor(key))
    assert reply is not None
    return reply


def message(*content: Any, **more: Any) -> dict[str, Any]:
    """Return a message of Anthropic's."""
    usage = {
        "input_tokens": 44,
        "cache_read_input_tokens": 256,
        "cache_creation_input_tokens": 100,
        "output_tokens": 70,
        "output_tokens_details": {"thinking_tokens": 50},
    }
    body = {"id": "msg_1", "model": "claude-x", "content": [*content], "stop_reason": "end_turn"}
    return {**body, "usage": usage, **more}


def response(*output: Any, **more: Any) -> dict[str, Any]:
    """Return a response of OpenAI's."""
    usage = {
        "input_tokens": 400,
        "input_tokens_details": {"cached_tokens": 256, "cache_write_tokens": 100},
        "output_tokens": 70,
        "output_tokens_details": {"reasoning_tokens": 50},
    }
    body = {"id": "resp_1", "model": "m-2026", "status": "completed", "output": [*output]}
    return {**body, "usage": usage, **more}


USE = {"type": "tool_use", "id": "toolu_1", "name": "order", "input": {"quantity": 6}}
THOUGHT = {"type": "thinking", "thinking": "Six.", "signature": "EqQB"}
HIDDEN = {"type": "redacted_thinking", "data": "EmwK"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "order"}
CALL |= {"arguments": '{"quantity":6}', "status": "completed"}
REASON = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}


def said(text: str, **more: Any) -> dict[str, Any]:
    """Return an item of a response with a text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [part], **more}


def test_tokens_of_the_cache_are_tokens_read() -> None:
    """Both APIs count the same reply alike, though Messages reports what is left."""
    replies = [read("messages", message(USE)), read("responses", response(CALL))]
    for reply in replies:
        assert (reply.prompt_tokens, reply.completion_tokens) == (400, 70)
        assert (reply.cached_tokens, reply.cache_written_tokens) == (256, 100)
        assert (reply.reasoning_tokens, reply.estimated) == (50, False)
    assert [reply.served for reply in replies] == ["claude-x", "m-2026"]


def test_reasoning_is_kept_apart_and_as_it_came() -> None:
    """The parts that only the server reads are plain JSON, in their order."""
    reply = read("messages", message(THOUGHT, HIDDEN, {"type": "text", "text": "Six."}, USE))
    assert (reply.text, reply.thinking) == ("Six.", "Six.")
    parts = native_parts("messages", assistant_message(reply))
    assert parts[:2] == [THOUGHT, HIDDEN]
    assert native_parts("responses", assistant_message(reply)) == []
    assert read("messages", message(USE)).native == ""


def test_commentary_is_not_the_answer() -> None:
    """It goes back with its phase."""
    items = [said("Let me see.", phase="commentary"), said("Six.", phase="final_answer")]
    reply = read("responses", response(*items))
    assert reply.text == "Six."
    assert native_parts("responses", assistant_message(reply)) == items


@pytest.mark.parametrize(
    ("api", "body", "finish", "refusal"),
    [
        ("messages", message(stop_reason="refusal", stop_details=None), "refusal", "the model"),
        (
            "messages",
            message(stop_reason="refusal", stop_details={"explanation": "no"}),
            "refusal",
            "no",
        ),
        (
            "responses",
            response({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}),
            "stop",
            "no",
        ),
        ("messages", message(stop_reason="model_context_window_exceeded"), "length", ""),
        (
            "responses",
            response(status="incomplete", incomplete_details={"reason": "content_filter"}),
            "content_filter",
            "",
        ),
        ("responses", response(status="incomplete"), "length", ""),
        ("messages", message(stop_reason=["odd"]), "", ""),
    ],
)
def test_ends_of_replies_have_the_words_of_chat_completions(
    api: str, body: Any, finish: str, refusal: str
) -> None:
    """So that a refusal and a cut reply are what they are in every API."""
    reply = read(api, body)
    assert reply.finish == finish
    assert reply.refusal.startswith(refusal)
    assert bool(refusal) == bool(reply.refusal)


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("messages", message(THOUGHT, {**USE, "input": {}}, stop_reason="max_tokens")),
        (
            "responses",
            response(
                REASON, {**CALL, "arguments": "{", "status": "incomplete"}, status="incomplete"
            ),
        ),
    ],
)
def test_a_call_that_was_cut_is_a_bad_reply_and_does_not_go_back(api: str, body: Any) -> None:
    """Nor does the reasoning before it, which nothing follows."""
    reply = read(api, body)
    assert reply.calls == ()
    assert "was cut" in reply.malformed
    sent = form_of(api).body({"model": "m", "messages": [assistant_message(reply), user("Again.")]})
    assert "(nothing)" in str(sent)
    assert not any(word in str(sent) for word in ("order", "EqQB", "gAAAA"))


@pytest.mark.parametrize("api", ["messages", "responses"])
def test_what_one_api_has_written_is_left_out_by_the_others(api: str) -> None:
    """They send the text and the calls of the reply."""
    reply = read(api, {"messages": message(THOUGHT, USE), "responses": response(REASON, CALL)}[api])
    turns = [user("?"), assistant_message(reply), *tool_results(reply, ["a"])]
    for other in ("chat", "responses", "messages"):
        sent = str(form_of(other).body({"model": "m", "messages": turns}))
        assert "native" not in sent
        assert ("EqQB" in sent or "gAAAA" in sent) == (other == api)
        assert "order" in sent


def test_parts_of_a_reply_that_was_changed_do_not_go_back() -> None:
    """A method that cuts a text sends what it has kept; likewise for repeated ids."""
    whole = read("messages", message(THOUGHT, {"type": "text", "text": "Six. No, nine."}))
    turn = assistant_message(whole) | {"content": "Six."}
    body = form_of("messages").body({"model": "m", "messages": [user("?"), turn, user("Go on.")]})
    assert body["messages"][1]["content"] == [{"type": "text", "text": "Six."}]
    twice = read("responses", response(REASON, CALL, CALL))
    assert [call.id for call in twice.calls] == ["call_1", "call_2"]
    turns = [assistant_message(twice), *tool_results(twice, ["a", "b"])]
    items = form_of("responses").body({"model": "m", "messages": turns})["input"]
    assert [item["call_id"] for item in items] == ["call_1", "call_2", "call_1", "call_2"]


def test_an_assistants_message_names_its_type_in_responses() -> None:
    """llama.cpp's server refuses it otherwise."""
    turns = [user("?"), {"role": "assistant", "content": "Six."}, user("Sure?")]
    items = form_of("responses").body({"model": "m", "messages": turns})["input"]
    assert items[1] == {"type": "message", "role": "assistant", "content": "Six."}


def test_results_of_tools_go_before_words_of_one_turn() -> None:
    """And a text without words is not empty."""
    turns = [user("?"), assistant_message(read("messages", message(USE, USE | {"id": "b"})))]
    turns += [user("first"), {"role": "tool", "tool_call_id": "toolu_1", "content": " "}]
    turns += [{"role": "system", "content": "late"}]
    body = form_of("messages").body({"model": "m", "messages": turns})
    last = body["messages"][-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "text", "text"]
    assert last[0]["content"] == "(nothing)"


def test_what_a_server_has_withheld_is_on_record() -> None:
    """As the server says it."""
    removed = [{"id": "rs_1", "type": "reasoning", "action": "removed", "reason": "turn_boundary"}]
    for api, body in (("responses", response(said("6"))), ("messages", message())):
        reply = read(api, body | {"input_transformations": removed})
        assert json.loads(reply.withheld) == removed


def test_a_key_is_in_no_part_of_a_reply() -> None:
    """Neither in signed parts, nor in what was withheld."""
    thought = {**THOUGHT, "thinking": KEY, "signature": KEY}
    for api, body in (
        ("messages", message(thought, input_transformations=[KEY])),
        ("responses", response({**REASON, "encrypted_content": KEY}, said(KEY), error=None)),
    ):
        assert KEY not in str(read(api, body, KEY))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
KINDS = ["text", "thinking", "redacted_thinking", "tool_use", "message", "reasoning"]
NAMES = st.sampled_from(
    [
        "type",
        "text",
        "thinking",
        "signature",
        "data",
        "id",
        "name",
        "input",
        "call_id",
        "arguments",
        "status",
        "content",
        "summary",
        "refusal",
        "phase",
    ]
)
PARTS = st.dictionaries(NAMES, st.sampled_from([*KINDS, "function_call"]) | JSON, max_size=5)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(PARTS | JSON, max_size=3) | JSON
        for name in ("content", "output", "usage", "stop_reason", "status", "stop_details")
    },
)


@given(st.sampled_from(["responses", "messages"]), BODIES)
def test_a_reply_may_hold_anything(api: str, body: dict[str, Any]) -> None:
    """It is read or refused, and goes back as a request that can be written."""
    content = json.dumps(body).encode()
    try:
        reply = form_of(api).reply(content, FIELDS, 1.0, str)
    except NoReply:
        return
    if reply is not None:
        turns = [
            user("?"),
            assistant_message(reply),
            *tool_results(reply, ["a"] * len(reply.calls)),
        ]
        for each in ("chat", "responses", "messages"):
            form = form_of(each)
            json.dumps(form.body(form.fields({"model": "m", "messages": [*turns, user("!")]})))


@pytest.mark.parametrize(
    "deep", ["[" * 500 + "]" * 500, "[" * 100_000, '{"a":' * 300 + "1" + "}" * 300]
)
def test_a_deep_reply_is_no_reason_to_fail(deep: str) -> None:
    """Its parts do not go back; one that is deeper than the stack is no reply."""
    body = '{"content":[{"type":"thinking","thinking":"a","x":DEEP},{"type":"text","text":"b"}]}'
    body = body.replace("DEEP", deep)
    reply = form_of("messages").reply(body.encode(), FIELDS, 1.0, str)
    assert reply is None or (reply.text, reply.native) == ("b", "")


@pytest.mark.parametrize("api", ["responses", "messages"])
def test_a_body_of_another_api_is_named(api: str) -> None:
    """The sentence says what was expected."""
    with (
        serving(Served({"output": 1, "content": 2})) as stub,
        pytest.raises(Exception, match=f"sent no {api.removesuffix('s')}: "),
    ):
        play("beer_game", f"llm,model=m,base_url={stub.url},api={api},resends=0")
