"""The rules of a reply in every world: the shapes of the reference data, and combinations."""

import json
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from support.paths import REFERENCE
from support.reply_spans import SPANS

from experiments.attack_replies import BAD, CASES, SHAPES, Case, holes, read_as

SEATS = [
    pytest.param(case, mode, id=f"{case.seat}, {mode}") for case in CASES for mode in case.modes
]

FILE = REFERENCE / "reply_shapes.json"


@pytest.mark.skipif(not FILE.is_file(), reason="the reference data are absent")
@pytest.mark.parametrize(("case", "mode"), SEATS)
def test_the_shapes_of_servers_are_read_as_the_reference_says(case: Case, mode: str) -> None:
    """Each is put into the words of the world; "bad reply" is one that is asked for again."""
    assert [*holes(case, json.loads(FILE.read_text())["replies"], mode)] == []


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
    """

    text: str
    decides: int | None = None
    opens: bool = False


def span(marks: str, number: int) -> Piece:
    """Return a span of reasoning with a draft."""
    return Piece(marks.replace("{}", f"maybe {order(number)}?"))


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
    numbers = set(called) or {each.decides for each in pieces if each.decides is not None}
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
