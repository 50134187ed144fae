"""Sentences about invalid replies are in the words of the prompt; prompts give nothing away."""

import json
from typing import Any

import pytest
from support.prompted_seats import CASES, Case
from support.scripted import called, player, seat_of, worded

from desim import Run, catalog
from desim.schema import codec
from policies.llm.wires.wire import ModelReply

SEATS = [
    pytest.param(case, mode, id=f"{case.seat}, {mode}") for case in CASES for mode in case.modes
]

FLY = '{"name": "fly", "arguments": {}}'


def invalid(case: Case) -> list[ModelReply]:
    """Return replies without a decision, calls of an action without arguments among them."""
    actions = [*codec(case.model.roles[case.role].action).classes]
    texts = ["Hm.", "{}", '{"x": 1}', '{"do": "fly"}', FLY, f"<tool_call>{FLY}</tool_call>"]
    texts += ["<tool_call>{", "<think>Well", '{"a":', "<tool_call>{}</tool_call>"]
    calls = [("fly", "{}"), ("", "{}"), ("fly", '{"a'), *((name, "{}") for name in actions)]
    calls += [(name, '{"x": 1}') for name in actions]
    return [*map(worded, texts), *(called(call) for call in calls)]


@pytest.mark.parametrize(("case", "mode"), SEATS)
def test_a_repair_message_is_in_the_words_of_the_prompt(case: Case, mode: str) -> None:
    """No key `do`, no action and no class that the prompt does not have, unless the reply had."""
    classes = codec(case.model.roles[case.role].action).classes
    for reply in invalid(case):
        seat = seat_of(case.model, case.role)
        llm, sent = player(seat, lambda _, reply=reply: reply, retries=1, mode=mode)
        llm.decide(case.observation)
        if len(sent.sent) == 1:
            continue  # a published reader takes every text
        read = json.dumps([sent.sent[0], [*sent.tools[0]], reply.text, *map(str, reply.calls)])
        said = sent.sent[1][-1]["content"]
        foreign = [name for name in classes if f" {name}" in said and name not in read]
        foreign += [cls.__name__ for cls in classes.values() if cls.__name__ in said.split()]
        foreign += [key for key in ('"do"', "'do'", "`do`", "$.do") if key in said]
        assert foreign == [], (reply, said)
        assert "no action '" not in said or mode != "tools", said
        if not (reply.calls or "<tool_call>" in reply.text):
            assert ("JSON object" if mode == "tools" else "tool") not in said
        named = said.partition("Possible: ")[2].partition(". ")[0]
        assert all(name in read for name in named.split(", "))
        assert case.world != "edt" or mode == "tools" or "`consultants`" not in said, said


def prompt(world: str, role: str, **options: Any) -> str:
    """Return the first request of a role as one text, with its tools."""
    case = next(one for one in CASES if (one.world, one.role) == (world, role))
    llm, sent = player(seat_of(case.model, role), lambda _: worded(""), retries=0, **options)
    llm.decide(case.observation)
    return json.dumps([sent.sent[0], [*sent.tools[0]]])


@pytest.mark.parametrize("mode", ["tools", "json"])
def test_the_start_ups_prompt_does_not_tell_what_will_be_refused(mode: str) -> None:
    """A command that the published console always refuses is described by its purpose."""
    shown = prompt("yc_bench", "founder", mode=mode)
    assert "task_assign_all" in shown
    assert "report_monthly" in shown
    assert "refused" not in shown
    assert "never any" not in shown


@pytest.mark.parametrize(
    ("supply_line", "stage", "holds"),
    [
        ("shipped", "retailer", "from when they are shipped"),
        ("ordered", "retailer", "from when you have ordered them"),
        ("ordered", "brewery", "from when their brewing begins"),
    ],
)
def test_the_supply_line_is_described_by_what_holds(
    supply_line: str, stage: str, holds: str
) -> None:
    """The rules name the one way of counting that the parameters choose."""
    model = catalog.model("beer_game", changes={"supply_line": supply_line, "blind": "false"})
    llm, sent = player(seat_of(model, stage), lambda _: worded(""), retries=0)
    llm.decide(Run(model, 0, [stage]).advance()[0].observation)
    told = sent.sent[0][0]["content"]
    assert holds in told
    assert told.count("Units count as under way") == 1
    assert "supply_line=" not in told


def test_a_default_action_is_kept_in_the_form_of_the_prompt() -> None:
    """A tagged object is kept only where the prompt requests one."""
    case = next(one for one in CASES if one.world == "edt/interactive")
    kept = []
    for mode in ("tools", "json"):
        seat = seat_of(case.model, case.role)
        llm, sent = player(seat, lambda _: worded("Hm."), retries=0, mode=mode)
        llm.decide(case.observation)
        llm.decide(case.observation)
        kept.append(next(m["content"] for m in sent.sent[1] if m["role"] == "assistant"))
    assert kept == [
        "(There was no answer, so this was done: wait {})",
        '(There was no answer, so this was done: {"do": "wait"})',
    ]
