"""The reasoning tasks with a language model: its prompts, and the methods in a stream of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from support.scripted import Scripted, player, seat_of, worded
from support.stub import Served, serving, text

from desim import play, play_series, replay, resume
from desim.errors import UsageError
from models.reasoning.item import Item
from models.reasoning.model import ReasoningTasks
from models.reasoning.seat import Reply
from policies.llm.adapter import Llm
from policies.llm.methods.build import METHODS, learning_at
from policies.llm.options import LLMOptions
from policies.llm.wires.budget import CallLimits
from policies.llm.wires.wire import ModelReply

#: Cheap to score, alike enough to be similar, and different in their answers.
ITEMS = tuple(
    Item(
        id=f"{split}{n}",
        task="formula",
        split=split,
        question=f"What is {n} plus {n} in the books of {split}?",
        context=f"Ledger {n}" if n % 2 else "",
        answer=f"{2 * n}.0",
    )
    for split, count in (("test", 17), ("train", 4))
    for n in range(count)
)
GAME = ReasoningTasks(items=ITEMS, feedback=True)
_SUM = re.compile(r"What is (\d+) plus")

#: A reply that every call of every method can live with.
ALL = '{"reasoning": "r", "final_answer": "%s", "is_correct": true, "bullet_tags": []}'


def answering(messages: list[dict[str, Any]], *, wrong: int = 3) -> ModelReply:
    """Answer the last sum in a request; every *wrong*-th one wrongly."""
    numbers = _SUM.findall(messages[-1]["content"])
    n = int(numbers[-1]) if numbers else 0
    return worded(ALL % (2 * n + (n % wrong == 0)))


def seated(
    game: ReasoningTasks = GAME, method: str = "", seed: int = 0, **more: Any
) -> tuple[Llm, Scripted]:
    """Return a policy at the analyst's seat, its model a function of the request."""
    seat = evolve(seat_of(game), seed=seed)
    limits = CallLimits(max_calls=more.pop("max_calls", None))
    llm, scripted = player(seat, lambda _: worded(""), limits, method=method)
    scripted.script = lambda n: answering(scripted.sent[n])
    if method:
        options = LLMOptions(model="scripted", method=method, **more)
        llm.learning = learning_at(options, seat, llm.conversation, llm.metered)
        assert llm.learning is not None
        llm.complete = llm.learning.method
    return llm, scripted


# -- the conversation ------------------------------------------------------------------------------


def test_the_question_follows_its_context_and_instruction() -> None:
    """Options have letters; tagging and formula value have no instruction."""
    game = ReasoningTasks.preset("small")
    llm, _ = seated(game)
    for seen in game.public_items:
        told, *rest = llm.conversation.question(seen).messages
        assert (told["role"], "final_answer" in told["content"]) == ("system", True)
        assert {each["role"] for each in rest} == {"user"}
        assert [each["content"] for each in rest[:-1]] == [seen.context] * bool(seen.context)
        asked_for = rest[-1]["content"]
        assert asked_for.startswith(
            f"{seen.instruction}\n\n" if seen.instruction else seen.question
        )
        assert bool(seen.instruction) == (seen.category not in ("tagging", "formula_value"))
        assert all(f"{'ABCDEF'[n]}. {each}" in asked_for for n, each in enumerate(seen.options))


def test_the_whole_reply_is_the_action() -> None:
    """Also one that is no JSON, empty, or longer than an action may be; none is asked for again."""
    replies = ['{"final_answer": "2"}', "The final answer is 4", "", "x" * 200_000]
    llm, scripted = seated()
    scripted.script = lambda n: worded(replies[n % 4])
    episode = play(GAME, {"analyst": llm})
    assert len(scripted.sent) == len(episode.steps) == 17
    assert [step.action for step in episode.steps[:3]] == [Reply(each) for each in replies[:3]]
    assert len(episode.steps[3].action.text) == 100_000
    assert episode.steps[3].notes["usage"]["repairs"] == 1


def test_what_the_conversation_cannot_do_is_refused() -> None:
    """Tools, and a history of questions that do not depend on each other."""
    for options in ({"mode": "tools"}, {"history": 3}):
        with pytest.raises(UsageError, match="was given"):
            seated_with(options)
    fields = {"": {"temperature": 0.0}, "ace": {}}
    for method, expected in fields.items():
        assert seated(method=method)[0].conversation.request_fields == expected


def seated_with(options: dict[str, Any]) -> Llm:
    """Return a policy with options of its conversation."""
    return player(seat_of(GAME), lambda _: worded(""), **options)[0]


def test_a_reply_is_graded_like_the_world_does() -> None:
    """With the right answer, and the answer as it was extracted."""
    llm, _ = seated(method="cot")
    assert llm.learning is not None
    assert llm.learning.grade is not None
    episode = play(GAME, {"analyst": llm})
    right = []
    for step, question in zip(episode.steps, llm.conversation.stream(), strict=True):
        item = llm.learning._item(question, 1)
        outcome = llm.learning.grade(item, ModelReply(step.action.text))
        assert outcome.gold == f"{2 * (step.observation.number - 1)}.0"
        right.append(outcome.correct)
    assert sum(map(bool, right)) / 17 == episode.score == pytest.approx(11 / 17)


def test_an_outcome_is_hidden_where_the_world_gives_no_feedback() -> None:
    """Except of training items; the sheet alone, which needs no outcome, then changes."""
    for method, learns in (("dynamic_cheatsheet", True), ("reflexion", False), ("amem", False)):
        llm, _ = seated(evolve(GAME, feedback=False), method)
        play(evolve(GAME, feedback=False), {"analyst": llm})
        assert llm.learning is not None
        assert (llm.learning.method.memory != type(llm.learning.method).MEMORY()) is learns
        told = [
            llm.learning.grade(llm.learning._item(question, 1), worded("The final answer is 1"))
            for questions in (llm.conversation.stream(), llm.conversation.training())
            for question in questions
        ]
        assert [each.correct for each in told] == [None] * 17 + [False] * 4
        assert [bool(each.gold) for each in told] == [False] * 17 + [True] * 4
        assert {each.answer for each in told} == {"1"}


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        each
        if each in ("cot", "reflexion", "debate")
        else pytest.param(each, marks=pytest.mark.slow)
        for each in METHODS
    ],
)
def test_every_method_plays_the_small_preset(method: str, tmp_path: Path) -> None:
    """On a scripted server; the record replays to the same ledger, also resumed from a cut."""

    def script(_: int, body: dict[str, Any]) -> Served:
        return text(answering(body["messages"]).text)

    game = ReasoningTasks.preset("small", feedback=True)
    with serving(script) as stub:
        # Of the published budget of an evolution only the number of calls would be more.
        spec = f"llm,model=stub,base_url={stub.url},method={method},max_calls=120"
        whole = play(game, spec, record=tmp_path / "whole.jsonl")
        sent = list(stub.requests)
        lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
        file = tmp_path / "cut.jsonl"
        cut = 2 * len(lines) // 3
        # A request without a reply is sent again, and counts twice in the limit of calls.
        cut += b'"entry":{"request":' in lines[cut - 1]
        file.write_bytes(b"".join(lines[:cut]))
        replies = sum(b'"entry":{"reply":' in line for line in lines[:cut])
        stub.requests[:] = sent[:replies]
        resumed = resume(file, trust=True)
        assert stub.requests == sent
    assert len(whole.steps) == 20
    assert whole.ended == "all answered"
    assert resumed.score == whole.score
    for each in (file, tmp_path / "whole.jsonl"):
        assert replay(each).ledger_digest == whole.ledger_digest


def test_the_cheatsheet_knows_all_questions_from_the_start() -> None:
    """Similar questions are found among those to come, with the answers given so far."""
    for order in ("given", "shuffled"):
        game = evolve(GAME, order=order)
        llm, scripted = seated(game, "dynamic_cheatsheet")
        episode = play(game, {"analyst": llm}, 5)
        curated = [sent for sent in scripted.sent if "cheatsheet" in sent[0]["content"]]
        assert "(none yet)" in curated[0][-1]["content"]
        assert len(set(_SUM.findall(curated[0][-1]["content"]))) == 4
        assert llm.learning is not None
        answers = llm.learning.method._answers
        assert {*answers} == {*range(1, 18)}
        for number, question in enumerate(llm.conversation.stream(), 1):
            n = int(_SUM.findall(question.messages[-1]["content"])[0])
            assert json.loads(answers[number])["final_answer"] == str(2 * n + (n % 3 == 0))
        assert len(episode.steps) == 17


def asked(scripted: Scripted) -> list[str]:
    """Return the last message of every request."""
    return [sent[-1]["content"] for sent in scripted.sent]


def test_offline_learning_reads_the_training_items_first() -> None:
    """Once, before the first question; the items that are tested change nothing."""
    llm, scripted = seated(method="ace", learning="offline", rounds=1)
    assert llm.learning is not None
    memories = []

    def script(n: int) -> ModelReply:
        assert llm.learning is not None
        memories.append(llm.learning.method.memory)
        return answering(scripted.sent[n])

    scripted.script = script
    play_series(GAME, {"analyst": llm}, range(2))
    tested = [bool(re.search("books of test", each)) for each in asked(scripted)]
    first = tested.index(True)
    assert all("books of train" in each for each in asked(scripted)[:1])
    assert 0 < first < len(tested) - 17
    assert all(each == memories[first] for each in memories[first:])
