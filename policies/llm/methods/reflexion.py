"""Reflexion: critique and rewrite an answer, and remember what went wrong.

Source: reference SPEC of FirmBench, section 5, and its vectors. A decision for a whole episode is
made in one call, and a lesson is written after every episode: in Table 3 Reflexion learns online.

As published: every turn of a dialogue and of a game counts as a failure, and in a game the final
reply itself is stored as the reflection; the callback after an episode receives shifted arguments,
so that the lesson is written from the figures alone, without the decision.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import Factory, define, evolve, field, frozen

from policies.llm.messages import as_json
from policies.llm.methods.items import Answered, Grade, Item, Past, paragraphs, reply_text
from policies.llm.methods.memoryless import Reviewed, praises
from policies.llm.wires.wire import ModelReply

#: Temperature of critiques, rewritten answers and lessons.
_REVISE = 0.2

#: Lessons that an answer is given, and lessons that are kept for those who read the memory.
_SHOWN, _KEPT = 3, 100

#: Characters of a lesson that are kept.
_LONGEST = 4_000

#: Stored where a critique is empty; an empty lesson of an episode stays empty, as published.
_EMPTY = "(the reflection was empty)"

_CRITIQUE = (
    "You look back at your own answer to the task below. Say in plain text what is wrong or "
    "doubtful in it and what you would do differently. If nothing is, say that it looks good."
)

_REWRITE = (
    "These are your own reflections on your answers so far. Answer again, in the form the task "
    "asks for, without the faults that they name."
)

_LESSON = (
    "An episode has ended. Write one to three sentences that will help to decide better next time: "
    "what to keep, what to change, and by how much. Write nothing else."
)


@frozen(kw_only=True)
class Lesson:
    """The lesson of one failure.

    Attributes:
        text: The reflection.
        success: Whether the episode reached its goal.
        goal: The value of the goal's metric; None if it is not known.
        decision: The decision that it is about; empty for an item of a stream.
        figures: Figures of the episode.
    """

    text: str = ""
    success: bool = False
    goal: float | None = None
    decision: str = ""
    figures: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Reflections:
    """The memory: lessons, the newest last.

    Attributes:
        lessons: The last `_KEPT` of them.
        written: How many there have been.
    """

    lessons: tuple[Lesson, ...] = ()
    written: int = 0

    def add(self, lesson: Lesson) -> "Reflections":
        """Return the memory with one more lesson."""
        return Reflections(lessons=(*self.lessons, lesson)[-_KEPT:], written=self.written + 1)

    @property
    def shown(self) -> tuple[str, ...]:
        """The texts of the last lessons, the newest last."""
        return tuple(lesson.text for lesson in self.lessons[-_SHOWN:])


@define(eq=False, kw_only=True)
class Reflexion(Reviewed):
    """Critiques and rewrites, at most `rounds` times; remembers the last failures."""

    MEMORY: ClassVar[type] = Reflections

    #: The last critique of an answer, by the item's number; 0 outside of a stream.
    _critiques: dict[int, str] = field(default=Factory(dict), init=False)

    def answer(self, item: Item, temperature: float | None = None) -> ModelReply:
        """Return an answer, rewritten until a critique finds no fault or the rounds are used up."""
        self._critiques.pop(item.number, None)
        if self.task == "plan":
            return self.act(item, temperature, self.advice())
        return super().answer(item, temperature)

    def advice(self) -> str:
        shown = self.memory.shown
        return "\n".join(["What you learned from earlier failures:", *shown]) if shown else ""

    def review(self, item: Item, answer: ModelReply) -> str:
        """Return a critique of an answer, which is kept until the next answer."""
        text = f"{item.whole}\n\n# Your answer\n{reply_text(answer) or '(nothing)'}"
        self._critiques[item.number] = critique = self.consult(_CRITIQUE, text, _REVISE)
        return critique

    def approved(self, review: str) -> bool:
        return praises(review, as_published=self.as_published)

    def rewritten(self, item: Item, answer: ModelReply, reviews: list[str]) -> ModelReply:
        text = paragraphs(
            f"# The situation\n{item.situation}",
            f"# Your last answer\n{reply_text(answer) or '(nothing)'}",
            *(f"# Reflection {n}\n{text}" for n, text in enumerate(reviews, 1)),
            _REWRITE,
        )
        return self.rewrite(item, text, _REVISE)

    def step(self, item: Item, reply: ModelReply) -> None:
        """Remember the critique of a turn; as published, also one that approves."""
        critique = self._critiques.get(item.number)
        if critique is None or self.task == "questions":
            return
        if self.as_published:
            self._store(reply_text(reply) if self.task == "game" else critique)
        elif not praises(critique):
            self._store(critique)

    def learn(self, window: Sequence[Answered], _: Grade) -> None:
        """Remember the last critique of every wrong answer, in the order of the items."""
        for each in window:
            if each.outcome.correct is False:
                self._store(self._critiques.get(each.item.number, ""))

    def begin_episode(self) -> None:
        self._critiques.clear()

    @property
    def learns_always(self) -> bool:
        """As published, evaluations write to the memory too."""
        return self.as_published

    def learn_episode(self, past: Past) -> None:
        """Write a lesson on a game or plan, also if it reached its goal; as published, on plans."""
        if self.task not in (("plan",) if self.as_published else ("game", "plan")):
            return
        lesson = self._shifted(past) if self.as_published else self._about(past)
        figures, shown = as_json(dict(lesson.figures)), lesson.decision or "(not known)"
        text = f"# The decision\n{shown}\n\n# What came of it\n{figures}"
        if not self.as_published:
            text = f"# The situation\n{past.situation}\n\n{text}\n{past.outcome.in_words()}"
        written = " ".join(self.consult(_LESSON, text, _REVISE).split())
        self.memory = self.memory.add(evolve(lesson, text=written[:_LONGEST]))

    def _store(self, text: str) -> None:
        self.memory = self.memory.add(Lesson(text=text.strip()[:_LONGEST] or _EMPTY))

    def _about(self, past: Past) -> Lesson:
        """Return a lesson without its text."""
        metric, wanted = self.setting.goal or ("", 0.0)
        value = past.outcome.metrics.get(metric)
        goal = float(value) if isinstance(value, int | float) else None
        success = goal is not None and goal >= wanted
        figures = past.outcome.metrics
        return Lesson(success=success, goal=goal, decision=past.decision, figures=figures)

    def _shifted(self, past: Past) -> Lesson:
        """Return the same as published: the figures are taken for the decision.

        The number of the episode is taken for the figures, so that the goal is never known.
        """
        decision = as_json(dict(past.outcome.metrics))
        return Lesson(decision=decision, figures={"metrics": past.number})
