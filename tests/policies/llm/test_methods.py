"""Self-refine: the content and number of its calls, and which answer counts."""

import json
from typing import Any

import pytest
from support.scripted import Scripted, called, player, seat_of, worded
from support.stub import call, serving, text

from desim import catalog, play
from policies.llm.budget import CallLimits
from policies.llm.methods.self_refine import SelfRefine, approved
from policies.llm.wire import ModelReply

MESSAGES = [{"role": "system", "content": "THE TASK"}, {"role": "user", "content": "THE SITUATION"}]
YES, NO = '{"is_correct": true, "feedback": ""}', '{"is_correct": false, "feedback": "TOO LOW"}'


def refined(*texts: str, **more: Any) -> tuple[ModelReply, Scripted]:
    """Refine with a model that replies with these texts in order."""
    model = Scripted(lambda number: worded(texts[number]))
    return SelfRefine(model, **more)(MESSAGES, (), None), model


@pytest.mark.parametrize(
    ("texts", "final"),
    [
        (["a", YES], "a"),
        (["a", NO, "b", YES], "b"),
        (["a", NO, "b", NO, "c"], "c"),
        (["a", "All of it is correct."], "a"),
        (["a", "Too low.", "b", "Looks good!"], "b"),
    ],
)
def test_an_answer_is_audited_and_rewritten_twice_at_most(texts: list[str], final: str) -> None:
    """The last answer counts; no call follows an approval or the second round."""
    answer, model = refined(*texts)
    assert answer.text == final
    assert len(model.sent) == len(texts)
    assert model.temperatures == [0.0, *[0.2] * (len(texts) - 1)]


@pytest.mark.parametrize("repeat", [True, False])
def test_an_audit_contains_everything_and_a_rewriting_call_what_is_published(repeat: bool) -> None:  # noqa: FBT001
    """Task, answer and audit; the situation again only with `repeat_context`."""
    _, model = refined("MY ANSWER", NO, "b", YES, repeat_context=repeat)
    _, audit, rewrite, _ = [json.dumps(messages) for messages in model.sent]
    assert all(part in audit for part in ("THE TASK", "THE SITUATION", "MY ANSWER"))
    assert all(part in rewrite for part in ("THE TASK", "MY ANSWER", "TOO LOW"))
    assert ("THE SITUATION" in rewrite) == repeat


@pytest.mark.parametrize(
    ("audit", "verdict"),
    [
        (YES, True),
        (NO, False),
        ('{"is_valid": true, "feedback": "correct nothing"}', True),
        ("incorrect", False),
        ("incorrect; the correct order is 5", True),
        ("No issues.", True),
        ("", False),
    ],
)
def test_an_audit_approves_by_its_flag_or_by_a_word(audit: str, verdict: bool) -> None:  # noqa: FBT001
    """As published, the word counts even as part of a complaint."""
    assert approved(audit) == verdict


@pytest.mark.parametrize(
    ("world", "mode", "first", "second"),
    [
        ("beer_game", "json", worded('{"order_qty": 1}'), worded('{"order_qty": 2}')),
        ("edt", "json", worded('{"C": 1}'), worded('{"C": 2}')),
        ("edt/interactive", "tools", called(("wait", "")), called(("hire", '{"consultants": 1}'))),
        ("enterprise_arena", "json", worded('{"type": "action", "name": "book_closing"}'),
         worded('{"type": "action", "name": "pass"}')),
        ("yc_bench", "tools", called(("company_status", "{}")), called(("client_list", "{}"))),
    ],
)  # fmt: skip
def test_it_is_usable_in_every_world(
    world: str, mode: str, first: ModelReply, second: ModelReply
) -> None:
    """The rewritten answer is taken, and all calls are counted."""
    changes = {"max_turns": "2"} if world == "yc_bench" else {}
    model = catalog.model(world, changes=changes)
    seat = seat_of(model)
    script = [first, worded(NO), second, worded(YES)]
    llm, scripted = player(
        seat, lambda number: script[number % 4], CallLimits(max_calls=4), mode=mode
    )
    llm.complete = SelfRefine(llm.metered)
    step = play(model, {seat.role: llm}).steps[0]
    plain, scripted_plain = player(seat, lambda _: second, CallLimits(max_calls=1), mode=mode)
    assert step.action == play(model, {seat.role: plain}).steps[0].action
    assert scripted.sent[0] == scripted_plain.sent[0]
    assert step.notes is not None
    assert step.notes["usage"]["calls"] == 4


def test_a_limit_between_the_calls_leaves_the_last_answer() -> None:
    """An answer that was paid for is used."""
    model = catalog.model("beer_game", changes={"horizon": "1"})
    script = [worded('{"order_qty": 7}'), worded(NO)]
    llm, _ = player(seat_of(model), lambda number: script[number], CallLimits(max_calls=2))
    llm.complete = SelfRefine(llm.metered)
    [step] = play(model, {"retailer": llm}).steps
    assert step.action.quantity == 7


def test_it_is_named_in_the_spec() -> None:
    """One audit a week, each approving."""
    with serving(lambda n, _: text(YES) if n % 2 else call(("order", {"quantity": 9}))) as stub:
        spec = f"llm,model=stub,base_url={stub.url},mode=tools,method=self_refine,rounds=1"
        episode = play("beer_game", spec)
    assert len(stub.requests) == 50
    assert {step.action.quantity for step in episode.steps} == {9}
