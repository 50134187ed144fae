"""Replies become actions or error sentences, whatever a model writes."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted import called, conversation_at, player, seat_of, worded

from desim import Run, catalog, play
from desim.schema import codec
from policies.llm import replies as parse
from policies.llm.options import MODES
from policies.llm.replies import BadReply, objects
from policies.llm.wires.wire import Call, ModelReply

WORLDS = ["beer_game", "edt", "edt/interactive", "enterprise_arena", "yc_bench"]
DESK = codec(catalog.model("edt/interactive").roles["manager"].action)
KNOWN = list(DESK.classes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('Well:\n```json\n{"a": {"b": 2}}\n```\nDone.', [{"a": {"b": 2}}]),
        ('first {"a": 1} and {"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": "}{"} {', [{"a": "}{"}]),
        ('{broken {"a": 1}', [{"a": 1}]),
        ('{"a": 1} {"a": NaN} {"a": 2}', [{"a": 1}]),
        ("[1, 2] no object", []),
        ("{" * 10_000, []),
        ('{"a":' * 5_000, []),
        ("", []),
    ],
)
def test_objects_are_found_whatever_surrounds_them(text: str, found: list[Any]) -> None:
    """Outermost objects in order; text that is no JSON is skipped."""
    assert objects(text) == found


@pytest.mark.parametrize(
    "text",
    [
        '{"do": "hire", "consultants": 3}',
        'I would {"do": "hire", "consultants": 3}, that is {"do": "hire", "consultants": 3}.',
        '{"action": {"do": "hire", "consultants": 3}}',
        '{"name": "hire", "arguments": {"consultants": 3}}',
        '{"name": "hire", "parameters": {"consultants": 3}}',
        '{"name": "hire", "consultants": 3}',
        'Given {"cash": 5} I {"do": "hire", "consultants": 3}',
    ],
)
def test_one_action_is_found_in_a_text(text: str) -> None:
    """The tagged object, one that is wrapped, or a call written as text."""
    action = parse.action_of(DESK, ModelReply(text), KNOWN)
    assert DESK.take(action)[1] == b'{"do":"hire","consultants":3}'


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ModelReply(""), "your reply was empty$"),
        (ModelReply(" \n", finish="length"), "empty because it ran into the limit of tokens"),
        (ModelReply("no", refusal="I cannot"), "you refused"),
        (ModelReply("hire three"), "holds no JSON object$"),
        (ModelReply('{"do": "hi'), "an object in your reply is no JSON: Unterminated string"),
        (ModelReply('{"do": "wait"} a', finish="length"), "not complete; it ran into the limit"),
        (ModelReply('{"do": "hir", "consultants": 3}'), "no action 'hir'; did you mean 'hire'"),
        (ModelReply('{"consultants": 3}'), "no action is named"),
        (ModelReply('{"do": "hire"}'), "missing required field `consultants`"),
        (ModelReply('{"do": "hire", "consultants": "3"}'), r"\$\.consultants"),
        (ModelReply('{"do": "hire", "consultants": 3, "x": 1}'), "unknown field `x`"),
        (ModelReply('{"do": "wait"} {"do": "hire", "consultants": 3}'), "2 different actions"),
    ],
)
def test_a_reply_without_an_action_is_refused_with_a_sentence(reply: ModelReply, why: str) -> None:
    """The sentence is sent to the model, so it says what was wrong and what is possible."""
    with pytest.raises(BadReply, match=why):
        parse.action_of(DESK, reply, KNOWN)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (Call("1", "fly", "{}"), "no action 'fly'"),
        (Call("1", "", "{}"), "no action ''"),
        (Call("1", "hire", "three"), "arguments of hire are no JSON"),
        (Call("1", "hire", "[3]"), "no JSON object"),
        (Call("1", "hire", ""), "missing required field"),
        (Call("1", "hire", '{"consultants": 0}'), "consultants"),
        (Call("1", "set_risk", '{"revenue_risk": 1e999}'), "finite"),
    ],
)
def test_an_invalid_call_is_refused_with_a_sentence(call: Call, why: str) -> None:
    """Unknown tools and wrong arguments."""
    with pytest.raises(BadReply, match=why):
        parse.checked_action(DESK, {**parse.arguments(call), "do": call.name}, KNOWN)


def test_null_for_an_optional_argument_is_its_default() -> None:
    """A strict schema makes every argument required, so models write null."""
    founder = codec(catalog.model("yc_bench").roles["founder"].action)
    call = Call("1", "market_browse", '{"domain": null, "limit": 5, "offset": null}')
    action = parse.checked_action(
        founder, {**parse.arguments(call), "do": call.name}, founder.classes
    )
    assert (action.domain, action.limit, action.offset) == (None, 5, 0)


# -- fuzz ------------------------------------------------------------------------------------------

WINDOWS = [None, {"start": 1, "deadline": 9}, *[None] * 8]

GOOD = {
    "beer_game": [
        worded('{"order_qty": 400, "note": "demand"}'),
        worded('So:\n```json\n{"order": "about 250 units"}\n```'),
        worded('{"orderQty": 21, "why": "as published"}'),
        called(("order", '{"quantity": 400}')),
    ],
    "edt": [
        worded(json.dumps({"C": 9, "R": 0.5, "P": [[1, 0, 95], 0] * 5})),
        worded(json.dumps({"final_answer": {"C": 9, "R": 0.5, "P": [0] * 10}})),
        called(
            (
                "decide",
                json.dumps({"consultants": 3, "revenue_risk": 0.5, "projects": [*WINDOWS]}),
            )
        ),
    ],
    "edt/interactive": [
        worded('{"do": "hire", "consultants": 3}'),
        worded('{"action": {"do": "accept", "project": 1}}'),
        called(("set_risk", '{"revenue_risk": 0.3}')),
    ],
    "enterprise_arena": [
        worded('{"type": "tool", "name": "verify_cash_position", "params": {}}'),
        worded('{"action": {"type": "action", "name": "pass", "params": {}}}'),
        worded('{"type": "memory", "operation": "save_note", "content": "x", "tags": ["a"]}'),
        called(("fund_raising_request", '{"type": "debt", "amount": 5000000}')),
        called(("check_market_data", '{"data_type": "GDP"}')),
    ],
    "yc_bench": [
        worded('{"do": "market_browse", "domain": "research"}'),
        worded('{"commands": [{"do": "employee_list"}, {"do": "end_turn"}]}'),
        called(("market_browse", "{}"), ("task_accept", '{"task_id": "Task-14"}')),
        called(("run_command", '{"command": "yc-bench market browse --limit 3"}')),
    ],
}

#: What a part of a text is replaced by.
ODD = ["NaN", "1e999", "-1", "1.5", "true", "null", "[]", "{}", "{", '"', ",", "```", "\0"]
ODD += ['{"do": "wait"}', "\ud800", "9" * 5_000, '"\\ud800"', "{" * 300, "[" * 2_000 + "]" * 2_000]


def mutated_text(text: str, chance: random.Random) -> str:
    """Cut, double or replace a part of a text."""
    at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    odd = text[:at] + chance.choice(ODD) + text[to:]
    return chance.choice([text[:at], text[:at] + text[to:], text[:to] + text[at:], odd])


def mutated(reply: ModelReply, chance: random.Random) -> ModelReply:
    """Change the text of a reply, or the name or the arguments of its first call."""
    finish = chance.choice(["stop", "length", ""])
    if not reply.calls or chance.randrange(4) == 0:
        return ModelReply(mutated_text(reply.text, chance), reply.calls, finish=finish)
    call, *others = reply.calls
    name, arguments = call.name, mutated_text(call.arguments, chance)
    if chance.randrange(4) == 0:
        name, arguments = mutated_text(call.name, chance), call.arguments
    return ModelReply(reply.text, (Call(call.id, name, arguments), *others), finish=finish)


def replies(world: str) -> Callable[[int], ModelReply]:
    """Return mutated replies by number, the same ones every time; every fourth is valid."""

    def reply(number: int) -> ModelReply:
        chance = random.Random(f"{world} {number}")  # noqa: S311 (the same ones every time)
        good = chance.choice(GOOD[world])
        return good if chance.randrange(4) == 0 else mutated(good, chance)

    return reply


@pytest.mark.parametrize(
    ("world", "options"),
    [
        *[(world, {"mode": mode}) for world in WORLDS for mode in MODES],
        ("yc_bench", {"mode": "tools", "console": True}),
    ],
)
def test_fuzzed_replies_give_legal_actions_or_sentences(
    world: str, options: dict[str, Any]
) -> None:
    """Sixteen times 650 mutated replies: no other exception, no action outside the schema."""
    seat = seat_of(catalog.model(world))
    [decision, *_] = Run(seat.model, 0, [seat.role]).advance()
    check, reply = codec(seat.spec.action), replies(f"{world}")
    read, sentences = 0, list[str]()
    conversation = conversation_at(seat, **options)
    conversation.action_without_call(decision.observation)
    conversation.question(decision.observation)
    for number in range(650):
        try:
            parsed = conversation.read(reply(number), decision.observation)
        except BadReply as bad:
            sentences.append(str(bad))
            continue
        read += 1
        check.take(parsed.action)
        for _, waiting in getattr(conversation, "_waiting", ()):
            check.take(waiting)
    # A fuzz that meets only one of the two outcomes tests nothing.
    assert min(read, len(sentences)) > 50
    assert all(sentences)


@pytest.mark.parametrize("world", WORLDS)
def test_an_episode_of_fuzzed_replies_ends(world: str) -> None:
    """The world accepts every action, and invalid replies are counted."""
    changes = {"max_turns": "60"} if world == "yc_bench" else {}
    model = catalog.model(world, changes=changes)
    seat = seat_of(model)
    llm, scripted = player(seat, replies(world), retries=1)
    episode = play(model, {seat.role: llm})
    usage = episode.summary()["usage"][seat.role]
    assert usage["calls"] == len(scripted.sent)
    if world != "yc_bench":  # where a text without commands is a turn by default, not asked again
        assert usage["default_actions"] * 2 <= usage["bad_replies"]


@given(st.text())
def test_any_text_is_an_action_or_a_sentence(text: str) -> None:
    """Arbitrary text."""
    with pytest.raises(BadReply):
        parse.action_of(DESK, ModelReply(text), KNOWN)


@pytest.mark.parametrize(
    ("between", "fault"),
    [
        ("\n", ""),
        (", then ", ""),
        ("\n2. ", ""),
        ("\n```\n```json\n", ""),
        (" No, better: ", "some may be drafts"),
        (" or ", "some may be drafts"),
    ],
)
def test_commands_with_prose_between_them_may_be_drafts(between: str, fault: str) -> None:
    """A founder's commands are executed in order only where they are a list."""
    founder = conversation_at(seat_of(catalog.model("yc_bench")), mode="json")
    one, other = '{"do": "market_browse"}', '{"do": "employee_list"}'
    reply = worded(f"I look first. {one}{between}{other} That is all.")
    desk: Any = Run(catalog.model("yc_bench"), 0, ["founder"]).advance()[0].observation
    founder.question(desk)
    if fault:
        with pytest.raises(BadReply, match=fault):
            founder.read(reply, desk)
        return
    assert type(founder.read(reply, desk).action).__name__ == "MarketBrowse"
