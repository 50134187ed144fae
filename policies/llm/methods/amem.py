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
from typing import Any, ClassVar

from attrs import define, field
from attrs.validators import ge

from policies.llm.messages import as_json
from policies.llm.methods.items import (
    Answered,
    Grade,
    Item,
    Past,
    Task,
    decision_text,
    explanation,
    paragraphs,
)
from policies.llm.methods.method import Method
from policies.llm.methods.notes import BadNote, Notes, analysis_in, decision_in, noted
from policies.llm.wires.wire import ModelReply

#: Temperature of the calls about notes.
_NOTES = 0.7

#: Of a plan: notes that an answer should be given, how many are added by a general query where
#: there are fewer, and characters of all of them.
_ENOUGH, _MORE, _PLANNED = 2, 2, 4_000

#: Notes that the decision about a new one is shown.
_NEIGHBORS = 5

#: Characters of a question, its context, a decision, and a situation in a note. A game's situation
#: is long, and its end is the present one, by which notes are searched.
_QUESTION, _CONTEXT, _DECISION, _SITUATION = 1_200, 2_000, 800, 2_000

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

_WARNING = "Do not copy a past decision: adapt it to this situation and mend what went wrong."


@define(eq=False, kw_only=True)
class AgenticMemory(Method):
    """Answers with the notes most similar to the question; records outcomes as notes.

    Attributes:
        every: Evolutions after which the index is built again.
        retrieved: Notes that an answer is given.
    """

    MEMORY: ClassVar[type] = Notes
    TEMPERATURE = 0.2
    TEMPERATURES: ClassVar[Mapping[Task, float]] = {"questions": 0.0}
    WINDOW = 20

    every: int = field(default=100, validator=ge(1))
    retrieved: int = field(default=4, validator=ge(0))

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return the answer, in one call.

        Raises:
            BadNote: As published, in a game or dialogue, a retrieved note has a number for a link.
        """
        return self.act(item, temperature, self._recalled(item))

    def step(self, item: Item, reply: ModelReply) -> None:
        """Note a decision of a game, its observation and its reasons, if it gives any."""
        reasons = explanation(reply)
        if self.task != "game" or not reasons:
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

    def learn_episode(self, past: Past) -> None:
        """Note an ended episode other than questions; as published, not a game."""
        if self.task == "interview":
            dialogue = "" if self.as_published else f"{past.situation}\n\n{past.answer}"
            content = paragraphs(past.outcome.revealed, dialogue)
            self.add(content, {"case": past.name, "type": "summary"})
        elif self.task == "plan" or (self.task == "game" and not self.as_published):
            self.add(self._result(past), {"task": past.name, "episode": past.number})

    def add(self, content: str, origin: Mapping[str, Any]) -> None:
        """Have a note analysed and related to its neighbours, and store it.

        Raises:
            BadNote: As published, the analysis or the decision is malformed or lacks a field.
        """
        analysis = self.consult(_ANALYSE, content, _NOTES)
        note = noted(content, origin, analysis_in(analysis, as_published=self.as_published))
        near = self.memory.nearest(content, _NEIGHBORS)
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
            if self.task != "questions":
                raise
            return ""
        text = "\n\n".join(map(self._note_text, found))
        if self.task == "plan":
            return paragraphs(_RECALLED, text[:_PLANNED], _WARNING)
        return paragraphs(_RECALLED, text)

    def _retrieved(self, item: Item) -> list[int]:
        situation = item.situation[-_SITUATION:] if self.task == "game" else item.situation
        found = self._search(situation, self.retrieved)
        if self.task == "plan" and len(found) < _ENOUGH:
            more = self._search(f"{self.setting.role} {_GENERAL}", _MORE)
            found += [index for index in more if index not in found]
        return found

    def _search(self, text: str, count: int) -> list[int]:
        found: list[int] = self.memory.retrieved(text, count, as_published=self.as_published)
        return found

    def _note_text(self, index: int) -> str:
        note = self.memory.notes[index]
        return f"{note.content}\n({note.context}; {', '.join([*note.keywords, *note.tags])})"

    def _result(self, past: Past) -> str:
        """Return the note of a game or a plan."""
        score, parts = past.outcome.score, [f"Episode of: {past.name}"]
        if self.task == "game" and past.situation:
            parts.append(f"Situation: {past.situation[:_SITUATION]}")
        parts.append(f"Decision: {past.decision[:_DECISION]}")
        parts.append(f"Result: {as_json(dict(past.outcome.metrics))}")
        if score is not None:
            parts.append(f"Score: {score:g}")
        return "\n".join(parts)
