"""Every form in which a reply holds reasoning or a call, read in the Beer Game."""

from typing import Any

import pytest
from support.reply_spans import SPANS
from support.scripted import player, seat_of

from desim import catalog, play
from policies.llm.wires.completion import reply_in
from policies.llm.wires.wire import ModelReply

BAD = "bad reply"
ORDER, DRAFT = '{"order_qty": 6}', '{"order_qty": 99}'
NAMED = '"name": "order"'


def decided(reply: ModelReply) -> int | str:
    """Return the order that a reply is read as in the one week of a Beer Game."""
    model = catalog.model("beer_game", changes={"horizon": "1"})
    llm, _ = player(seat_of(model), lambda _: reply, retries=0)
    [step] = play(model, {"retailer": llm}).steps
    assert step.notes is not None
    usage = step.notes["usage"]
    assert usage["bad_replies"] == usage["default_actions"]
    quantity: int = step.action.quantity
    return BAD if usage["default_actions"] else quantity


def of_message(message: dict[str, Any], finish: str = "stop") -> ModelReply:
    """Return the reply that a server's message is."""
    choice = {"message": message, "finish_reason": finish}
    reply = reply_in({"choices": [choice]}, [])
    assert reply
    return reply


@pytest.mark.parametrize("span", SPANS)
def test_a_span_of_reasoning_is_no_answer(span: str) -> None:
    """What follows its end is the answer; without its end the reply is bad."""
    opening, closing = span.split("{}")
    assert decided(ModelReply(opening + DRAFT + closing + ORDER)) == 6
    assert decided(ModelReply(DRAFT + closing + ORDER)) == 6
    assert decided(ModelReply(ORDER + opening + DRAFT + closing)) == BAD
    assert decided(ModelReply(opening + DRAFT + closing)) == BAD
    assert decided(ModelReply(opening + ORDER)) == BAD
    assert decided(ModelReply(opening + DRAFT + "</cot>" + ORDER)) == BAD
    assert decided(ModelReply(opening + "a" + closing + opening + ORDER)) == BAD


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<think>a<think>{DRAFT}</think>{DRAFT}</think>{ORDER}", 6),
        (f"<think>a<think>{DRAFT}</think>{ORDER}", BAD),
        (f"<think>a</think>{DRAFT}</think>{ORDER}", 6),
        (f"<think>is <reasoning> a tag? {DRAFT}</think>{ORDER}", 6),
        (f"<|content_thinking|>{DRAFT}<|end_message|><|content_text|>{ORDER}<|end_message|>", 6),
        (f"<|content_thinking|>{DRAFT}", BAD),
        (f"<|open|>response<|sep|>{ORDER}<|close|>response<|sep|>", 6),
        (f"<|START_RESPONSE|>{ORDER}<|END_RESPONSE|>", 6),
        (f"The [analysis] of stock < 9 and think > 2: {ORDER}", 6),
        (f"<answer>{ORDER}", 6),
        (f"<think/>{ORDER}", 6),
        (f"<think />{ORDER}", 6),
    ],
)
def test_nested_and_shared_markers(text: str, expected: int | str) -> None:
    """Of nested spans the last end counts; a marker that ends other parts too ends none alone."""
    assert decided(ModelReply(text)) == expected


ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"
CALL = "<|start|>assistant<|channel|>commentary to=functions.order <|constrain|>json<|message|>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ANALYSIS}{DRAFT}<|end|>{FINAL}{ORDER}<|return|>", 6),
        (f"{ANALYSIS}{DRAFT}<|end|>{FINAL}{ORDER}", 6),
        (f"analysis<|message|>{DRAFT}<|end|>{FINAL}{ORDER}", 6),
        (f"<|channel|>final<|message|>{ORDER}", 6),
        (f"{ANALYSIS}{ORDER}<|end|>", BAD),
        (f"{ANALYSIS}{DRAFT}<|end|>{FINAL}", BAD),
        (f"{ANALYSIS}{DRAFT}<|end|>{CALL}{ORDER}<|call|>", BAD),
        (f"{ANALYSIS}{DRAFT}<|end|>{CALL}" + '{"order_q', BAD),
        (f"<|channel|>commentary<|message|>{DRAFT}<|end|>{FINAL}{ORDER}", 6),
        (f"analysisWe try {DRAFT}.assistantfinal{ORDER}", 6),
        (f"analysiswe try {DRAFT}.assistantanalysismoreassistantfinal{ORDER}", 6),
        (f"analysisNo.assistantcommentary to=functions.order json{ORDER}", BAD),
        (f"commentary to=functions.order json{ORDER}", BAD),
        (f"analysisNo.assistant to=functions.ordercommentary json{ORDER}", BAD),
        (f"analysisNo.assistantcommentaryI order {DRAFT}", BAD),
        (f"We try {DRAFT}.assistantfinal{ORDER}", 6),
        (f"Analysis: demand is steady. {ORDER}", 6),
        (f"to=self<|message|>{DRAFT}<|eom|>to=user<|message|>{ORDER}<|eot|>", 6),
        (f"to=self<|message|>{ORDER}<|eom|>", BAD),
    ],
)
def test_only_the_final_channel_is_the_answer(text: str, expected: int | str) -> None:
    """Also where a server has removed special tokens, so that the words alone are left."""
    assert decided(ModelReply(text)) == expected


#: Calls that are written in the text, and whether their object is read; others are asked again.
TOOL_CALLS = [
    ('<tool_call>{"name": "order", "arguments": {"order_qty": 6}}</tool_call>', 6),
    ('<tool_call>{"name": "order", "arguments": "{\\"order_qty\\": 6}"}</tool_call>', BAD),
    ('<function=order>{"order_qty": 6}</function>', 6),
    ("<function=order><parameter=order_qty>6</parameter></function>", BAD),
    ('<|python_tag|>{"name": "order", "parameters": {"order_qty": 6}}', 6),
    ("[order(order_qty=6)]", BAD),
    ('[TOOL_CALLS][{"name": "order", "arguments": {"order_qty": 6}, "id": "abc123def"}]', 6),
    ('[TOOL_CALLS]order[ARGS]{"order_qty": 6}', 6),
    ("<tool_call>order<arg_key>order_qty</arg_key><arg_value>6</arg_value></tool_call>", BAD),
    ('functools[{"name": "order", "arguments": {"order_qty": 6}}]', 6),
]


@pytest.mark.parametrize(("text", "expected"), TOOL_CALLS)
def test_of_a_call_in_the_text_the_object_is_read(text: str, expected: int | str) -> None:
    """A call in a span before it is a draft; two different calls are a bad reply."""
    draft = text.replace("6", "99")
    assert decided(ModelReply(text)) == expected
    assert decided(ModelReply(f"<think>{draft}</think>{text}")) == expected
    assert decided(ModelReply(f"{text}\n{text}")) == expected
    assert decided(ModelReply(f"<think>{text}")) == BAD
    assert decided(ModelReply(f"{draft}\n{text}")) == BAD
    assert decided(ModelReply(text[: text.rindex("order_qty") + 7], finish="length")) == BAD


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("{'order_qty': 6,}", "stop", BAD),
        (f'{DRAFT} {{"order_qty": 6, "note": null,}}', "stop", BAD),
        ("{'order_qty': NaN}", "stop", BAD),
        ('{"order_qty": NaN}', "stop", BAD),
        ('{"order_qty": Infinity}', "stop", BAD),
        ('{"order_qty": 99, "order_qty": 6}', "stop", BAD),
        ('{"order_qty": 6', "length", BAD),
        ('{"order_qty": 6', "stop", BAD),
        ('{"decision": {"order_qty": 6}, "note": "beca', "length", BAD),
        (f"{ORDER}\n{ORDER[:12]}", "length", BAD),
        (f"{ORDER}\n{ORDER[:12]}", "stop", BAD),
        (f"I would order {ORDER}", "length", BAD),
        (f"I would order {ORDER}", "repetition", BAD),
        (f"I would order {ORDER}", "content_filter", BAD),
        (f"<think>{DRAFT}</think>I order {ORDER}, as", "length", BAD),
        (f"I order {ORDER}.", "stop", 6),
        (f"{ORDER} {DRAFT}", "stop", BAD),
        (f"{ORDER} {ORDER}", "stop", 6),
        ('{"stock": 99} so {"order_qty": 6}', "stop", 6),
        ('{"stock": 99}', "stop", BAD),
        ("6", "stop", BAD),
        ("", "stop", BAD),
    ],
)
def test_objects_of_a_text(text: str, finish: str, expected: int | str) -> None:
    """A broken object, a text that the server has cut, NaN and two decisions are not read."""
    assert decided(ModelReply(text, finish=finish)) == expected


def function(arguments: Any, name: str = "order") -> dict[str, Any]:
    """Return a tool call as a server sends it."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": ORDER, "reasoning_content": DRAFT}, 6),
        ({"content": ORDER, "reasoning_details": [{"type": "reasoning.text", "text": DRAFT}]}, 6),
        ({"content": "", "reasoning_content": ORDER}, BAD),
        ({"content": [{"type": "thinking", "thinking": ORDER}]}, BAD),
        ({"content": [{"type": "reasoning", "text": DRAFT}, {"type": "text", "text": ORDER}]}, 6),
        ({"content": [{"type": "text", "text": ORDER}]}, 6),
        ({"content": None, "tool_calls": [function({"order_qty": 6})]}, 6),
        ({"content": DRAFT, "tool_calls": [function({"quantity": 6})]}, 6),
        ({"content": None, "tool_calls": [function(ORDER), function(ORDER)]}, 6),
        ({"content": None, "tool_calls": [function('{"order_q')]}, BAD),
        ({"content": None, "tool_calls": [function("{'order_qty': 6,}")]}, BAD),
        ({"content": None, "tool_calls": [function(f"{ORDER} {DRAFT}")]}, BAD),
        ({"content": ORDER, "tool_calls": [function(ORDER, "fly")]}, BAD),
        ({"content": ORDER, "tool_calls": [function('{"order_q')]}, BAD),
        ({"content": f"<think>{DRAFT}", "tool_calls": [function(ORDER)]}, BAD),
        ({"content": f"<think>{DRAFT}</think>", "tool_calls": [function(ORDER)]}, 6),
        ({"content": None, "function_call": {"name": "order", "arguments": ORDER}}, BAD),
    ],
)
def test_fields_of_a_message(message: dict[str, Any], expected: int | str) -> None:
    """Fields of reasoning are never an answer, and calls in a field go before the text."""
    assert decided(of_message({"role": "assistant", **message})) == expected
