"""An interview under way: the case, the dialogue, the facts released, the verdicts, the books."""

import hashlib

from attrs import define, field, frozen

from desim import World
from ledgers.book import Book, Memo
from models.consulting.case import Case, Fact
from models.consulting.drawn import case_at
from models.consulting.params import ConsultingParams
from models.consulting.rules.interviewer import told, topics
from models.consulting.seats import FIELDS, Message, Speaker, Verdict

_SECONDS = 60

# Accounts. Units come from what was agreed: the messages, the facts of the case, the verdicts.
SOURCE = "agreed"
BUDGET = "budget"
WITHHELD, RELEASED = "withheld", "released"
DUE, GIVEN = "due", "given"


@frozen
class Line:
    """One message with the tick at which it had been said."""

    time: int
    message: Message

    @property
    def words(self) -> int:
        """Number of words."""
        return len(self.message.text.split())


@frozen
class Telling:
    """A gated fact that the interviewer has released."""

    fact: Fact
    message: int  # its number in the dialogue, from 0
    asked: bool  # by the candidate before


@define(eq=False)
class Interview:
    """The state of an episode; its books are of messages, gated facts and verdicts."""

    world: World
    params: ConsultingParams
    number: int  # of the case among the cases, from 0
    case: Case = field(init=False)
    messages: Book = field(init=False)
    facts: Book = field(init=False)
    appointments: Book = field(init=False)
    lines: list[Line] = field(factory=list)
    tellings: list[Telling] = field(factory=list)
    verdicts: dict[str, Verdict] = field(factory=dict)
    closed: bool = False
    _asked: set[str] = field(init=False, factory=set)

    def __attrs_post_init__(self) -> None:
        drawn = self.params.drawn  # one drawn case takes milliseconds, all of them a second
        self.case = case_at(drawn, self.number) if drawn else self.params.loaded_cases[self.number]
        self.messages = Book(SOURCE, BUDGET, "interviewer", "candidate", digits=0, name="messages")
        self.facts = Book(SOURCE, WITHHELD, RELEASED, digits=0, name="facts")
        self.appointments = Book(SOURCE, DUE, GIVEN, digits=0, name="verdicts")
        self.messages.transfer(0, "budget agreed", BUDGET, SOURCE, self.params.messages)
        if self.case.gated:
            self.facts.transfer(0, "case opened", WITHHELD, SOURCE, len(self.case.gated))
        self.appointments.transfer(0, "judges appointed", DUE, SOURCE, self.params.judges)

    @property
    def ledgers(self) -> tuple[Book, ...]:
        """The books of messages, facts and verdicts, in whole units."""
        return self.messages, self.facts, self.appointments

    # -- what was said -----------------------------------------------------------------------------

    def say(self, speaker: Speaker, text: str) -> None:
        """Add a message to the dialogue now, and post the facts that it releases."""
        now = self.world.now
        self.messages.transfer(now, _entry(speaker, text), speaker, BUDGET, 1)
        if speaker == "interviewer":
            self._release(now, text)
        else:
            self._asked.update(fact.topic for fact in topics(self.case, text))
        self.lines.append(Line(now, Message(speaker, text)))
        self.world.log.info("message", role=speaker, text=text)

    def _release(self, now: int, text: str) -> None:
        for fact in told(self.case, text):
            if fact.topic not in self.released:
                memo = Memo(_entry("told", fact.fact), references={"topic": fact.topic})
                self.facts.transfer(now, memo, RELEASED, WITHHELD, 1)
                asked = fact.topic in self._asked
                self.tellings.append(Telling(fact, len(self.lines), asked))

    def judge(self, judge: str, verdict: Verdict) -> None:
        """Post a judge's verdict now."""
        scores = " ".join(f"{name}={getattr(verdict, name)}" for name in FIELDS)
        entry = _entry(f"{judge} {scores}", verdict.feedback)
        self.verdicts[judge] = verdict
        self.appointments.transfer(self.world.now, entry, GIVEN, DUE, 1)
        self.world.log.info("verdict", role=judge, verdict=verdict)

    @property
    def dialogue(self) -> tuple[Message, ...]:
        """The messages so far."""
        return tuple(line.message for line in self.lines)

    @property
    def released(self) -> tuple[str, ...]:
        """The topics of the facts released so far, in the order of their release."""
        return tuple(telling.fact.topic for telling in self.tellings)

    # -- what is left ------------------------------------------------------------------------------

    @property
    def messages_left(self) -> int:
        """Messages of both sides that may still be sent."""
        return self.messages.balance(BUDGET)

    @property
    def minutes_left(self) -> float | None:
        """Minutes until the last request for a message, at least 0; None without a limit."""
        if not self.params.minutes:
            return None
        return max(0.0, self.params.minutes - self.world.now / _SECONDS)

    @property
    def ended(self) -> str:
        """Why the interview is over: "closed", "messages" or "time"; empty while it goes on."""
        if self.closed:
            return "closed"
        if not self.messages_left:
            return "messages"
        return "time" if self.minutes_left == 0 else ""


def _entry(what: str, text: str) -> str:
    """Return the text of an entry with a fingerprint, so that the digest fixes the dialogue."""
    return f"{what} {hashlib.sha256(text.encode()).hexdigest()[:32]}"
