"""The analyst's desk during an episode: windows of items arrive, and are answered one by one."""

import hashlib
from collections.abc import Generator, Sequence
from functools import partial
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
WAITING, UNDER_WAY = "waiting", "under_way"
RIGHT, WRONG, RAISED = "right", "wrong", "raised"
GIVEN = "given"

_OUTCOMES = {True: RIGHT, False: WRONG, None: RAISED}

Process = Generator[Any, Any, None]


def begin(world: World, params: ReasoningParams) -> "Desk":
    """Put the items in order and start the analyst's work."""
    items = params.chosen_items
    ordered = list(items) if params.order == "given" else _shuffled(world, items)
    desk = Desk(world, params, ordered)
    world.process(work(world, desk))
    return desk


def work(world: World, desk: "Desk") -> Process:
    """Answer window after window; an answer is posted when the time that it takes is over."""
    items, window = desk.items, desk.params.window
    for first in range(0, len(items), window):
        places = range(first, min(first + window, len(items)))
        desk.arrive(len(places))
        for at in places:
            desk.put = at + 1
            command: Command = yield world.ask(ANALYST, partial(desk.observe, at))
            yield world.timeout(desk.params.seconds_per_item)
            desk.answer(items[at], command)
        desk.close_window()
    world.end("all answered")


def redraw(world: World, desk: "Desk") -> None:
    """Shuffle the items again that the analyst has not seen."""
    if desk.params.order == "shuffled":
        desk.items[desk.put :] = _shuffled(world, desk.items[desk.put :])


def _shuffled(world: World, items: Sequence[Item]) -> list[Item]:
    return [items[at] for at in world.stream("order").permutation(len(items))]


class Desk:
    """The state of an episode.

    Attributes:
        items: The items in the order in which they arrive.
        put: Number of items shown to the analyst.
        grades: The grades of the items answered so far, in that order.
        shown: Number of these grades shown to the analyst.
        book: One unit for each item, on the account of its state.
    """

    def __init__(self, world: World, params: ReasoningParams, items: list[Item]) -> None:
        self.world = world
        self.params = params
        self.items = items
        self.put = 0
        self.grades: list[Graded] = []
        self.shown = 0
        self._feedback: tuple[Feedback, ...] = ()
        self.book = Book(WAITING, UNDER_WAY, RIGHT, WRONG, RAISED, GIVEN, digits=0)
        opened = {WAITING: len(items), GIVEN: -len(items)}
        self.book.post(world.now, Memo("the items of the episode", "open"), opened)

    @property
    def ledgers(self) -> tuple[Book]:
        """The ledgers that enter the digest."""
        return (self.book,)

    def arrive(self, count: int) -> None:
        """Post that the next items have arrived."""
        memo = Memo(f"{count} items arrive", "arrival")
        self.book.post(self.world.now, memo, {WAITING: -count, UNDER_WAY: count})

    def observe(self, at: int) -> Question:
        """Return the question of an item, by its place from 0."""
        return question(self.params, self.items[at], at + 1, len(self.items), self._feedback)

    def answer(self, item: Item, command: Command) -> None:
        """Grade the answer to the first item under way, and post its outcome.

        The entry's text holds the answer's SHA-256: the book's digest covers texts, so that it
        fixes every answer.
        """
        graded = grade(item, command.text, self.params.rules, extracts=isinstance(command, Reply))
        self.grades.append(graded)
        self.world.log.info(
            "answer", item=item.id, extracted=graded.extracted, correct=graded.correct
        )
        digest = hashlib.sha256(command.text.encode()).hexdigest()
        memo = Memo(f"{item.id} {digest}", "answer", {"item": item.id, "answer": digest})
        self.book.post(self.world.now, memo, {UNDER_WAY: -1, _OUTCOMES[graded.correct]: 1})

    def close_window(self) -> None:
        """Show the outcomes since the last window, in a world that gives feedback."""
        if self.params.feedback:
            new = slice(self.shown, len(self.grades))
            self._feedback = tuple(
                Feedback(item.id, graded.correct, item.answer)
                for item, graded in zip(self.items[new], self.grades[new], strict=True)
            )
            self.shown = len(self.grades)

    def answers(self) -> list[dict[str, Any]]:
        """Return the items answered so far; outcomes are empty until they are shown."""
        is_over = len(self.grades) == len(self.items)
        shown = len(self.grades) if is_over else self.shown
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


def _short(text: str, most: int = 100) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


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
