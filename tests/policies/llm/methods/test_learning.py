"""What methods learn where the published traces do not reach: series, evaluations, defects."""

from typing import Any

import pytest
from support.method_model import PLAN, QUESTIONS, Model, game, question, wrong
from support.method_traces import answer_stream, asking, built

from policies.llm.methods.ace import Ace
from policies.llm.methods.amem import AgenticMemory
from policies.llm.methods.dynamic_cheatsheet import Cheatsheet, DynamicCheatsheet
from policies.llm.methods.gepa import Gepa
from policies.llm.methods.items import Item, Outcome, Past, Setting, Task
from policies.llm.methods.notes import Note, Notes
from policies.llm.methods.reflexion import Reflexion
from policies.llm.wires.budget import Spent
from policies.llm.wires.wire import ModelReply


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


def test_a_sheet_outside_of_a_stream_is_about_the_question_at_hand() -> None:
    """As behind a router, which numbers no questions."""
    model = Model(["<cheatsheet>S</cheatsheet>"])
    method = built(DynamicCheatsheet, complete=model, setting=QUESTIONS)
    for text in ("apples", "pears"):
        method.answer(asking(text))
        assert text in model.sent[-2]


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
