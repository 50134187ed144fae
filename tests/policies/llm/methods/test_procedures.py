"""What methods do where the published traces do not reach: options, rounds, series, defects."""

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define, field
from support.method_traces import answer_stream, asking, built

from desim.errors import UsageError
from policies.llm.chat.messages import system, user
from policies.llm.chat.options import LLMOptions
from policies.llm.methods.ace import Ace
from policies.llm.methods.amem import AgenticMemory
from policies.llm.methods.build import check_method
from policies.llm.methods.dynamic_cheatsheet import Cheatsheet, DynamicCheatsheet
from policies.llm.methods.gepa import Gepa
from policies.llm.methods.items import Item, Outcome, Past, Setting, Task, explanation
from policies.llm.methods.memoryless import Debate, Discussion, SelfRefine
from policies.llm.methods.notes import Note, Notes
from policies.llm.methods.playbook import Playbook, statistics
from policies.llm.methods.reflexion import Reflexion
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import Call, ModelReply, Request

QUESTIONS = Setting(task="questions")
PLAN = Setting(task="plan", keys=("C",), goal=("load", 0.7))


@define
class Model:
    """A `complete` whose replies are a list, its last one repeated; it keeps what it was sent."""

    replies: list[str]
    sent: list[str] = field(factory=list)
    tools: list[Sequence[Any]] = field(factory=list)
    limit: int = 10_000

    def __call__(self, request: Request) -> ModelReply:
        """Return the next reply."""
        if len(self.sent) >= self.limit:
            raise Spent("the limit")
        self.sent.append("\n".join(str(message["content"]) for message in request.messages))
        self.tools.append(request.tools)
        return ModelReply(self.replies[min(len(self.sent), len(self.replies)) - 1])


def question(number: int = 1) -> Item:
    """Return a question."""
    return asking(f"QUESTION {number}", f"CONTEXT {number}", "TASK", number)


def game() -> Item:
    """Return a decision of a game, with a tool."""
    return Item.of(Request([system("TASK"), user("SITUATION")], [{"name": "order"}]))


def wrong(_: Item, reply: ModelReply) -> Outcome:
    """Score every reply as wrong."""
    return Outcome(answer=reply.text, correct=False, gold="GOLD")


# -- items -----------------------------------------------------------------------------------------


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


# -- calls -----------------------------------------------------------------------------------------


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


# -- learning --------------------------------------------------------------------------------------


def test_reflexion_gives_the_last_three_failures() -> None:
    """The newest last; all that are kept can be read."""
    model = Model(["wrong"])
    method = built(Reflexion, complete=model, setting=QUESTIONS, rounds=1)
    for number in range(1, 6):
        model.replies[:] = ["a"] * len(model.sent) + ["a", f"REFLECTION {number}", "b"]
        answer_stream(method, [question(number)], wrong, window=1)
    assert method.memory.shown == ("REFLECTION 3", "REFLECTION 4", "REFLECTION 5")
    assert method.memory.written == 5
    method.answer(question(6))
    assert "REFLECTION 3\nREFLECTION 4\nREFLECTION 5" in model.sent[-3]


@pytest.mark.parametrize("published", [True, False])
def test_a_lesson_is_about_the_decision_unless_as_published(published: bool) -> None:  # noqa: FBT001
    """There the figures are taken for it. A success is a lesson, too."""
    model = Model(["  keep\n it "])
    method = built(Reflexion, complete=model, setting=PLAN, as_published=published)
    past = Past(
        number=3, situation="S", decision="DECISION", outcome=Outcome(metrics={"load": 0.5})
    )
    method.learn_episode(past)
    assert ("DECISION" in model.sent[0]) == (not published)
    assert method.memory.shown == ("keep it",)
    assert method.memory.lessons[0].goal == (None if published else 0.5)
    method.learn_episode(Past(outcome=Outcome(metrics={"load": 0.9})))
    assert [lesson.success for lesson in method.memory.lessons] == [False, not published]


def test_a_turn_that_was_approved_is_no_failure_unless_as_published() -> None:
    """As published every turn of a dialogue is one."""
    for published in (True, False):
        method = built(
            Reflexion,
            complete=Model(["a", "looks good"]),
            setting=Setting(task="interview"),
            as_published=published,
        )
        method.step(game(), method.answer(game()))
        assert method.memory.written == published


def test_a_number_for_a_link_leaves_a_question_without_notes_as_published() -> None:
    """By default the link is followed."""
    notes = Notes(notes=(Note(content="NOTE", links=(0,)),), indexed=("NOTE",))
    for published in (True, False):
        model = Model(["a"])
        method = built(
            AgenticMemory, complete=model, setting=QUESTIONS, as_published=published, memory=notes
        )
        method.answer(question())
        assert ("NOTE" in model.sent[0]) == (not published)


def test_a_limit_in_the_middle_leaves_a_memory_whole() -> None:
    """A note whose second call is not made is not stored, and no line of a playbook is tagged."""
    notes = built(AgenticMemory, complete=Model(["{}"], limit=1))
    with pytest.raises(Spent):
        notes.step(game(), ModelReply('{"note": "why"}'))
    assert notes.memory == Notes()
    book = built(Ace, complete=Model(["{}"], limit=1), setting=PLAN)
    before = book.memory
    with pytest.raises(Spent):
        book.learn_episode(Past())
    assert book.memory == before


def test_a_playbook_stays_within_its_tokens() -> None:
    """However much a curator adds."""
    line = '{"type": "ADD", "section": "others", "content": "' + "x" * 3_900 + '"}'
    method = built(
        Ace, complete=Model(['{"operations": [' + ",".join([line] * 40) + "]}"]), setting=PLAN
    )
    for number in range(5):
        method.learn_episode(Past(number=number))
    assert len(method.memory.text) <= 80_000 * 4
    assert statistics(method.memory.text)["total_bullets"] == method.memory.next_id - 1 > 70


def test_a_playbook_is_curated_every_five_decisions_once() -> None:
    """Also where the fifth decision is asked for twice; a new episode begins to count anew."""
    model = Model(['{"order_qty": 1, "operations": []}'])
    method = built(Ace, complete=model)
    for decision in range(1, 11):
        reply = method.answer(game())
        if decision == 5:
            reply = method.answer(game())
        method.step(game(), reply)
    curations = sum("# Its counts" in sent for sent in model.sent)
    assert curations == 2
    for _ in range(4):
        method.step(game(), method.answer(game()))
    method.begin_episode()
    for _ in range(4):
        method.step(game(), method.answer(game()))
    assert sum("# Its counts" in sent for sent in model.sent) == curations


def test_ace_revises_a_decision_after_an_empty_critique_as_published() -> None:
    """And counts it for the curation; elsewhere an empty critique keeps the draft."""
    draft, critique, revised = '{"order_qty": 1}', " ", '{"order_qty": 2}'
    weeks = [draft, critique, revised] * 4 + [draft, critique, "curation", revised]
    for setting, published, replies in (
        (Setting(), True, weeks),
        (Setting(), False, [draft, critique] * 5),
        (Setting(task="interview"), True, [draft, critique] * 5),
    ):
        model = Model(replies)
        method = built(Ace, complete=model, setting=setting, as_published=published)
        for _ in range(5):
            reply = method.answer(game())
            method.step(game(), reply)
        assert len(model.sent) == len(replies)
        assert reply.text == (revised if revised in replies else draft)


def test_ace_shows_a_plan_the_whole_playbook_where_no_line_is_about_it() -> None:
    """Its last 2,500 characters; else the lines about the topics alone."""
    line = "[misc-00001] helpful=0 harmful=0 :: {}"
    setting = Setting(task="plan", topics=("risk",))
    for text, shown in (("LOW RISK", False), ("other", True)):
        book = Playbook(text=f"## HEAD\n{line.format(text)}")
        model = Model(["{}"])
        built(Ace, complete=model, setting=setting, memory=book).answer(game())
        assert line.format(text) in model.sent[0]
        assert ("## HEAD" in model.sent[0]) is shown
    built(Ace, complete=model, setting=setting, memory=Playbook(text="x" * 3_000)).answer(game())
    assert model.sent[-1].count("x") < 2_600


def test_ace_curates_after_each_period_of_questions_and_keeps_the_tags_of_all() -> None:
    """Every question by default."""
    book = Playbook(text="[misc-00009] helpful=0 harmful=0 :: line")
    reply = '{"bullet_tags": [{"id": "misc-00009", "tag": "helpful"}], "operations": []}'
    for period, curations in ((None, 5), (2, 2), (6, 0)):
        model = Model([reply])
        method = built(Ace, complete=model, setting=QUESTIONS, period=period, memory=book)
        items = [question(number) for number in range(1, 6)]
        answer_stream(method, items, lambda *_: Outcome(correct=True))
        assert sum("# Its counts" in sent for sent in model.sent) == curations
        assert "helpful=5" in method.memory.text


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


def test_the_published_numbers_of_items_are_arguments() -> None:
    """Similar questions of the cheatsheet, notes of AMEM, items and chances of an evolution."""
    items = [question(number) for number in range(1, 6)]
    for neighbors in (0, 2):
        model = Model(["<cheatsheet>S</cheatsheet>"])
        method = built(DynamicCheatsheet, complete=model, setting=QUESTIONS, neighbors=neighbors)
        answer_stream(method, items, wrong, mode="eval_only")
        assert model.sent[0].count("# An earlier question") == neighbors
    notes = tuple(Note(content=f"NOTE {n}") for n in range(5))
    memory = Notes(notes=notes, indexed=tuple(note.content for note in notes))
    model = Model(["a"])
    built(AgenticMemory, complete=model, memory=memory, retrieved=2).answer(game())
    assert model.sent[0].count("NOTE ") == 2
    evolved = built(Gepa, complete=Model(["p"]), setting=QUESTIONS, batch=3, exploit=0, budget=20)
    answer_stream(evolved, items, wrong)
    assert evolved.last is not None
    assert {step.strategy for step in evolved.last.steps} == {"explore"}
    assert evolved.last.steps[0].budget_left == 20 - 5 - 3 - 3 - 5


def test_a_sheet_is_what_is_between_the_tags() -> None:
    """Also nothing; without the closing tag the old one is kept."""
    for reply, kept in (("so: <cheatsheet> \n</cheatsheet> more", ""), ("<cheatsheet>cut", "OLD")):
        for setting in (Setting(), PLAN):
            method = built(DynamicCheatsheet, complete=Model([reply]), setting=setting)
            method.memory = Cheatsheet(text="OLD")
            method.step(game(), ModelReply("a"))
            method.learn_episode(Past(decision="D"))
            assert method.memory.text == kept


def test_a_second_round_sees_the_answer_of_the_first() -> None:
    """As published: the sheet and the reply of the round before are in the prompt."""
    model = Model(["first", "<cheatsheet>new</cheatsheet>", "second"])
    method = built(DynamicCheatsheet, complete=model, setting=Setting(), rounds=2)
    assert method.answer(game()).text == "second"
    assert "new\n\nYour answer in the round before:\nfirst\n" in model.sent[-1]


def test_a_program_is_run_where_the_marker_follows_its_fence() -> None:
    """The text behind the marker is dropped; prose in front of it stops the program."""
    program = "```python\n1 + 1\n```\n<RUN>\nI expect 3."
    model = Model([program, "done"])
    method = built(DynamicCheatsheet, complete=model, run_programs=True, run=lambda _: "2")
    shown = "[OUTPUT]\n```\n2\n```"
    assert method.answer(game()).text == f"```python\n1 + 1\n```\n<RUN>\n\n{shown}\n\ndone"
    assert "I expect" not in model.sent[1]
    prose = program.replace("\n<RUN>", "\nas said <RUN>")
    method = built(DynamicCheatsheet, complete=Model([prose]), run_programs=True, run=lambda _: "2")
    assert method.answer(game()).text == prose


def test_styles_are_tried_for_two_episodes_each_and_the_best_is_kept() -> None:
    """Four styles in a game; an evaluation takes the best of those tried."""
    method = built(Gepa, complete=Model(["{}"]))
    scores = [1.0, 2.0, 5.0, 4.0, 3.0, 3.0, 0.0, 9.0]
    used = []
    for score in scores:
        used.append(method._style())
        method.learn_episode(Past(outcome=Outcome(score=score)))
    assert used == [0, 0, 1, 1, 2, 2, 3, 3]
    # Means 1.5, 4.5, 3, 4.5: the first one among equals.
    assert method._style() == 1
    method.learns = False
    assert method._style() == 1
    assert len(method.memory.tried) == 4


def test_evolution_draws_the_same_whether_or_not_the_process_was_restarted() -> None:
    """The draws depend on the seed and on what is in the memory alone."""

    def grade(item: Item, reply: ModelReply) -> Outcome:
        return Outcome(correct=(len(reply.text) + item.number) % 3 == 0)

    def evolved(split: int) -> Any:
        items = [question(number) for number in range(1, 41)]
        method = built(
            Gepa, complete=Model(['{"list_candidate_prompts": []}']), setting=QUESTIONS, seed=5
        )
        answer_stream(method, items[:split], grade)
        again = built(
            Gepa, complete=Model(["p"]), setting=QUESTIONS, seed=5, memory=method.memory, budget=40
        )
        answer_stream(again, items[split:], grade)
        assert again.last is not None
        return [(step.selected, step.strategy) for step in again.last.steps], again.memory

    assert evolved(15) == evolved(15)


def test_questions_set_apart_are_learned_from_and_not_scored() -> None:
    """Offline: six prompts are written, the best is used for what is scored."""
    prompts = [{"candidate_prompt": f"PROMPT {n}"} for n in range(9)]
    model = Model([str({"list_candidate_prompts": prompts}).replace("'", '"')])
    method = built(Gepa, complete=model, setting=QUESTIONS, budget=30)

    def grade(_: Item, __: ModelReply) -> Outcome:
        return Outcome(correct="PROMPT 4" in model.sent[-1])

    answered = answer_stream(
        method, [question(7)], grade, mode="offline", train=[question(1), question(2)]
    )
    assert [each.item.number for each in answered] == [7]
    assert answered[0].outcome.correct
    assert method.last is not None
    assert [each.prompt for each in method.last.candidates[:6]] == [f"PROMPT {n}" for n in range(6)]
    assert method.memory.best == "PROMPT 4"


def test_no_program_of_a_model_is_run_unless_somebody_asks() -> None:
    """At most three times; for questions only on request, as published elsewhere too."""
    program = "```python\n1 + 1\n```\n<RUN>"
    model = Model([program])
    assert built(DynamicCheatsheet, complete=model).answer(game()).text == program
    ran: list[str] = []

    def run(text: str) -> str:
        ran.append(text)
        return "2"

    def shown(setting: Setting, item: Item, **how: bool) -> int:
        method = built(
            DynamicCheatsheet, complete=Model([program]), setting=setting, run=run, **how
        )
        return method.answer(item).text.count("[OUTPUT]")

    assert shown(Setting(), game()) == shown(QUESTIONS, question()) == 0
    assert shown(QUESTIONS, question(), as_published=True) == 0
    assert shown(Setting(), game(), as_published=True, run_programs=False) == 0
    assert ran == []
    assert shown(Setting(), game(), as_published=True) == 3
    assert shown(Setting(), game(), run_programs=True) == 3
    assert shown(QUESTIONS, question(), run_programs=True) == 3
    assert ran == ["1 + 1\n"] * 9


def test_a_program_is_run_in_the_sandbox_and_its_output_shown() -> None:
    """What it prints, its last value, and the error with which it ends; the model is told how."""
    replies = [f"```python\n{program}\n```\n<RUN>" for program in ("print(6 * 7)\n1/0", "1")]
    model = Model([*replies, "done"])
    method = built(DynamicCheatsheet, complete=model, run_programs=True)
    text = method.answer(game()).text
    assert "```\n42\nZeroDivisionError: division by zero\n```" in text
    assert "[OUTPUT]\n```\n1\n```" in text
    assert text.endswith("done")
    assert "<RUN>" in model.sent[0]


@pytest.mark.parametrize("method", ["cot", ""])
def test_programs_are_run_by_a_method_that_can_or_by_none(method: str) -> None:
    """Asking another one for it is an error; not to run any is possible everywhere."""
    with pytest.raises(UsageError, match="only method=dynamic_cheatsheet runs programs"):
        check_method(LLMOptions(model="x", method=method, run_programs=True))
    check_method(LLMOptions(model="x", method=method, run_programs=False))
    check_method(LLMOptions(model="x", router="table_4", run_programs=True))
    check_method(LLMOptions(model="x", method="dynamic_cheatsheet", run_programs=True))


def test_a_sheet_for_a_plan_is_cut_and_made_of_the_decision() -> None:
    """As published of the figures; a reply without tags is the sheet."""
    for published in (True, False):
        model = Model(["S" * 2_000])
        method = built(DynamicCheatsheet, complete=model, setting=PLAN, as_published=published)
        method.learn_episode(Past(decision="DECISION", outcome=Outcome(metrics={"load": 0.5})))
        assert ("DECISION" in model.sent[0]) == (not published)
        assert "0.5" in model.sent[0]
        method.answer(game())
        assert model.sent[1].count("S" * 1_200) == 1
        assert "S" * 1_201 not in model.sent[1]


def test_an_empty_stream_is_answered_by_nothing() -> None:
    """And costs nothing."""
    for method in (Reflexion, AgenticMemory, DynamicCheatsheet, Gepa, Ace):
        model = Model(["a"])
        assert answer_stream(built(method, complete=model, setting=QUESTIONS), [], wrong) == []
        assert model.sent == []


@pytest.mark.parametrize(
    ("task", "published", "does"),
    [
        ("game", False, True),
        ("game", True, False),
        ("plan", True, True),
        ("questions", False, False),
    ],
)
def test_a_step_does_something_for_the_kinds_of_task_that_it_names(
    task: Task,
    published: bool,  # noqa: FBT001 (parametrized)
    does: bool,  # noqa: FBT001 (as above)
) -> None:
    """With the published defects for those that the published code knows."""
    model = Model(["new sheet"])
    setting = Setting(task=task)
    method = built(DynamicCheatsheet, complete=model, setting=setting, as_published=published)
    method.learn_episode(Past(decision="D"))
    assert bool(model.sent) is does
