"""The analyst's desk during an episode: items, grades, and the book of where each item is.

The accounts of the book of items: where each item of the episode is.
"""

import hashlib

from desim import World
from ledgers.book import Book, Memo
from ledgers.chart import Account
from models.reasoning.actions import Command, Reply
from models.reasoning.item import INSTRUCTIONS, Item
from models.reasoning.observation import Feedback, Question
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring.grade import Graded, grade

#: Against which the items of the episode are posted when it begins.
GIVEN = "given"


#: Items that have not arrived, and items that have arrived and are not answered.
WAITING, UNDER_WAY = "waiting", "under_way"


#: Items that are answered, by outcome; the scorer of a raised one has failed.
OUTCOMES = ("right", "wrong", "raised")


CHART: tuple[str | Account, ...] = (WAITING, UNDER_WAY, *OUTCOMES, GIVEN)


def outcome(correct: bool | None) -> str:  # noqa: FBT001 (a result, not a switch)
    """Return the account of an answered item."""
    right, wrong, raised = OUTCOMES
    if correct is None:
        return raised
    return right if correct else wrong


class Desk:
    """The state of an episode.

    Attributes:
        world: The clock.
        params: The parameters.
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
        self.book = Book(*CHART, digits=0)
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
        account = outcome(graded.correct)
        memo = Memo(f"{item.id} {digest}", "answer", {"item": item.id, "answer": digest})
        self.book.post(self.world.now, memo, {UNDER_WAY: -1, account: 1})

    def close_window(self) -> None:
        """Show the outcomes since the last window, in a world that gives feedback."""
        if self.params.feedback:
            answered = range(self.shown, len(self.grades))
            self._feedback = tuple(
                Feedback(self.items[at].id, self.grades[at].correct, self.items[at].answer)
                for at in answered
            )
            self.shown = len(self.grades)


def question(
    params: ReasoningParams,
    item: Item,
    number: int,
    of: int,
    feedback: tuple[Feedback, ...] = (),
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
