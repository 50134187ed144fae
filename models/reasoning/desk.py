"""The analyst's desk during an episode: windows of items arrive, and are answered one by one."""

import hashlib
from collections.abc import Generator, Sequence
from typing import Any

from desim import World
from ledgers.book import Book, Memo
from models.reasoning.item import INSTRUCTIONS, Item
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded
from models.reasoning.scoring.grade import grade
from models.reasoning.seat import ANALYST, Command, Feedback, Question, Reply

# Accounts of the book, which holds one unit for each item: not arrived, arrived, answered (the
# scorer of a raised one has failed), and the account against which the items are posted.
WAITING, UNDER_WAY, GIVEN = "waiting", "under_way", "given"
_OUTCOMES = {True: "right", False: "wrong", None: "raised"}


class Desk:
    """The state of an episode.

    Attributes:
        items: The items in the order in which they arrive.
        grades: The grades of the items answered so far, in that order.
        book: One unit for each item, on the account of its state.
        ledgers: Those that enter the digest.
    """

    def __init__(self, world: World, params: ReasoningParams) -> None:
        self.world = world
        self.params = params
        items = list(params.chosen_items)
        self.items = _shuffled(world, items) if params.order == "shuffled" else items
        self.grades: list[Graded] = []
        self.book = Book(WAITING, UNDER_WAY, *_OUTCOMES.values(), GIVEN, digits=0)
        self.ledgers = (self.book,)
        opened = {WAITING: len(items), GIVEN: -len(items)}
        self.book.post(world.now, Memo("the items of the episode", "open"), opened)
        world.process(self._work())

    def _work(self) -> Generator[Any, Any, None]:
        """Answer window after window; an answer is posted when the time that it takes is over."""
        items, window = self.items, self.params.window
        for first in range(0, len(items), window):
            count = min(window, len(items) - first)
            memo = Memo(f"{count} items arrive", "arrival")
            self.book.post(self.world.now, memo, {WAITING: -count, UNDER_WAY: count})
            for at in range(first, first + count):
                command: Command = yield self.world.ask(ANALYST, self._observe)
                yield self.world.timeout(self.params.seconds_per_item)
                self._answer(items[at], command)
        self.world.end("all answered")

    def redraw(self) -> None:
        """Shuffle the items again that the analyst has not seen."""
        if self.params.order == "shuffled":
            seen = len(self.grades) + 1
            self.items[seen:] = _shuffled(self.world, self.items[seen:])

    def answers(self) -> list[dict[str, Any]]:
        """Return the items answered so far; outcomes are empty until they are shown."""
        shown = self._known
        return [
            {
                "number": at + 1,
                "id": item.id,
                "task": item.task,
                "answer": _short(graded.extracted),
                "outcome": _OUTCOMES[graded.correct] if at < shown else "",
                "right_answer": _short(item.answer) if at < shown else "",
            }
            for at, (item, graded) in enumerate(zip(self.items, self.grades, strict=False))
        ]

    @property
    def _known(self) -> int:
        """Number of the grades that the analyst knows: of whole windows, at the end of all."""
        answered = len(self.grades)
        if answered == len(self.items):
            return answered
        return answered - answered % self.params.window if self.params.feedback else 0

    def _observe(self) -> Question:
        at = len(self.grades)
        last = slice(max(0, self._known - self.params.window), self._known)
        feedback = tuple(
            Feedback(item.id, graded.correct, item.answer)
            for item, graded in zip(self.items[last], self.grades[last], strict=True)
        )
        return question(self.params, self.items[at], at + 1, len(self.items), feedback)

    def _answer(self, item: Item, command: Command) -> None:
        """Post the outcome of an answer and its SHA-256, so that the digest fixes every answer."""
        graded = grade(item, command.text, self.params, extracts=isinstance(command, Reply))
        self.grades.append(graded)
        self.world.log.info(
            "answer", item=item.id, extracted=graded.extracted, correct=graded.correct
        )
        digest = hashlib.sha256(command.text.encode()).hexdigest()
        memo = Memo(f"{item.id} {digest}", "answer", {"item": item.id, "answer": digest})
        self.book.post(self.world.now, memo, {UNDER_WAY: -1, _OUTCOMES[graded.correct]: 1})


def question(
    params: ReasoningParams, item: Item, number: int, of: int, feedback: tuple[Feedback, ...] = ()
) -> Question:
    """Return the observation of an item: everything except its answer and its labels."""
    context = item.context
    if params.shows_programs and item.program and item.category == "program_synthesis":
        context = f"{context}\n\nProgram:\n{item.program}".lstrip("\n")
    return Question(
        id=item.id,
        task=item.task,
        category=item.category,
        question=item.question,
        context=context,
        options=item.options,
        number=number,
        of=of,
        instruction=INSTRUCTIONS[item.category],
        feedback=feedback,
    )


def _shuffled(world: World, items: Sequence[Item]) -> list[Item]:
    return [items[at] for at in world.stream("order").permutation(len(items))]


def _short(text: str) -> str:
    """Return the beginning of a text on one line, for tables."""
    return " ".join(text.split())[:100]
