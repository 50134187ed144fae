"""AMEM: notes of what happened, analysed, linked and rewritten by a model, and searched by meaning.

Source: reference SPEC of FirmBench, section 5, and its vectors. A note costs two calls: one finds
keywords, context and tags, one decides what it changes in itself and the five notes most like it.
A game is noted decision by decision where the decision says why, a question with its right answer,
a dialogue and a plan when they have ended.

As published: a note with a number for a link can never be read again, which leaves a question
without notes and ends a game; a malformed analysis or decision loses the note; and the note of a
dialogue holds the text of its case, but not the dialogue.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from attrs import define, field
from attrs.validators import ge

from policies.llm.chat.messages import as_json
from policies.llm.method_parts.items import (
    Answered,
    Grade,
    Item,
    Past,
    decision_text,
    explanation,
    paragraphs,
)
from policies.llm.method_parts.method import Method
from policies.llm.method_parts.notes import BadNote, Notes, analysis_in, decision_in, noted
from policies.llm.method_parts.setting import only_for, per_task
from policies.llm.wires.wire import ModelReply

#: Temperature of the calls about notes.
_NOTES = 0.7

#: Notes that an answer should be given, and how many are added by a general query where there are
#: fewer.
_ENOUGH, _MORE = per_task(0, plan=2), 2

#: Notes that the decision about a new one is shown.
_NEIGHBORS = 5

#: Evolutions after which the index is built again.
_EVERY = 100

#: Characters of a question, its context, a decision and an episode's situation in a note, and of
#: the notes that a plan is given.
_QUESTION, _CONTEXT, _DECISION, _SITUATION = 1_200, 2_000, 800, 2_000
_RECALLED_MOST = per_task(None, plan=4_000)

#: Where the part of a situation begins by which notes are searched: of a long game its end is the
#: present situation.
_SEARCHED = per_task(None, game=-_SITUATION)

#: Characters of an ended episode's situation in its note.
_NOTED_SITUATION = per_task(0, game=_SITUATION)

#: As published: whether a note that cannot be read again ends the episode.
_ENDS_EPISODE = per_task(default=True, questions=False)

_GENERAL = "what was decided in earlier episodes and what came of it"

_ANALYSE = (
    "Describe the note below so that it can be found again. Reply with one JSON object: "
    '{"keywords": ["..."], "context": "one sentence on what it is about", "tags": ["..."]}.'
)

_EVOLVE = (
    "A new note joins a collection. Decide from it and the notes most like it whether anything "
    'should change. "strengthen" gives the new note links to others and new tags; '
    '"update_neighbor" gives the notes below, in their order, new contexts and tags. Reply with '
    'one JSON object: {"should_evolve": true or false, "actions": ["strengthen", '
    '"update_neighbor"], "suggested_connections": ["number of a note"], "tags_to_update": ["..."], '
    '"new_context_neighborhood": ["..."], "new_tags_neighborhood": [["..."]]}.'
)

_RECALLED = "Notes of what happened earlier; use what fits:"

_WARNING = per_task(
    "", plan="Do not copy a past decision: adapt it to this situation and mend what went wrong."
)


@define(eq=False, kw_only=True)
class AgenticMemory(Method):
    """Answers with the notes most similar to the question; records outcomes as notes.

    Attributes:
        every: Evolutions after which the index is built again.
        retrieved: Notes that an answer is given.
    """

    MEMORY: ClassVar[type] = Notes
    TEMPERATURES = per_task(0.2, questions=0.0)
    WINDOW: ClassVar[int] = 20

    every: int = field(default=_EVERY, validator=ge(1))
    retrieved: int = field(default=4, validator=ge(0))

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer, in one call.

        Raises:
            BadNote: As published, in a game or dialogue, a retrieved note has a number for a link.
        """
        return self.act(item, temperature, self._recalled(item))

    @only_for("game")
    def step(self, item: Item, reply: ModelReply) -> None:
        """Note a decision of a game, its observation and its reasons, if it gives any."""
        reasons = explanation(reply)
        if not reasons:
            return
        parts = [
            f"Situation: {item.question[-_SITUATION:]}",
            f"Decision: {decision_text(reply, self.setting.keys)[:_DECISION]}",
            f"Reasons: {reasons[:_DECISION]}",
        ]
        origin = {"role": self.setting.role, "note": len(self.memory.notes) + 1}
        self.add("\n".join(parts), origin)

    def learn(self, window: Sequence[Answered], _: Grade) -> None:
        """Note every question with its context, the own answer and the right one."""
        for each in window:
            item, outcome = each.item, each.outcome
            parts = [
                f"Question: {item.question[:_QUESTION]}",
                f"Context: {item.context[:_CONTEXT]}",
                f"Own answer: {outcome.answer}",
                f"Right answer: {outcome.gold}",
                f"The own answer was {'right' if outcome.correct else 'wrong'}.",
            ]
            try:
                self.add("\n".join(parts), {"type": "question", "number": item.number})
            except BadNote:
                continue

    @only_for("game", "plan", "interview", as_published=("plan", "interview"))
    def learn_episode(self, past: Past) -> None:
        """Note an ended episode; as published, not a game."""
        self.add(*_EPISODE_NOTE[self.task](self, past))

    def add(self, content: str, origin: Mapping[str, Any]) -> None:
        """Have a note analysed and related to its neighbours, and store it.

        Raises:
            BadNote: As published, the analysis or the decision is malformed or lacks a field.
        """
        analysis = self.consult(_ANALYSE, content, _NOTES)
        found = analysis_in(analysis, as_published=self.as_published)
        note = noted(content, origin, found)
        near = self.memory.nearest(content, _NEIGHBORS, self.embed)
        neighbors = "\n\n".join(f"# Note {index}\n{self._note_text(index)}" for index in near)
        text = f"# The new note\n{note.as_rebuilt}\n\n{neighbors or '(there is no other note)'}"
        decided = self.consult(_EVOLVE, text, _NOTES)
        decision = decision_in(decided, as_published=self.as_published)
        self.memory = self.memory.added(note, decision, near, self.every)

    def _recalled(self, item: Item) -> str:
        """Return the notes for an item as an advice; empty if no note is found."""
        if not self.memory.notes:
            return ""
        try:
            found = self._retrieved(item)
        except BadNote:
            if _ENDS_EPISODE[self.task]:
                raise
            return ""
        text = "\n\n".join(map(self._note_text, found))[: _RECALLED_MOST[self.task]]
        return paragraphs(_RECALLED, text, _WARNING[self.task])

    def _retrieved(self, item: Item) -> list[int]:
        search = partial(self.memory.retrieved, embed=self.embed, as_published=self.as_published)
        found: list[int] = search(item.situation[_SEARCHED[self.task] :], self.retrieved)
        if len(found) < _ENOUGH[self.task]:
            more = search(f"{self.setting.role} {_GENERAL}", _MORE)
            found += [index for index in more if index not in found]
        return found

    def _note_text(self, index: int) -> str:
        note = self.memory.notes[index]
        return f"{note.content}\n({note.context}; {', '.join([*note.keywords, *note.tags])})"


def _of_decision(method: AgenticMemory, past: Past) -> tuple[str, dict[str, Any]]:
    """Return the note of a game or a plan, and its origin."""
    situation = past.situation[: _NOTED_SITUATION[method.task]]
    score = past.outcome.score
    parts = [
        f"Episode of: {past.name}",
        f"Situation: {situation}" if situation else "",
        f"Decision: {past.decision[:_DECISION]}",
        f"Result: {as_json(dict(past.outcome.metrics))}",
        "" if score is None else f"Score: {score:g}",
    ]
    origin = {"task": past.name, "episode": past.number}
    return "\n".join(part for part in parts if part), origin


def _of_dialogue(method: AgenticMemory, past: Past) -> tuple[str, dict[str, Any]]:
    """Return the note of an interview, and its origin."""
    dialogue = "" if method.as_published else f"{past.situation}\n\n{past.answer}"
    return paragraphs(past.outcome.revealed, dialogue), {"case": past.name, "type": "summary"}


_EPISODE_NOTE = per_task(_of_decision, interview=_of_dialogue)
