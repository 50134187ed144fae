"""An episode: what arrives when, what the analyst sees, and how the answers are counted."""

import math
from collections.abc import Sequence

import msgspec
import pytest
from attrs import evolve

from desim import Policy, Run, play
from desim.errors import WrongAction
from models.reasoning import Answer, Item, Question, ReasoningTasks, Reply
from models.reasoning.desk import Desk
from models.reasoning.seat import Command

CHOICE = ("one", "two", "three", "four")

ITEMS = (
    Item(
        id="a",
        task="finer",
        context="c",
        answer="A1,B2,C3,D4",
        capability="Domain Knowledge",
        difficulty=8,
    ),
    Item(
        id="b",
        task="FinKnow",
        question="q",
        answer="B",
        options=CHOICE,
        capability="Domain Knowledge",
        difficulty=3,
    ),
    Item(
        id="c",
        task="FinKnow",
        question="q",
        answer="C",
        options=CHOICE,
        capability="Domain Knowledge",
        difficulty=3.5,
    ),
    Item(
        id="d",
        task="formula",
        question="q",
        answer="40",
        capability="Complex Reasoning",
        difficulty=1,
    ),
)


class Given(Policy):
    """Gives one command after the other and keeps what it saw."""

    def __init__(self, *commands: Command | str) -> None:
        self.commands = [one if not isinstance(one, str) else Answer(one) for one in commands]
        self.seen: list[Question] = []

    def decide(self, question: Question) -> Command:
        """Return the next command."""
        self.seen.append(question)
        return self.commands[len(self.seen) - 1]


def world(items: Sequence[Item] = ITEMS, **changes: object) -> ReasoningTasks:
    """Return a world of a few items."""
    return ReasoningTasks(items=tuple(items), **changes)


def ended(model: ReasoningTasks, *answers: Command | str) -> Desk:
    """Return the state after an episode."""
    run, given = Run(model, 0), Given(*answers)
    while handed := run.advance():
        for decision in handed:
            run.answer(decision, given.decide(decision.observation))
    assert isinstance(run.state, Desk)
    return run.state


ANSWERS = ("A1,B2,x,D4", "²", "[[C]]", "41")


@pytest.mark.parametrize("exceptions", ["wrong", "as_published"])
def test_the_score_is_the_mean_of_the_parts_of_the_items(exceptions: str) -> None:
    """However many labels an item has, and of those only that count."""
    more = evolve(ITEMS[0], id="e", answer="A1,B2")
    model = world((*ITEMS, more), exceptions=exceptions)
    desk = ended(model, *ANSWERS, "A1,B2")
    parts = model.item_results(desk)
    assert math.fsum(part for part, _ in parts.values()) / len(parts) == pytest.approx(
        model.score(desk)
    )
    assert [right for _, right in parts.values()].count(True) == 2
    # Two items with 5 of 6 labels right: 3 of 4 are a third of a label below that, twice a sixth.
    assert parts["a"][0] == pytest.approx(5 / 6 - 1 / 3 * 2 / 6)
    assert model.item_groups["a"] == ("domain_knowledge", "domain_knowledge_hard")


def test_accuracy_counts_labels_of_taggings_and_weighs_tasks_by_items() -> None:
    """Three of four labels, one of two letters, and no number: (3/4 + 2 * 1/2 + 0) / 4."""
    metrics = play(world(), {"analyst": Given(*ANSWERS)}).result.metrics
    assert metrics["accuracy"] == (0.75 + 2 * 0.5 + 0) / 4
    assert (metrics["right_finer"], metrics["counted_finer"]) == (3, 4)
    assert (metrics["right_tagging"], metrics["counted_tagging"]) == (3, 4)
    assert (metrics["right_finknow"], metrics["counted_finknow"]) == (1, 2)
    assert (metrics["right"], metrics["answered"], metrics["raised"]) == (1, 4, 1)


def test_a_failed_scorer_counts_as_wrong_unless_as_published() -> None:
    """Published: left out of the accuracy of the task, and right in that of the capability."""
    wrong = play(world(), {"analyst": Given(*ANSWERS)}).result.metrics
    published = play(world(exceptions="as_published"), {"analyst": Given(*ANSWERS)}).result.metrics
    assert (wrong["accuracy_finknow"], published["accuracy_finknow"]) == (1 / 2, 1.0)
    assert (wrong["evaluated"], published["evaluated"]) == (4, 3)
    assert (wrong["right_domain_knowledge"], wrong["counted_domain_knowledge"]) == (1, 3)
    assert (published["right_domain_knowledge"], published["counted_domain_knowledge"]) == (2, 3)
    assert published["accuracy"] == (0.75 + 1 + 0) / 3


@pytest.mark.parametrize("preset", ReasoningTasks.presets)
def test_answers_that_raise_do_not_raise_the_score(preset: str) -> None:
    """One right answer and `[[inf]]` otherwise score one of all, in every preset."""
    model = ReasoningTasks.preset(preset, tasks="multiple_choice")
    answers = ["[[inf]]"] * len(model.chosen_items)
    answers[0] = f"[[{model.chosen_items[0].answer}]]"
    result = play(model, {"analyst": Given(*answers)}).result
    assert result.score == 1 / len(answers)
    assert result.metrics["raised"] == len(answers) - 1


def test_capabilities_are_split_by_difficulty() -> None:
    """At 3 and at 6; complex reasoning is not split."""
    metrics = play(world(), {"analyst": Given(*ANSWERS)}).result.metrics
    counted = {name: count for name, count in metrics.items() if name.startswith("counted_")}
    assert {name for name in counted if "knowledge" in name or "complex" in name} == {
        "counted_domain_knowledge",
        "counted_domain_knowledge_easy",
        "counted_domain_knowledge_middle",
        "counted_domain_knowledge_hard",
        "counted_complex_reasoning",
    }


def test_an_answer_is_taken_as_it_is_and_a_reply_is_searched() -> None:
    """A reply that states no answer has none."""
    replies = (
        Reply('{"final_answer": "A1,B2,C3,D4"}'),
        Reply("Finish[B]"),
        Reply("[[C]]"),
        Answer("40"),
    )
    assert [one.correct for one in ended(world(), *replies).grades] == [True, True, False, True]


# -- time and windows ------------------------------------------------------------------------------


def test_items_move_from_waiting_to_their_outcome() -> None:
    """Two at a time; an answer is posted when its time is over."""
    book = ended(world(window=3, seconds_per_item=10), *ANSWERS).book
    moves = [
        (entry.time, entry.kind, {name: units for name, units in entry.amounts.items() if units})
        for entry in book.journal
    ]
    assert moves == [
        (0, "open", {"waiting": 4, "given": -4}),
        (0, "arrival", {"waiting": -3, "under_way": 3}),
        (10, "answer", {"under_way": -1, "wrong": 1}),
        (20, "answer", {"under_way": -1, "raised": 1}),
        (30, "answer", {"under_way": -1, "right": 1}),
        (30, "arrival", {"waiting": -1, "under_way": 1}),
        (40, "answer", {"under_way": -1, "wrong": 1}),
    ]


# -- what the analyst sees -------------------------------------------------------------------------


def test_outcomes_are_shown_after_the_last_answer_of_a_window() -> None:
    """Not before, and only in a world with feedback."""
    given, silent = Given(*ANSWERS), Given(*ANSWERS)
    play(world(window=2, feedback=True), {"analyst": given})
    play(world(window=2), {"analyst": silent})
    shown = [[(one.id, one.correct, one.answer) for one in seen.feedback] for seen in given.seen]
    window = [("a", False, "A1,B2,C3,D4"), ("b", None, "B")]
    assert shown == [[], [], window, window]
    assert [seen.feedback for seen in silent.seen] == [(), (), (), ()]


@pytest.mark.parametrize("name", ["published", "paper", "online", "small"])
def test_twins_that_differ_in_hidden_answers_look_the_same(name: str) -> None:
    """Answers and labels of items whose outcome is not shown change no observation."""
    model = ReasoningTasks.preset(name, limit=20)
    hidden = 15 if model.feedback else 0
    items = list(model.chosen_items)
    items[hidden:] = [
        evolve(one, answer="another", capability="", difficulty=None) for one in items[hidden:]
    ]
    given, twin = Given(*["[[A]]"] * 20), Given(*["[[A]]"] * 20)
    play(model, {"analyst": given})
    play(evolve(model, items=tuple(items)), {"analyst": twin})
    assert msgspec.json.encode(given.seen) == msgspec.json.encode(twin.seen)
    assert (len(given.seen), bool(given.seen[-1].feedback)) == (20, bool(hidden))


def test_tables_show_outcomes_that_the_analyst_knows() -> None:
    """None before the window is over, all when the episode is."""
    model = world(window=2, feedback=True)
    run = Run(model, 0)
    for text in ANSWERS[:3]:
        (decision,) = run.advance()
        run.answer(decision, Answer(text))
    run.advance()
    rows = model.tables(run.state, "analyst")["answers"]
    assert [row["outcome"] for row in rows] == ["wrong", "raised", ""]
    assert [row["right_answer"] for row in rows] == ["A1,B2,C3,D4", "B", ""]
    rows = world().tables(ended(world(), *ANSWERS), "analyst")["answers"]
    assert [row["outcome"] for row in rows] == ["wrong", "raised", "right", "wrong"]


# -- hostile answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["x" * 10_000_000, 3, None, "\ud800"], ids=lambda t: repr(t)[:9])
def test_an_answer_is_a_text_of_limited_length(text: object) -> None:
    """Ten megabytes, no text, and half a character are no answers."""
    run = Run(world(), 0)
    (decision,) = run.advance()
    with pytest.raises(WrongAction, match="expected Answer or Reply"):
        run.answer(decision, {"do": "answer", "text": text})
    run.answer(decision, {"do": "answer", "text": "A1"})
