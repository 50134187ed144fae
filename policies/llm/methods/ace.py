"""ACE: a playbook of lines that reflections tag as helpful or harmful and a curator adds to.

Source: reference SPEC of FirmBench, section 5, and its vectors. Questions are learned from one by
one with the right answer; in a game each decision is proposed, criticised and revised, and every
fifth one the playbook is curated; a dialogue and a plan are learned from when they have ended.

As published: a stream of questions is first answered as a whole with the playbook as it is, which
is not reported; ids of fewer than three letters are never recognised as cited; and a decision of a
game is revised after an empty critique too.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import Factory, define, evolve, field, frozen
from attrs.validators import ge, optional

from policies.llm.messages import as_json
from policies.llm.methods import playbook as pages
from policies.llm.methods.items import (
    Answered,
    Grade,
    Item,
    Outcome,
    Past,
    Task,
    paragraphs,
    reply_text,
)
from policies.llm.methods.method import Method
from policies.llm.methods.playbook import Playbook
from policies.llm.replies import objects
from policies.llm.wires.wire import ModelReply

#: Temperature of reflections and curation, and of answers that are given again.
_PLAIN = 0.0


@frozen(kw_only=True)
class _Figures:
    """The parts that differ by kind of task.

    Attributes:
        given: The part of the playbook that an answer is given; of a plan, of its lines about the
            topics, or of all where no line is about them.
        revised: Whether an answer is criticised and revised.
        rounds: Times that a wrong answer to a question is given again, or that another is revised.
        period: Questions or decisions of a game after which the playbook is curated.
    """

    given: slice = slice(None)
    revised: bool = True
    rounds: int = 1
    period: int = 1


_FIGURES: Mapping[Task, _Figures] = {
    "game": _Figures(given=slice(6_000), period=5),
    "plan": _Figures(given=slice(-2_500, None), revised=False),
    "interview": _Figures(),
    "questions": _Figures(revised=False, rounds=3),
}

_USING = (
    "Below is a playbook of what was learned so far. Use the lines that fit and cite their ids in "
    "brackets where you do, such as [form-00001].\n\n{}"
)

_REFLECT = (
    "You analyse how a task was worked on: what went wrong or right, why, and what to do "
    "next time. Judge each cited line of the playbook, if any. Reply with one JSON object: "
    '{"reasoning": "...", "error_identification": "...", "root_cause_analysis": "...", '
    '"correct_approach": "...", "key_insight": "...", "bullet_tags": [{"id": "...", "tag": '
    '"helpful" | "harmful" | "neutral"}]}.'
)

_CRITICISE = (
    "You look back at a draft before it is used. Say shortly what should be better about it; write "
    "nothing if it is good as it is."
)

_CURATE = (
    "You keep a playbook of short, general lines for tasks of this kind. Add what the reflection "
    "teaches and the playbook does not say yet; add nothing twice, and nothing about one case "
    "only. The playbook may have {} tokens. Reply with one JSON object: "
    '{{"reasoning": "...", "operations": [{{"type": "ADD", "section": "...", "content": "..."}}]}}.'
)


@define(eq=False, kw_only=True)
class Ace(Method):
    """Answers with a playbook; reflects, and curates it.

    Attributes:
        shows_gold: Whether reflections on questions are given the right answer.
        budget: Tokens of the playbook.
        period: Questions, or decisions of a game, between curations; None for the published number.
    """

    MEMORY: ClassVar[type] = Playbook
    TEMPERATURE = 0.0
    TEMPERATURES: ClassVar[Mapping[Task, float]] = {"game": 0.7, "plan": 0.7}

    shows_gold: bool = True
    budget: int = field(default=80_000, validator=ge(0))
    period: int | None = field(default=None, validator=optional(ge(1)))
    #: Questions that were learned from; critiques of a game's decisions, and that of the last one.
    _learned: int = field(default=0, init=False)
    _reflections: list[str] = field(default=Factory(list), init=False)
    _latest: str | None = field(default=None, init=False)
    _curated: bool = field(default=False, init=False)

    # -- answering ---------------------------------------------------------------------------------

    @property
    def times(self) -> int:
        return self._figures.rounds if self.rounds is None else self.rounds

    @property
    def _figures(self) -> _Figures:
        return _FIGURES[self.task]

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer; in games and dialogues, one that was criticised and revised."""
        self._latest = None
        answer = self.act(item, temperature, self._advice())
        for _ in range(self.times if self._figures.revised else 0):
            draft, answer = answer, self._revised(item, answer, temperature)
            if answer is draft:
                break
        return answer

    def _advice(self, *further: str) -> str:
        text, topics = self.memory.text, self.setting.topics
        # Without topics no line fits, and with topics that no line names the whole is given.
        text = (pages.lines_with(text, topics) or text)[self._figures.given]
        return paragraphs(_USING.format(text) if text else "", *further)

    def _revised(self, item: Item, draft: ModelReply, temperature: float | None) -> ModelReply:
        """Return a draft revised after a critique; if that is empty, the draft by default."""
        text = f"# The question\n{item.question}\n\n# The draft\n{reply_text(draft)}"
        critique = self.consult(_CRITICISE, text, _PLAIN)
        is_game = self.task == "game"
        if not (critique.strip() or (self.as_published and is_game)):
            return draft
        self._latest = critique
        said = f"# What was said about a first draft\n{critique}"
        if is_game:
            said = f"# The draft\n{reply_text(draft)}\n\n# What was said about it\n{critique}"
        # The revision is given the playbook of the draft, though it may be curated in between.
        advice = self._advice(said)
        if is_game:
            self._curate_steps(item, critique)
        revised = self.act(item, temperature, advice)
        return draft if _acts(draft) and not _acts(revised) else revised

    # -- learning ----------------------------------------------------------------------------------

    def begin_stream(self, items: Sequence[Item]) -> None:
        """As published, answer all items once with the playbook as it is."""
        self._learned = 0
        if self.as_published and self.learns:
            for item in items:
                self.answer(item)

    def step(self, _: Item, __: ModelReply) -> None:
        """Count a decision of a game; after the last one of a period the count begins anew."""
        if self.task == "game" and self._latest is not None:
            self._reflections = [] if self._curated else [*self._reflections, self._latest]
            self._latest, self._curated = None, False

    def learn(self, window: Sequence[Answered], grade: Grade) -> None:
        """Learn from questions one by one: answer, reflect, answer again, curate."""
        for each in window:
            self._learn_question(each.item, grade)

    def learn_apart(self, items: Sequence[Item], grade: Grade) -> None:
        """Learn from questions one by one; answers before that would serve nothing."""
        for item in items:
            self._learn_question(item, grade)

    def begin_episode(self) -> None:
        self._reflections, self._latest, self._curated = [], None, False

    def learn_episode(self, past: Past) -> None:
        """Reflect on an ended episode other than questions, and curate; as published, no game."""
        if self.task == "questions" or (self.task == "game" and self.as_published):
            return
        came = past.outcome.in_words()
        subject = ended = f"# The decision\n{past.decision}\n\n# What came of it\n{came}"
        if self.task == "game":
            ended = f"# The situation\n{past.situation}\n\n{subject}"
        elif self.task == "interview":
            subject = f"# The case\n{past.outcome.revealed}"
            dialogue = f"# The dialogue\n{past.situation}\n\n# The last reply\n{past.answer}"
            ended = f"{subject}\n\n{dialogue}"
        self._curate(*self._reflected(self.memory.text, ended), subject)

    def _learn_question(self, item: Item, grade: Grade) -> None:
        reply = self.answer(item)
        outcome = grade(item, reply)
        text = self.memory.text
        text, reflection = self._reflected(text, self._worked_on(text, item, reply, outcome))
        for number in range(1, self.times + 1):
            if outcome.correct:
                break
            advice = self._advice(f"# What was said about your last answer\n{reflection}")
            reply = self.act(item, _PLAIN, advice)
            outcome = grade(item, reply)
            if not outcome.correct and number < self.times:
                worked = self._worked_on(text, item, reply, outcome)
                text, reflection = self._reflected(text, worked)
        self._learned += 1
        if self._learned % self._every == 0:
            self._curate(text, reflection, item.context or item.question)
        else:
            self.memory = evolve(self.memory, text=text)
        # The published code answers once more, for its log alone.
        if self.as_published:
            self.answer(item)

    def _reflected(self, playbook: str, text: str) -> tuple[str, str]:
        reflection = self.consult(_REFLECT, text, _PLAIN)
        return pages.with_tags(playbook, pages.tags_in(reflection)), reflection

    def _worked_on(self, playbook: str, item: Item, reply: ModelReply, outcome: Outcome) -> str:
        """Return how a question was worked on, with the lines of the playbook that were cited."""
        cited = pages.cited_ids(reply_text(reply), as_published=self.as_published)
        return paragraphs(
            f"# The question\n{item.question}",
            f"# How it was worked on\n{reply_text(reply)}",
            f"# The answer\n{outcome.answer}",
            f"# What came of it\n{outcome.in_words(with_gold=self.shows_gold)}",
            f"# Lines that were cited\n{pages.lines_of(playbook, cited) or '(none)'}",
        )

    @property
    def _every(self) -> int:
        return self.period or self._figures.period

    def _curate_steps(self, item: Item, critique: str) -> None:
        """Curate after a period of decisions, once even if the last is asked for again."""
        reflections = [*self._reflections, critique]
        if self.learns and not self._curated and len(reflections) >= self._every:
            self._curate(self.memory.text, "\n\n".join(reflections), item.situation)
            self._curated = True

    def _curate(self, playbook: str, reflection: str, context: str) -> None:
        """Have lines added to a playbook, which becomes the memory."""
        text = paragraphs(
            f"# The playbook\n{playbook}",
            f"# Its counts\n{as_json(pages.statistics(playbook))}",
            f"# The reflection\n{reflection}",
            f"# What it is about\n{context}",
        )
        reply = self.consult(_CURATE.format(self.budget), text, _PLAIN, phase="memory")
        operations = pages.operations_in(reply) or []
        text, next_id = pages.add(playbook, operations, self.memory.next_id, self.budget)
        self.memory = evolve(self.memory, text=text, next_id=next_id)


def _acts(reply: ModelReply) -> bool:
    return bool(reply.calls or objects(reply.text))
