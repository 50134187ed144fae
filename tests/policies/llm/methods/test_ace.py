"""ACE where the published traces do not reach: periods, budgets, empty critiques."""

from support.method_model import PLAN, QUESTIONS, Model, game, question
from support.method_traces import answer_stream, built

from policies.llm.methods.ace import Ace
from policies.llm.methods.items import Outcome, Past, Setting
from policies.llm.methods.playbook import Playbook, statistics


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
