"""Calls that methods make where the published traces do not reach: options, rounds, limits."""

import pytest
from support.method_model import PLAN, QUESTIONS, Model, game, question
from support.method_traces import built

from policies.llm.messages import system, user
from policies.llm.methods.ace import Ace
from policies.llm.methods.dynamic_cheatsheet import DynamicCheatsheet
from policies.llm.methods.items import Item, Setting, explanation
from policies.llm.methods.memoryless import (
    Debate,
    Discussion,
    SelfRefine,
    approves,
    feedback_of,
    praises,
)
from policies.llm.methods.reflexion import Reflexion
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import Call, ModelReply, Request


def test_the_parts_of_an_item_depend_on_the_kind_of_task() -> None:
    """Questions have a context, dialogues a last message, everything else a situation."""
    asked = [system("T"), user("X"), user("Q"), {"role": "assistant", "content": "bad"}, user("no")]
    item = Item.of(Request(asked), task="questions")
    assert (item.instructions, item.context, item.question) == ("T", "X", "Q\n\nbad\n\nno")
    item = Item.of(Request(asked), task="interview")
    assert item.question == "no"
    assert "bad" in item.context
    item = Item.of(Request(asked))
    assert item.context == ""
    assert "X" in item.question
    assert "no" in item.question
    assert Item.of(Request([])).situation == ""


@pytest.mark.parametrize(
    ("reply", "reasons"),
    [
        (ModelReply('{"order_qty": 1, "note": " low "}'), "low"),
        (ModelReply('{"order_qty": 1, "note": ""}'), ""),
        (ModelReply("just text"), ""),
        (ModelReply("stock is low", (Call("1", "order", "{}"),)), "stock is low"),
    ],
)
def test_an_explanation_is_what_an_action_says_of_itself(reply: ModelReply, reasons: str) -> None:
    """A text without an action explains nothing."""
    assert explanation(reply) == reasons


@pytest.mark.parametrize("published", [True, False])
def test_a_rewriting_call_has_the_context_unless_as_published(published: bool) -> None:  # noqa: FBT001
    """Of a question; the question itself is there in both cases."""
    model = Model(["a", '{"is_correct": false, "feedback": "LOW"}'])
    built(SelfRefine, complete=model, setting=QUESTIONS, as_published=published).answer(question())
    assert ("CONTEXT" in model.sent[2]) == (not published)
    assert all(part in model.sent[2] for part in ("TASK", "QUESTION", "LOW"))


@pytest.mark.parametrize("published", [True, False])
def test_the_reviewer_of_a_plan_sees_the_situation_unless_as_published(published: bool) -> None:  # noqa: FBT001
    """There it sees the decision alone."""
    model = Model(['{"C": 5, "why": "REASON"}', '{"is_valid": true}'])
    built(SelfRefine, complete=model, setting=PLAN, as_published=published).answer(game())
    assert ("SITUATION" in model.sent[1]) == (not published)
    assert ("REASON" in model.sent[1]) == (not published)
    assert '"C": 5' in model.sent[1]


def test_tools_are_given_to_calls_that_answer() -> None:
    """Critics, opponents and curators write text."""
    for method, answering in (
        (SelfRefine, [True, False, True, False, True]),
        (Reflexion, [True, False, True, False, True]),
        (Debate, [True, False, True]),
        (Discussion, [True, True, True, True]),
        (Ace, [True, False, True]),
    ):
        model = Model(["too low"])
        built(method, complete=model).answer(game())
        assert [bool(tools) for tools in model.tools] == answering, method


def test_in_further_rounds_a_proponent_answers_afresh_and_the_judge_sees_all() -> None:
    """Two rounds: four calls and the judge."""
    model = Model(["P1", "C1", "P2", "C2", "J"])
    assert built(Debate, complete=model, rounds=2).answer(game()).text == "J"
    assert not any(said in model.sent[2] for said in ("P1", "C1"))
    assert "P2" in model.sent[3]
    assert "P1" not in model.sent[3]
    assert all(said in model.sent[4] for said in ("P1", "C1", "P2", "C2"))


def test_in_further_rounds_experts_see_the_round_before() -> None:
    """The moderator sees the last round alone."""
    model = Model(["A1", "B1", "C1", "A2", "B2", "C2", "M"])
    assert built(Discussion, complete=model, rounds=2).answer(game()).text == "M"
    assert all("A1" in sent and "C1" in sent for sent in model.sent[3:6])
    assert "A2" not in model.sent[4]
    assert "A1" not in model.sent[6]
    assert "C2" in model.sent[6]


def test_without_an_answer_a_limit_is_passed_on() -> None:
    """The policy then takes the default action."""
    for method in (SelfRefine, Reflexion, Debate, Discussion, Ace):
        with pytest.raises(Spent):
            built(method, complete=Model([""], limit=0)).answer(game())


def test_further_rounds_revise_again_with_the_playbook_or_sheet_in_between() -> None:
    """Of ACE in games and dialogues, of the cheatsheet with a rewritten sheet, if it learns."""
    model = Model(["A", "critique", "B", "critique of B", "C"])
    reply = built(Ace, complete=model, setting=Setting(task="interview"), rounds=2).answer(game())
    assert reply.text == "C"
    assert "B" in model.sent[3]
    for learns in (True, False):
        model = Model(["A", "<cheatsheet>NEW</cheatsheet>", "B", "no tags"])
        sheet = built(DynamicCheatsheet, complete=model, rounds=2, learns=learns)
        assert sheet.answer(game()).text == ("B" if learns else "A")
        assert sheet.memory.text == ("NEW" if learns else "")


def test_a_second_round_sees_the_answer_of_the_first() -> None:
    """As published: the sheet and the reply of the round before are in the prompt."""
    model = Model(["first", "<cheatsheet>new</cheatsheet>", "second"])
    method = built(DynamicCheatsheet, complete=model, setting=Setting(), rounds=2)
    assert method.answer(game()).text == "second"
    assert "new\n\nYour answer in the round before:\nfirst\n" in model.sent[-1]


@pytest.mark.parametrize(
    ("review", "published", "ours"),
    [
        ('noise {"is_correct": false, "feedback": "looks good"} noise', False, False),
        ('{"is_valid": true, "feedback": "correct nothing"}', True, True),
        ('{"is_correct": "True"} wrong', True, True),
        ('{"is_correct": "perhaps"} looks good', True, True),
        ("LOOKS GOOD!", True, True),
        ("incorrect", False, False),
        ("This is not correct.", True, False),
        ("The correct order is 5.", True, False),
        ("Too low.", False, False),
    ],
)
def test_a_review_approves_by_its_flag_or_by_a_word(
    review: str,
    published: bool,  # noqa: FBT001 (parametrized)
    ours: bool,  # noqa: FBT001 (as above)
) -> None:
    """As published the word counts even within a complaint."""
    assert approves(review, as_published=True) == published
    assert approves(review) == ours


def test_a_critique_in_free_text_has_no_flag_and_feedback_is_that_of_the_verdict() -> None:
    """Words of a critique count alone; text beside a verdict is no feedback."""
    assert not praises('{"is_correct": true}', as_published=True)
    assert praises("correct", as_published=True)
    assert feedback_of('x {"feedback": "too low"}') == "too low"
    assert feedback_of('{"feedback": 5}') == feedback_of("too low") == ""
