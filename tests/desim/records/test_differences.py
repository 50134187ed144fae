"""Where two records first differ."""

from pathlib import Path
from typing import Any

import pytest
from support.conversations import RULES, call, decided, user, write_conversation

from desim.errors import BadRecord
from desim.records.differences import RecordDifferences, record_differences

BUY = {"do": "buy", "papers": 3}


def compared(folder: Path, a: list[Any], b: list[Any], **head: Any) -> RecordDifferences:
    """Return the differences of two records, the second with another header."""
    files = write_conversation(folder / "a", *a), write_conversation(folder / "b", *b, **head)
    return record_differences(*files)


def day(number: int, reply: Any = "three", **fields: Any) -> list[dict[str, Any]]:
    """Return the entries of a call on a day."""
    return call([RULES, user(f"Day {number}.")], reply, **fields)


def test_a_record_equals_itself(tmp_path: Path) -> None:
    """Header, decisions, calls and end."""
    found = compared(tmp_path, [day(1), decided(BUY)], [day(1), decided(BUY)])
    assert found.is_equal
    assert found.plain()["calls"] == [1, 1]


def test_each_field_of_a_header_is_compared(tmp_path: Path) -> None:
    """Nested ones by their path."""
    other = {"seed": 7, "params": {"days": 4}, "provenance": {"code": "1f"}}
    found = compared(tmp_path, [], [], **other)
    assert {each.path: (each.a, each.b) for each in found.header} == {
        "seed": (0, 7),
        "params.days": (3, 4),
        "provenance.code": (None, "1f"),
    }


def test_the_identifier_of_a_record_with_a_key_is_not_compared(tmp_path: Path) -> None:
    """It is of chance."""
    assert compared(tmp_path, [decided(BUY)], [decided(BUY)], id="0" * 32).is_equal


def test_the_first_decision_that_differs_is_named_with_its_places(tmp_path: Path) -> None:
    """Observation and action by the path inside them."""
    other = decided({"do": "buy", "papers": 5}, 1, observation={"day": 9})
    found = compared(tmp_path, [decided(BUY), decided(BUY, 1)], [decided(BUY), other]).decision
    assert found is not None
    assert (found.same, found.label) == (1, "decision 2, t=1, vendor")
    assert [(each.path, each.a, each.b) for each in found.places] == [
        ("observation.day", 1, 9),
        ("action.papers", 3, 5),
    ]


def test_a_record_with_more_decisions_goes_on(tmp_path: Path) -> None:
    """And so does one with more calls."""
    found = compared(tmp_path, [decided(BUY)], [decided(BUY), day(2), decided(BUY, 1)])
    assert found.decision is not None
    assert (found.decision.same, found.decision.goes_on) == (1, "B")
    assert found.request is not None
    assert found.request.goes_on == "B"


def test_the_first_request_that_differs_has_message_and_fields(tmp_path: Path) -> None:
    """The first message that differs, their number, the settings, the tools."""
    tools = [{"name": "buy"}]
    other = call([RULES, user("Day two."), user("Go.")], "three", tools=tools, temperature=0.2)
    other[1]["digest"] = "1" * 64
    found = compared(
        tmp_path, [day(1), day(2), decided(BUY)], [day(1), other, decided(BUY)]
    ).request
    assert found is not None
    assert (found.same, found.label) == (1, "call 1 of vendor, before decision 1")
    assert [(each.path, each.a) for each in found.places] == [
        ("message 2 (user)", "Day 2."),
        ("number of messages", 2),
        ("fields.temperature", None),
        ("tools", "[]"),
    ]


def test_another_reply_to_the_same_request_is_the_models_choice(tmp_path: Path) -> None:
    """Times, tokens and identifiers are not compared."""
    first = {"text": "three", "seconds": 1.0, "id": "a", "prompt_tokens": 3}
    again = {"text": "three", "seconds": 2.0, "id": "b", "prompt_tokens": 4, "malformed": ""}
    assert compared(tmp_path, [day(1, first)], [day(1, again)]).is_equal
    found = compared(tmp_path, [day(1, first)], [day(1, {"text": "four"})])
    assert found.reply is not None
    assert [each.plain() for each in found.reply.places] == [
        {"path": "text", "a": "three", "b": "four"}
    ]
    assert found.is_models_choice


def test_a_call_without_a_reply_differs_from_one_with(tmp_path: Path) -> None:
    """With the error in place of the reply."""
    failed = [*day(1)[:2], {"no_reply": "answered 503"}]
    found = compared(tmp_path, [day(1)], [failed]).reply
    assert found is not None
    assert found.places[0].b == "no reply: answered 503"


def test_a_cut_call_is_the_same_request(tmp_path: Path) -> None:
    """A record that ends before the decision to which it led."""
    found = compared(tmp_path, [day(1), decided(BUY)], [day(1)])
    assert found.request is None
    assert found.decision is not None


def test_records_of_different_worlds_are_compared_by_their_headers(tmp_path: Path) -> None:
    """Parameters, decisions and calls are not, which a note says."""
    found = compared(tmp_path, [decided(BUY)], [], model="stand", params={"tills": 2})
    assert [each.path for each in found.header] == ["model"]
    assert found.decision is None
    assert found.notes == ("parameters, decisions and calls of different worlds are not compared",)


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    """By its name."""
    (tmp_path / "notes").write_text("hello\n")
    with pytest.raises(BadRecord, match="notes"):
        record_differences(tmp_path / "notes", tmp_path / "notes")
