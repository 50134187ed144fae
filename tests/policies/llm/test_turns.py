"""Turns of a start-up: the content of each call, compared with the published loop."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.scripted import called, player, seat_of, worded

from desim import catalog, play
from policies.llm.wires.wire import ModelReply

NOTE = '{"command": "yc-bench scratchpad write --content hello"}'
RESUME = '{"command": "yc-bench sim resume"}'


def spoken(reply: Any) -> ModelReply:
    """Return a reply of the published script."""
    if reply == "text only":
        return worded("I wait.")
    if reply == "one tool call with unparsable arguments":
        return called(("run_command", "{not json"))
    return called(*[("run_command", json.dumps({"command": line})) for line in reply])


def pad_in(messages: list[dict[str, Any]]) -> str | None:
    """Return the notes in a system prompt."""
    _, heading, pad = messages[0]["content"].partition("## Your scratchpad\n")
    return pad if heading else None


@pytest.mark.traces("ycbench/traces/loop_*.json.gz")
def test_every_call_contains_what_the_published_loop_sends(trace: Path) -> None:
    """Number of messages, of user messages, the marker, the kind of message, the stale notes."""
    published = json.loads(gzip.decompress(trace.read_bytes()))
    turns = published["turns"]
    model = catalog.model("yc_bench", changes={"max_turns": str(published["max_turns"])})
    llm, scripted = player(
        seat_of(model), lambda number: spoken(turns[number]["reply"]), console=True
    )
    play(model, {"founder": llm}, published["seed"])
    assert len(scripted.sent) == len(turns)
    for turn, messages in zip(turns, scripted.sent, strict=True):
        users = [m["content"] for m in messages if m["role"] == "user"]
        first = "marker" if users[0].startswith("(Older messages") else "initial"
        kind = "initial" if "Your first steps:" in users[-1] else "status"
        shown = {
            "messages": len(messages),
            "user_messages": len(users),
            "first_user_kind": first,
            "pad_in_system_prompt": pad_in(messages),
        }
        assert shown == {key: turn[key] for key in shown}, turn["turn"]
        assert kind == turn["user_message"]["kind"]
        if kind == "status":
            assert f"Turn {turn['user_message']['number']}\n" in users[-1]


def test_every_tool_call_is_answered() -> None:
    """Also those after a command that ended the turn, which are not executed."""
    model = catalog.model("yc_bench", changes={"max_turns": "2"})
    calls = called(("company_status", "{}"), ("end_turn", "{}"), ("market_browse", "{}"))
    llm, scripted = player(seat_of(model), lambda _: calls)
    episode = play(model, {"founder": llm})
    messages = scripted.sent[1]
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == ["id0", "id1", "id2"]
    assert messages[5]["content"] == "not run: the turn had ended"
    assert [type(s.action).__name__ for s in episode.steps] == ["CompanyStatus", "EndTurn"] * 2


@pytest.mark.parametrize(("stale", "pads"), [("true", [None, None]), ("false", [None, "hello"])])
def test_notes_written_in_a_turn_that_resumed(stale: str, pads: list[str | None]) -> None:
    """The published loop shows them later; a parameter of the world, in the next turn."""
    model = catalog.model("yc_bench", changes={"max_turns": "2", "stale_scratchpad": stale})
    turn = called(("run_command", NOTE), ("run_command", RESUME))
    llm, scripted = player(seat_of(model), lambda _: turn, console=True)
    play(model, {"founder": llm})
    assert [pad_in(messages) for messages in scripted.sent] == pads


def test_a_new_company_begins_an_empty_conversation_with_the_notes() -> None:
    """After a bankruptcy only the scratchpad is left of what was said (SPEC 15)."""
    changes = {"episodes": "2", "idle_limit": "2", "initial_funds_cents": "0"}
    model = catalog.model("yc_bench", changes=changes)
    replies = [called(("run_command", NOTE)), *[worded("I wait.")] * 3]
    llm, scripted = player(seat_of(model), lambda number: replies[number], console=True)
    episode = play(model, {"founder": llm})
    assert [each["turns"] for each in episode.metrics["episodes"]] == [3, 3]
    assert len(scripted.sent[1]) > 2
    first = scripted.sent[2]
    assert [message["role"] for message in first] == ["system", "user"]
    assert pad_in(first) == "hello"
    assert first[1]["content"].startswith("Your company went bankrupt.")
    assert "Your first steps:" in first[1]["content"]
    assert pad_in(scripted.sent[3]) == "hello"
