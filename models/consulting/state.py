"""An interview under way: the case, the dialogue, the facts released, the verdicts."""

from attrs import define, field, frozen

from desim import World
from ledgers.book import Book
from models.consulting.accounts import BUDGET, RELEASED, WITHHELD, Books
from models.consulting.actions import Verdict
from models.consulting.case import Case, Fact
from models.consulting.observation import Message, Speaker
from models.consulting.params import ConsultingParams
from models.consulting.rules.matching import FactFinder, fact_finder, topics

_SECONDS = 60


@frozen
class Line:
    """One message with the tick at which it had been said."""

    time: int
    message: Message


@frozen
class Telling:
    """A gated fact that the interviewer has released.

    Attributes:
        fact: The fact.
        message: The number of the message in the dialogue, from 0.
        asked: Whether the candidate had asked about its topic before.
    """

    fact: Fact
    message: int
    asked: bool


@define(eq=False)
class Interview:
    """The state of an episode.

    Attributes:
        world: The clock.
        params: The parameters.
        number: The number of the case among the cases, from 0.
        case: The case.
        books: Messages, facts and verdicts.
        lines: The dialogue with its times.
        tellings: The gated facts released so far.
        verdicts: The verdicts by judge.
        closed: Whether the interviewer has closed the interview.
    """

    world: World
    params: ConsultingParams
    number: int
    case: Case = field(init=False)
    books: Books = field(init=False)
    lines: list[Line] = field(factory=list)
    tellings: list[Telling] = field(factory=list)
    verdicts: dict[str, Verdict] = field(factory=dict)
    closed: bool = False
    _finder: FactFinder = field(init=False)
    _asked: set[str] = field(init=False, factory=set)

    def __attrs_post_init__(self) -> None:
        self.case = self.params.case_at(self.number)
        self.books = Books(self.params.messages, len(self.case.gated), self.params.judges)
        self._finder = fact_finder(self.case)

    # -- what was said -----------------------------------------------------------------------------

    def say(self, speaker: Speaker, text: str) -> None:
        """Add a message to the dialogue now, and post the facts that it releases."""
        now = self.world.now
        self.books.message(now, speaker, text)
        if speaker == "interviewer":
            self._tell(now, text)
        else:
            self._asked.update(fact.topic for fact in topics(self.case, text))
        self.lines.append(Line(now, Message(speaker, text)))
        self.world.log.info("message", role=speaker, text=text)

    def _tell(self, now: int, text: str) -> None:
        for fact in self._finder.told(text):
            if fact.topic not in self.released:
                self.books.fact(now, fact.topic, fact.fact)
                asked = fact.topic in self._asked
                self.tellings.append(Telling(fact, len(self.lines), asked))

    @property
    def dialogue(self) -> tuple[Message, ...]:
        """The messages so far."""
        return tuple(line.message for line in self.lines)

    def said_by(self, speaker: Speaker) -> list[str]:
        """Return the messages of one side."""
        return [line.message.text for line in self.lines if line.message.role == speaker]

    @property
    def released(self) -> tuple[str, ...]:
        """The topics of the facts released so far, in the order of their release."""
        return tuple(telling.fact.topic for telling in self.tellings)

    @property
    def case_id(self) -> str:
        """The id of the case; one without an id has its number instead."""
        return self.case.id or f"case_{self.number:04d}"

    # -- what is left ------------------------------------------------------------------------------

    @property
    def messages_left(self) -> int:
        """Messages of both sides that may still be sent."""
        return self.books.messages.balance(BUDGET)

    @property
    def facts_released(self) -> int:
        """Number of gated facts released so far."""
        return self.books.facts.balance(RELEASED)

    @property
    def facts_withheld(self) -> int:
        """Number of gated facts withheld so far."""
        return self.books.facts.balance(WITHHELD)

    def sent_by(self, speaker: Speaker) -> int:
        """Return the number of messages of one side."""
        return self.books.messages.balance(speaker)

    @property
    def minutes_left(self) -> float | None:
        """Minutes until the last request for a message, at least 0; None without a limit."""
        if not self.params.minutes:
            return None
        return max(0.0, self.params.minutes - self.world.now / _SECONDS)

    @property
    def minutes(self) -> float:
        """Minutes from the start to the last message."""
        return self.lines[-1].time / _SECONDS if self.lines else 0.0

    @property
    def is_over(self) -> bool:
        """Whether the interview is closed, or its messages or its time are used up."""
        return self.closed or not self.messages_left or self.minutes_left == 0

    @property
    def ended(self) -> str:
        """Why the interview is over: closed, messages or time."""
        if self.closed:
            return "closed"
        return "time" if self.messages_left else "messages"

    @property
    def ledgers(self) -> tuple[Book, ...]:
        """The books of messages, facts and verdicts."""
        return self.books.messages, self.books.facts, self.books.verdicts
