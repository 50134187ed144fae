"""The rules of a reply in every world: the shapes of the reference data, and combinations."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from support.paths import REFERENCE
from support.prompted_seats import CASES, Case
from support.reply_spans import SPANS
from support.scripted import player, seat_of

from desim.schema import to_plain
from policies.llm.wires.completion import reply_in

BAD = "bad reply"

#: The numbers of the shapes: the answer, and the drafts.
ANSWER, DRAFTS = 6, (99, 50)


SEATS = [
    pytest.param(case, mode, id=f"{case.seat}, {mode}") for case in CASES for mode in case.modes
]

FILE = REFERENCE / "reply_shapes.json"


def said(why: str, content: Any, expect: Any = BAD, finish: str = "stop") -> dict[str, Any]:
    """Return a shape of our own in the form of the reference file's."""
    message = content if isinstance(content, dict) else {"content": content}
    return {
        "id": why.replace(" ", "_"),
        "family": "own",
        "why": why,
        "finish_reason": finish,
        "message": message,
        "expect": expect,
    }


SIX = {"order_qty": ANSWER}
ANSWERED, DRAFT = '{"order_qty": 6}', '{"order_qty": 99}'

#: Shapes of our own.
SHAPES = (
    said("a closed span", f"<think>{DRAFT}?</think>{ANSWERED}", SIX),
    said("a lone end", f"{DRAFT}?</think>{ANSWERED}", SIX),
    said("an open span", f"<reasoning>{ANSWERED}", finish="length"),
    said("an open second span", f"[THINK]a[/THINK][THINK]{ANSWERED}", finish="length"),
    said("a final channel", f"analysisHm {DRAFT}.assistantfinal{ANSWERED}", SIX),
    said("no final channel", f"<|channel|>analysis<|message|>{ANSWERED}<|end|>"),
    said("a field of reasoning", {"content": None, "reasoning_content": ANSWERED}),
    said("two drafts", f"First idea: {DRAFT}. Better: {ANSWERED}") | {"family": "text"},
    said("a draft before a filter", f"Perhaps {ANSWERED}, or", finish="content_filter")
    | {"family": "text"},
    *(
        said(f"a draft before {why}", f"Perhaps {ANSWERED}, or", finish=why) | {"family": "text"}
        for why in ("abort", "error", "insufficient_system_resource")
    ),
    said("silence", ""),
)


def read_as(case: Case, shape: Mapping[str, Any], mode: str = "json") -> Any:
    """Return the reading of a shape in a world: a number, or "bad reply"."""
    message = as_worded(shape["message"], case)
    choice = {"message": message, "finish_reason": shape["finish_reason"]}
    reply = reply_in({"choices": [choice]}, [])
    assert reply
    llm, _ = player(seat_of(case.model, case.role), lambda _: reply, retries=0, mode=mode)
    action = llm.decide(case.observation)
    return BAD if llm.notes["usage"]["default_actions"] else number_in(to_plain(action))


def number_in(plain: Any) -> int | None:
    """Return the first number of a plain action, also one in a text."""
    found = re.search(r"\d+", json.dumps(plain))
    return int(found[0]) if found else None


def as_worded(value: Any, case: Case) -> Any:
    """Return a message of a shape with the decisions and calls of a world."""
    if isinstance(value, list):
        return [as_worded(each, case) for each in value]
    if not isinstance(value, Mapping):
        return reworded(value, case) if isinstance(value, str) else value
    if "arguments" in value and "name" in value:
        arguments = str(value["arguments"]).replace("order_qty", case.argument)
        return {"name": case.tool, "arguments": arguments}
    return {key: as_worded(each, case) for key, each in value.items()}


def reworded(text: str, case: Case) -> str:
    """Return a text of a shape; of calls first, whose arguments look like decisions."""
    arguments = rf'"arguments": {{"{case.argument}": \1}}'
    text = re.sub(r'"arguments": \{"order_qty": (\d+)\}', arguments, text)
    text = text.replace('"name": "order"', f'"name": "{case.tool}"')
    text = re.sub(r"\border(?=[(\n<])", case.tool, text)
    text = re.sub(r"\border_qty(?=[=<])", case.argument, text)
    text = re.sub(r'\{"order_qty": (\d+)\}', lambda n: json.dumps(case.written(int(n[1]))), text)
    return re.sub(r"\{'order_qty': (\d+)\}", lambda n: repr(case.written(int(n[1]))), text)


def holes(case: Case, shapes: Iterable[Mapping[str, Any]], mode: str) -> Iterator[str]:
    """Yield the shapes that are read in a world otherwise than they should be."""
    for shape in filter(case.reads, shapes):
        expected = shape["expect"] if shape["expect"] == BAD else ANSWER
        given = read_as(case, shape, mode)
        if given != expected:
            draft = " (a draft)" if given in DRAFTS else ""
            yield f"{case.seat}, {mode}: {shape['id']} is read as {given}{draft}, not as {expected}"


#: Shapes of the reference that are asked for again: single quotes, and calls in the text that are
#: no JSON.
ASKED_AGAIN = {"text_05", "call_text_06", "call_text_08"}


@pytest.mark.skipif(not FILE.is_file(), reason="the reference data are absent")
@pytest.mark.parametrize(("case", "mode"), SEATS)
def test_the_shapes_of_servers_are_read_as_the_reference_says(case: Case, mode: str) -> None:
    """Each is put into the words of the world; "bad reply" is one that is asked for again."""
    shapes = json.loads(FILE.read_text())["replies"]
    wanted = [one | {"expect": BAD} if one["id"] in ASKED_AGAIN else one for one in shapes]
    assert [*holes(case, wanted, mode)] == []


@pytest.mark.parametrize(("case", "mode"), SEATS)
def test_drafts_are_executed_in_no_world(case: Case, mode: str) -> None:
    """Drafts in spans, in channels, in a field, and in prose before a better idea."""
    assert [*holes(case, SHAPES, mode)] == []


# -- combinations ----------------------------------------------------------------------------------


def order(number: int) -> str:
    """Return a decision as it is written in the shapes."""
    return json.dumps({"order_qty": number})


@frozen
class Piece:
    """A part of a reply's text.

    Attributes:
        text: The part.
        decides: The number that it decides on; None for reasoning, prose and other objects.
        opens: Whether it begins a span that does not end.
        cuts: Whether it is a span that ends, so that what is before it is no answer.
    """

    text: str
    decides: int | None = None
    opens: bool = False
    cuts: bool = False


def span(marks: str, number: int) -> Piece:
    """Return a span of reasoning with a draft."""
    return Piece(marks.replace("{}", f"maybe {order(number)}?"), cuts=True)


NUMBERS = st.sampled_from([6, 50, 99])
PIECES = st.one_of(
    st.builds(span, st.sampled_from(SPANS), NUMBERS),
    st.sampled_from([Piece("Demand is steady."), Piece('{"inventory": 12}'), Piece("```\n")]),
    st.builds(lambda number: Piece(order(number), number), NUMBERS),
)
UNCLOSED = st.builds(
    lambda marks, number: Piece(marks.partition("{}")[0] + order(number), opens=True),
    st.sampled_from(SPANS),
    NUMBERS,
)
LONE_END = st.builds(
    lambda marks, number: order(number) + marks.partition("{}")[2], st.sampled_from(SPANS), NUMBERS
)


@st.composite
def messages(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """Return a message, and what the rules say that it means."""
    pieces = draw(st.lists(PIECES, max_size=5)) + draw(st.lists(UNCLOSED, max_size=1))
    called = draw(st.lists(NUMBERS, max_size=2))
    begun = draw(st.just("") | LONE_END)
    functions = [{"name": "order", "arguments": order(number)} for number in called]
    message = {
        "content": "\n".join([begun, *(piece.text for piece in pieces)]),
        "reasoning": draw(st.sampled_from([None, order(99)])),
        "tool_calls": [{"type": "function", "function": each} for each in functions],
    }
    start = max((place for place, each in enumerate(pieces) if each.cuts), default=0)
    numbers = set(called) or {each.decides for each in pieces[start:] if each.decides is not None}
    bad = any(piece.opens for piece in pieces) or len(numbers) != 1
    return message, BAD if bad else numbers.pop()


@given(
    st.sampled_from([case for case in CASES if case.calls and not case.several]),
    st.sampled_from(["json", "tools", "schema"]),
    messages(),
)
def test_any_combination_means_what_the_rules_say(
    case: Case, mode: str, said: tuple[dict[str, Any], Any]
) -> None:
    """Spans are cut, open ones are bad, calls go before text, one decision remains or none."""
    message, expected = said
    assert read_as(case, {"message": message, "finish_reason": "stop"}, mode) == expected
