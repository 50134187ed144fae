"""Requests on record: their texts once, their digests, and the refusal of another prompt."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from support.scripted import Scripted, player, seat_of, worded
from support.stub import serving, text

from desim import catalog, play, play_series, resume
from desim.errors import BadRecord, DesimError
from desim.records.conversation import calls_of, request_entry
from policies.llm.wires.budget import CallLimits, Metered
from policies.llm.wires.endpoint import Endpoint
from policies.llm.wires.transcript import RequestLines, SentRequest
from policies.llm.wires.wire import Request

WEEK = {"role": "user", "content": "Week 1: 3.5 cases"}
TOOLS = [{"type": "function", "function": {"name": "order", "parameters": {"minimum": 0.5}}}]


def test_the_digest_covers_all_fields_as_sent() -> None:
    """It is the SHA-256 of the canonical JSON, floats as texts, without key and address."""
    endpoint = Endpoint(model="m", base_url="http://h/v1", key="k", options={"temperature": 0.1})
    request = Request([WEEK], TOOLS)
    sent = SentRequest.of(request, endpoint.fields(request))
    tools = json.loads(json.dumps(TOOLS).replace("0.5", '"0.5"'))
    fields = {
        "messages": [WEEK],
        "model": "m",
        "temperature": "0.1",
        "tool_choice": "auto",
        "tools": tools,
    }
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert sent.digest == hashlib.sha256(canonical.encode()).hexdigest()
    assert sent.entry(3) == {
        "request": 3,
        "digest": sent.digest,
        "messages": sent.messages,
        "tools": sent.tools,
        "fields": {"model": "m", "temperature": 0.1, "tool_choice": "auto"},
    }
    assert sent.texts == {sent.messages[0]: WEEK, sent.tools: TOOLS}


def test_each_text_is_written_once() -> None:
    """A later request of the same record writes its new texts alone."""
    entries: list[Any] = []
    metered = Metered(Scripted(lambda _: worded("6")), CallLimits(), transcript=entries.append)
    system, second = {"role": "system", "content": "é"}, {"role": "user", "content": "Week 2"}
    metered(Request([system, WEEK]))
    metered(Request([system, WEEK, second]))
    metered(Request([system]))
    kinds = [next(iter(entry)) for entry in entries]
    assert kinds == ["texts", "request", "reply"] * 2 + ["request", "reply"]
    assert [list(each["texts"].values()) for each in entries if "texts" in each] == [
        [system, WEEK],
        [second],
    ]


def test_each_record_of_a_series_holds_its_texts(tmp_path: Path) -> None:
    """The record of a later episode can be read without the earlier ones."""
    model = catalog.model("beer_game", changes={"horizon": "2"})
    llm, scripted = player(seat_of(model), lambda _: worded('{"order_qty": 4}'))
    play_series(model, {"retailer": llm}, range(2), record=tmp_path)
    read = [
        list(call.messages) for file in sorted(tmp_path.glob("*.jsonl")) for call in calls_of(file)
    ]
    assert read == scripted.sent


def cut_game(tmp_path: Path, **options: Any) -> Path:
    """Return the record of a game that was cut behind the reply of its third week."""
    file, replies = tmp_path / "cut.jsonl", iter('{"order_qty": 7}' for _ in range(3))
    with serving(lambda _, __: text(next(replies, "{}"))) as stub:
        arguments = "".join(f",{name}={value}" for name, value in options.items())
        play("beer_game", f"llm,model=stub,base_url={stub.url}{arguments}", record=file)
    lines = file.read_bytes().splitlines(keepends=True)
    replied = [n for n, line in enumerate(lines) if b'"entry":{"reply"' in line]
    file.write_bytes(b"".join(lines[: replied[2] + 1]))
    return file


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        ("temperature=0.5", "the fields had .*0.2.* and has .*0.5.* now"),
        ("temperature=0.2,mode=tools", "message 1 .'system'. had .* and has .* now"),
    ],
)
def test_another_prompt_is_refused_before_anything_is_sent(
    arguments: str, difference: str, tmp_path: Path
) -> None:
    """The sentence names the first difference, and the record is as it was."""
    file = cut_game(tmp_path, temperature=0.2)
    before = file.read_bytes()
    with serving(text('{"order_qty": 7}')) as stub:
        spec = f"llm,model=stub,base_url={stub.url},{arguments}"
        with pytest.raises(BadRecord, match=f"request 1 is not the one on record: {difference}"):
            resume(file, {"retailer": spec})
        assert stub.requests == []
    assert file.read_bytes() == before


def test_a_digest_without_its_texts_is_refused_too() -> None:
    """Nothing is known of what was sent but that it is not what is sent now."""
    sent = SentRequest.of(Request([WEEK]), Request([WEEK]).fields())
    for entry in ({"messages": sent.messages}, {"messages": ["0"]}, {}, {"tools": "0"}):
        recorded = request_entry({"request": 1, "digest": "0", **entry})
        with pytest.raises(BadRecord, match="request 1 is not the one on record"):
            RequestLines().check(recorded, sent)


@pytest.mark.parametrize(
    "entry",
    [{"request": "x"}, {"request": 1, "digest": 5}, {"request": 1, "messages": 7}, {"texts": [1]}],
)
def test_an_altered_entry_is_refused_before_anything_is_sent(entry: Any) -> None:
    """With a sentence, and not when its request is compared."""
    metered = Metered(Scripted(lambda _: worded("6")), CallLimits())
    with pytest.raises(DesimError):
        metered.restore([entry])
