"""The calls of a record are read with their messages, and altered ones are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.stub import Served, serving, text

from desim import play
from desim.errors import BadRecord
from desim.records.conversation import RecordedCall, calls_of, text_id
from desim.records.lines import FORMAT

HEAD = {
    "line": "header",
    "format": FORMAT,
    "version": "1",
    "model": "m",
    "preset": "",
    "params": {},
    "seed": 0,
    "policies": {},
}
WEEK = {"role": "user", "content": "Week 1", "weight": 0.5}
KEY = text_id(WEEK)


def read(path: Path, *entries: Any) -> list[RecordedCall]:
    """Return the calls of a record with entries of one role, and a decision for the text "."."""
    plain = [
        {"line": "decision", "t": 0, "role": "a", "observation": 1, "action": {}}
        if entry == "."
        else {"line": "transcript", "entry": entry, "role": "a"}
        for entry in entries
    ]
    (path / "a").write_text("".join(json.dumps(each) + "\n" for each in [HEAD, *plain]))
    return list(calls_of(path / "a"))


def test_each_call_is_read_as_it_was_sent(tmp_path: Path) -> None:
    """Messages, fields and the reply are those of the server; the decision is the one after it."""
    bad = 3

    def script(number: int, _: dict[str, Any]) -> Served:
        return text("hm" if number == bad else '{"order_qty": 5}')

    with serving(script) as stub:
        spec = f"llm,model=stub,base_url={stub.url},temperature=0.2"
        play("beer_game", spec, record=tmp_path / "a.jsonl.gz")
        sent = stub.requests
    calls = list(calls_of(tmp_path / "a.jsonl.gz"))
    assert [{"messages": [*call.messages], **call.fields} for call in calls] == sent
    assert [call.number for call in calls] == list(range(1, len(sent) + 1))
    assert [call.decision for call in calls[:6]] == [1, 2, 3, 4, 4, 5]
    assert {(call.role, call.phase, len(call.digest)) for call in calls} == {
        ("retailer", "step", 64)
    }
    assert [call.reply["text"] for call in calls if call.reply][bad] == "hm"


def test_a_cut_record_has_a_last_call_without_decision(tmp_path: Path) -> None:
    """A request without an outcome has neither a reply nor a failure."""
    request = {"request": 1, "digest": "d", "messages": [KEY], "fields": {"model": "m"}}
    first, last = read(tmp_path, {"texts": {KEY: WEEK}}, request, {"no_reply": "x"}, request)
    fields = {"model": "m"}
    assert first == RecordedCall(
        number=1, role="a", messages=(WEEK,), fields=fields, digest="d", failure="x"
    )
    assert (last.decision, last.reply, last.failure) == (None, None, "")


def test_entries_of_other_policies_are_passed_over(tmp_path: Path) -> None:
    """A transcript entry is any JSON value of a policy."""
    others = ["note", 7, None, {"request": "beer"}, {"texts": 1}, {"reply": {}}, {"no_reply": ""}]
    assert read(tmp_path, *others, ".") == []


def test_a_message_is_an_object_and_tools_are_a_list(tmp_path: Path) -> None:
    """A text of another type is refused where it is used as a message or as tools."""
    number, listed = text_id(5), text_id([5])
    for request in ({"messages": [number]}, {"tools": number}, {"tools": listed}):
        entries = {"texts": {number: 5, listed: [5]}}, {"request": 1, **request}
        with pytest.raises(BadRecord, match="request 1 of 'a' is not readable: Expected"):
            read(tmp_path, *entries)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"texts": {"0" * 32: WEEK}}, "the text '0+' of the transcript was altered"),
        ({"request": 1, "messages": ["x"]}, "request 1 of 'a' lacks its text 'x'"),
        ({"request": 1, "messages": 5}, "entry of a request is not readable: Expected `array`"),
    ],
)
def test_an_unreadable_entry_is_refused(tmp_path: Path, entry: Any, sentence: str) -> None:
    """The sentence names the request or the text."""
    with pytest.raises(BadRecord, match=sentence):
        read(tmp_path, entry)
