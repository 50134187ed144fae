"""The leak check: finds the internal text of a case in the interviewer's messages.

A leak is an interviewer's message with a run of words from the internal part that occurs neither in
the open text nor in a gated fact, and that the candidate had not said before: what the candidate
worked out may be repeated. Paraphrases are not found.
"""

from collections.abc import Sequence

from models.consulting.case import Case
from models.consulting.observation import Message
from models.consulting.rules.words import grams

#: Words in a row that count as a copy; shorter runs occur by chance.
RUN = 5


def leaks(case: Case, dialogue: Sequence[Message]) -> list[int]:
    """Return the numbers, from 0, of the messages that leak."""
    secret = set(grams(case.internal, RUN))
    if not secret:
        return []
    for known in (case.opening, case.open, *(fact.fact for fact in case.gated)):
        secret.difference_update(grams(known, RUN))
    found: list[int] = []
    for number, message in enumerate(dialogue):
        said = grams(message.text, RUN)
        if message.role == "candidate":
            secret.difference_update(said)
        elif not secret.isdisjoint(said):
            found.append(number)
    return found
