"""Turns of a start-up: what each call carries, compared with the published loop."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from desim import catalog, play
from policies.llm.wire import Reply
from tests.policies.llm.scripted import called, player, seat_of, worded

NOTE = '{"command": "yc-bench scratchpad write --content hello"}'
RESUME = '{"command": "yc-bench sim resume"}'


def spoken(reply: Any) -> Reply:
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
def test_every_call_carries_what_the_published_loop_carries(trace: Path) -> None:
    """Messages in all, user messages, the marker, the kind of message, the stale notes."""
    told = json.loads(gzip.decompress(trace.read_bytes()))
    turns = told["turns"]
    model = catalog.model("yc_bench", changes={"max_turns": str(told["max_turns"])})
    llm, asked = player(seat_of(model), lambda number: spoken(turns[number]["reply"]), console=True)
    play(model, {"founder": llm}, told["seed"])
    assert len(asked.heard) == len(turns)
    for turn, messages in zip(turns, asked.heard, strict=True):
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
    """Also those behind a command that ended the turn, which are not carried out."""
    model = catalog.model("yc_bench", changes={"max_turns": "2"})
    calls = called(("company_status", "{}"), ("end_turn", "{}"), ("market_browse", "{}"))
    llm, asked = player(seat_of(model), lambda _: calls)
    episode = play(model, {"founder": llm})
    messages = asked.heard[1]
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == ["id0", "id1", "id2"]
    assert messages[5]["content"] == "not run: the turn had ended"
    assert [type(s.action).__name__ for s in episode.steps] == ["CompanyStatus", "EndTurn"] * 2


@pytest.mark.parametrize(("stale", "pads"), [(True, [None, None]), (False, [None, "hello"])])
def test_notes_written_in_a_turn_that_resumed(stale: bool, pads: list[str | None]) -> None:  # noqa: FBT001
    """The published loop shows them later; the switch shows them at once."""
    model = catalog.model("yc_bench", changes={"max_turns": "2"})
    turn = called(("run_command", NOTE), ("run_command", RESUME))
    llm, asked = player(seat_of(model), lambda _: turn, console=True, stale_scratchpad=stale)
    play(model, {"founder": llm})
    assert [pad_in(messages) for messages in asked.heard] == pads


@pytest.mark.parametrize(("history", "users"), [(0, [1, 2, 2, 2]), (2, [1, 2, 3, 4])])
def test_history_is_as_long_as_wished(history: int, users: list[int]) -> None:
    """Rounds kept, the marker for what was dropped, and the present message."""
    model = catalog.model("yc_bench", changes={"max_turns": "6"})
    llm, asked = player(seat_of(model), lambda _: worded("I wait."), history=history)
    play(model, {"founder": llm})
    counts = [sum(m["role"] == "user" for m in messages) for messages in asked.heard]
    assert counts[:4] == users
    assert counts[-1] == users[-1]


def test_a_founder_without_an_answer_ends_the_turn() -> None:
    """Where nothing runs, the neutral action is the end of the turn; it is marked."""
    model = catalog.model("yc_bench", changes={"max_turns": "3"})
    llm, asked = player(seat_of(model), lambda _: called(("fly", "{}")), retries=1)
    episode = play(model, {"founder": llm})
    assert [type(s.action).__name__ for s in episode.steps] == ["EndTurn"] * 3
    assert len(asked.heard) == 6
    assert "no action 'fly'" in asked.heard[1][-1]["content"]
    assert [m["role"] for m in asked.heard[2]] == ["system", "user", "assistant", "user"]
