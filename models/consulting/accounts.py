"""The books of an interview: messages leave a budget, facts leave the case, verdicts fall due.

The text of an entry holds a fingerprint of the message, so the digest of the books fixes the
dialogue and the verdicts.
"""

import hashlib

from ledgers.book import Book, Memo
from models.consulting.actions import FIELDS, Verdict

#: Where units come from: the agreed messages, the facts of the case, the judges' appointments.
SOURCE = "agreed"

BUDGET = "budget"
WITHHELD, RELEASED = "withheld", "released"
DUE, GIVEN = "due", "given"
SPEAKERS = ("interviewer", "candidate")

#: Hexadecimal digits of a fingerprint; two messages with the same are not to be expected.
_FINGERPRINT = 32


class Books:
    """The three books of an interview, in messages, facts and verdicts.

    Args:
        messages: The budget over both sides.
        facts: Gated facts of the case.
        judges: Verdicts that are due.

    Attributes:
        messages: The budget and each side's use of it.
        facts: Facts withheld and released.
        verdicts: Verdicts due and given.
    """

    def __init__(self, messages: int, facts: int, judges: int) -> None:
        self.messages = Book(SOURCE, BUDGET, *SPEAKERS, digits=0, name="messages")
        self.facts = Book(SOURCE, WITHHELD, RELEASED, digits=0, name="facts")
        self.verdicts = Book(SOURCE, DUE, GIVEN, digits=0, name="verdicts")
        self.messages.transfer(0, "budget agreed", BUDGET, SOURCE, messages)
        if facts:
            self.facts.transfer(0, "case opened", WITHHELD, SOURCE, facts)
        self.verdicts.transfer(0, "judges appointed", DUE, SOURCE, judges)

    def message(self, time: int, speaker: str, text: str) -> None:
        """Post a message of a speaker, which uses one of the budget."""
        self.messages.transfer(time, _entry(speaker, text), speaker, BUDGET, 1)

    def fact(self, time: int, topic: str, told: str) -> None:
        """Post the release of a gated fact."""
        memo = Memo(_entry("told", told), references={"topic": topic})
        self.facts.transfer(time, memo, RELEASED, WITHHELD, 1)

    def verdict(self, time: int, judge: str, verdict: Verdict) -> None:
        """Post a judge's verdict."""
        scores = " ".join(f"{name}={getattr(verdict, name)}" for name in FIELDS)
        self.verdicts.transfer(time, _entry(f"{judge} {scores}", verdict.feedback), GIVEN, DUE, 1)


def _entry(what: str, text: str) -> str:
    given = hashlib.sha256(text.encode()).hexdigest()
    return f"{what} {given[:_FINGERPRINT]}"
