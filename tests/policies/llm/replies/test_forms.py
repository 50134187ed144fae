"""Every form in which a reply holds reasoning or a call, read in the Beer Game."""

from typing import Any

import pytest
from support.reply_spans import SPANS
from support.scripted import player, seat_of

from desim import catalog, play
from policies.llm.wires.completion import Completion
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
    return Completion({}, choice, message).reply([], 0.0, str)


@pytest.mark.parametrize("span", SPANS)
def test_a_span_of_reasoning_is_no_answer(span: str) -> None:
    """Closed it is cut; without its end the reply is bad; with its end alone it began the text."""
    opening, closing = span.split("{}")
    assert decided(ModelReply(opening + DRAFT + closing + ORDER)) == 6
    assert decided(ModelReply(DRAFT + closing + ORDER)) == 6
    assert decided(ModelReply(ORDER + opening + DRAFT + closing)) == 6
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
        (f"{ANALYSIS}{DRAFT}<|end|>{CALL}{ORDER}<|call|>", 6),
        (f"{ANALYSIS}{DRAFT}<|end|>{CALL}" + '{"order_q', BAD),
        (
            f"<|start|>assistant to=functions.order<|channel|>commentary json<|message|>{ORDER}",
            6,
        ),
        (f"<|channel|>commentary<|message|>{DRAFT}<|end|>{FINAL}{ORDER}", 6),
        (f"analysisWe try {DRAFT}.assistantfinal{ORDER}", 6),
        (f"analysiswe try {DRAFT}.assistantanalysismoreassistantfinal{ORDER}", 6),
        (f"analysisNo.assistantcommentary to=functions.order json{ORDER}", 6),
        (f"commentary to=functions.order json{ORDER}", 6),
        (f"analysisNo.assistant to=functions.ordercommentary json{ORDER}", 6),
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


TOOL_CALLS = [
    '<tool_call>{"name": "order", "arguments": {"order_qty": 6}}</tool_call>',
    '<tool_call>\n{"name": "order", "arguments": {"order_qty": 6}}',
    '<tool_call>{"name": "order", "arguments": "{\\"order_qty\\": 6}"}</tool_call>',
    '<longcat_tool_call>{"name": "order", "arguments": {"order_qty": 6}}</longcat_tool_call>',
    "<tool_call>\n<function=order>\n<parameter=order_qty>\n6\n</parameter>\n</function>\n</tool_call>",
    "<seed:tool_call><function=order><parameter=order_qty>6</parameter></function></seed:tool_call>",
    "<function=order><parameter=note>x<parameter=order_qty>6</parameter></function>",
    '<function=order>{"order_qty": 6}</function>',
    '<|python_tag|>{"name": "order", "parameters": {"order_qty": 6}}',
    (
        '<|python_tag|>{"name": "order", "parameters": {"order_qty": 6}}; '
        '{"name": "order", "parameters": {"order_qty": 6}}'
    ),
    "[order(order_qty=6)]",
    "order(order_qty=6)",
    "```python\n[order(order_qty=6)]\n```",
    '[order(order_qty=6, note="a (steady) week")]',
    "<|python_start|>[order(order_qty=6)]<|python_end|>",
    "<function_calls>\norder(order_qty=6)\n</function_calls>",
    "<|tool_call_start|>[order(order_qty=6)]<|tool_call_end|>Ordering six.",
    '[TOOL_CALLS][{"name": "order", "arguments": {"order_qty": 6}, "id": "abc123def"}]',
    '[TOOL_CALLS]{"name": "order", "arguments": {"order_qty": 6}}',
    '[TOOL_CALLS]order[ARGS]{"order_qty": 6}',
    '[TOOL_CALLS]order{"order_qty": 6}',
    (
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function"
        '<\uff5ctool\u2581sep\uff5c>order\n```json\n{"order_qty": 6}\n```'
        "<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>"
    ),
    (
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>order"
        '<\uff5ctool\u2581sep\uff5c>{"order_qty": 6}<\uff5ctool\u2581call\u2581end\uff5c>'
    ),
    (
        '<\uff5cDSML\uff5cfunction_calls><\uff5cDSML\uff5cinvoke name="order">'
        "<\uff5cDSML\uff5cparameter "
        'name="order_qty" string="false">6</\uff5cDSML\uff5cparameter></\uff5cDSML\uff5cinvoke>'
    ),
    (
        '<\uff5cDSML\uff5c calls><\uff5cDSML\uff5c invoke name="order"><\uff5cDSML\uff5c parameter '
        'name="order_qty" string="false">6</\uff5cDSML\uff5c parameter></\uff5cDSML\uff5c invoke>'
    ),
    "<tool_call>order\n<arg_key>order_qty</arg_key>\n<arg_value>6</arg_value>\n</tool_call>",
    "<tool_call>order<arg_key>order_qty</arg_key><arg_value>6</arg_value></tool_call>",
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.order:0<|tool_call_argument_begin|>"
        '{"order_qty": 6}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    (
        '<|open|>tools<|sep|><|open|>call tool="order" index="1"<|sep|><|open|>argument '
        'key="order_qty" type="number"<|sep|>6<|close|>argument<|sep|><|close|>call<|sep|>'
    ),
    (
        '<minimax:tool_call><invoke name="order"><parameter name="order_qty">6</parameter></invoke>'
        "</minimax:tool_call>"
    ),
    (
        ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="order">]<]minimax[>[<parameter '
        'name="order_qty">6]<]minimax[>[</parameter>]<]minimax[>[</invoke>'
    ),
    '<|tool_call|>[{"name": "order", "arguments": {"order_qty": 6}}]',
    '<function_call> {"name": "order", "arguments": {"order_qty": 6}}',
    '<|tool_call>call:order{order_qty:6,note:<|"|>a {b}, "c"<|"|>}<tool_call|>',
    "<start_function_call>call:order{order_qty:<escape>6<escape>}<end_function_call>",
    '<|START_ACTION|>[{"tool_name": "order", "parameters": {"order_qty": 6}}]<|END_ACTION|>',
    '<tool_calls>[{"name": "order", "arguments": {"order_qty": 6}}]</tool_calls>',
    '<|action_start|><|plugin|>{"name": "order", "parameters": {"order_qty": 6}}<|action_end|>',
    '<|function_call|>{"name": "order", "arguments": {"order_qty": 6}}',
    '<|tools_prefix|>[{"order": {"order_qty": 6}}]<|tools_suffix|>',
    '<function name="order"><param name="order_qty">6</param></function>',
    (
        "<dots_function_call><invoke name=order><parameter name=order_qty>6</parameter></invoke>"
        "</dots_function_call>"
    ),
    (
        '<atem:function_calls><atem:invoke name="tool.order"><atem:parameter name="order_qty">6'
        "</atem:parameter></atem:invoke></atem:function_calls>"
    ),
    '<|content_invoke_tool_json|>{"name": "order", "args": {"order_qty": 6}}',
    'functools[{"name": "order", "arguments": {"order_qty": 6}}]',
    '{"name": "order", "arguments": {"order_qty": 6}}',
]


@pytest.mark.parametrize("text", TOOL_CALLS)
def test_a_call_in_the_text_is_read_in_the_form_of_its_template(text: str) -> None:
    """A call in a span before it is a draft; two different calls are a bad reply."""
    draft = text.replace("6", "99")
    assert decided(ModelReply(text)) == 6
    assert decided(ModelReply(f"<think>{draft}</think>{text}")) == 6
    assert decided(ModelReply(f"<think>{text}")) == BAD
    if not text.startswith(("[order", "order(", "```")):
        assert decided(ModelReply(f"{text}\n{text}")) == 6
        assert decided(ModelReply(f"{draft}\n{text}")) == BAD


@pytest.mark.parametrize("text", TOOL_CALLS)
def test_a_call_in_the_text_that_is_cut_is_a_bad_reply(text: str) -> None:
    """Whatever is cut: the marker is there, and the arguments are not whole."""
    cut = text[: text.rindex("order_qty") + 7]
    assert decided(ModelReply(cut, finish="length")) == BAD


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("{'order_qty': 6,}", "stop", 6),
        ("{'order_qty': 6, 'note': 'it is \"steady\"'}", "stop", 6),
        ('{"order_qty": 6, "note": null,}', "stop", 6),
        ("{'order_qty': NaN}", "stop", BAD),
        ('{"order_qty": NaN}', "stop", BAD),
        ('{"order_qty": Infinity}', "stop", BAD),
        ('{"order_qty": 99, "order_qty": 6}', "stop", BAD),
        ('{"order_qty": 6', "length", BAD),
        ('{"order_qty": 6', "stop", BAD),
        ('{"decision": {"order_qty": 6}, "note": "beca', "length", BAD),
        (f"{ORDER}\n{ORDER[:12]}", "length", 6),
        (f"```json\n{ORDER}\n```\n" + "{", "length", 6),
        (f"I would order {ORDER}", "length", BAD),
        (f"I would order {ORDER}", "repetition", BAD),
        (f"I would order {ORDER}", "content_filter", BAD),
        (f"1. {ORDER}\n2. {ORDER}", "length", 6),
        (f"<think>{DRAFT}</think>I order {ORDER}, as", "length", 6),
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
    """Small slips are read; a cut object, NaN and two decisions are not."""
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
        ({"content": None, "tool_calls": [function("{'order_qty': 6,}")]}, 6),
        ({"content": None, "tool_calls": [function(f"{ORDER} {DRAFT}")]}, BAD),
        ({"content": ORDER, "tool_calls": [function(ORDER, "fly")]}, BAD),
        ({"content": ORDER, "tool_calls": [function('{"order_q')]}, BAD),
        ({"content": f"<think>{DRAFT}", "tool_calls": [function(ORDER)]}, BAD),
        ({"content": f"<think>{DRAFT}</think>", "tool_calls": [function(ORDER)]}, 6),
        ({"content": None, "function_call": {"name": "order", "arguments": ORDER}}, 6),
        ({"content": [{"type": "tool_use", "name": "order", "input": {"order_qty": 6}}]}, 6),
    ],
)
def test_fields_of_a_message(message: dict[str, Any], expected: int | str) -> None:
    """Fields of reasoning are never an answer, and calls in a field go before the text."""
    assert decided(of_message({"role": "assistant", **message})) == expected
