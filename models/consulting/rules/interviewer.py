"""The scripted interviewer, which facts a message asks for or tells, and the leak check.

Reference SPEC section 4 gives the rules in substance. The interviewer reads neither the internal
part of a case nor its rubric, so it can leak nothing, and it draws nothing.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from desim import Option
from models.consulting.case import Case, Fact
from models.consulting.rules.words import (
    content,
    found,
    grams,
    recommends,
    sentences,
    supports,
    words,
)
from models.consulting.seats import END, InterviewerView, Message, Say

ASSUME = "The case says nothing about that; please make an assumption, state it and go on."
BEGIN = "What would you say the client wants to achieve, and how would you structure the problem?"
CLOSE = "Thank you. You gave a recommendation and said what it rests on; that is all we need."
COVERED = "You have that information already; please work with it."
GO_ON = "What would you look at next, and what would you need to know for it?"
MEANING = "What do you conclude from it?"
PROBE = "Which risk could change your mind, and how would you deal with it?"
RECOMMEND = "Please give me your recommendation now, and the two or three drivers behind it."
SUMMARISE = "Please sum up what you know so far, and then ask for the one thing you need most."

_SCENE = 3  # sentences of the opening in the first message
_STUCK = 6  # words; a shorter answer is stuck
_HUNGRY = 3  # questions, or withheld facts asked for, at once; a candidate is hungry for data
_SUPPORTS = 2  # with which a recommendation is complete
_LAST_MESSAGES, _LAST_MINUTES = 4, 4.0  # left when the recommendation is asked for
_MATCHED = 0.5  # share of a topic's words that a question about it holds
_TOLD = 0.5  # share of a fact's own words that a message which tells it holds
_RUN = 5  # words in a row that are a copy of the internal text; shorter runs occur by chance

#: Phrases with which a question is put without a question mark.
_REQUESTS = ("tell me", "give me", "provide", "do you have", "like to know", "need to know")


def message(view: InterviewerView) -> Say:
    """Return the next message: the scene, an answer with one follow-up, or the closing."""
    if view.first or not view.dialogue:
        scene = sentences(view.case.opening or view.case.open)[:_SCENE]
        return Say(" ".join([*scene, BEGIN]))
    complete = [
        supports(each.text) >= _SUPPORTS
        for each in view.dialogue
        if each.role == "candidate" and recommends(each.text)
    ]
    if any(complete) and (_is_late(view) or view.answers >= view.case.pace[0]):
        return Say(f"{CLOSE} {END}")
    answer = _answer(view)
    return Say(" ".join(filter(None, (answer, _follow_up(view, answer, complete)))))


def options(view: InterviewerView) -> list[Option]:
    """Return what the rules say now, and a polite stop."""
    return [
        Option(message(view), 1.0, note="by the rules"),
        Option(Say(""), 0.0, note="stop politely"),
    ]


def _answer(view: InterviewerView) -> str:
    """Return the reply to the last questions: at most one fact; empty if nothing was asked."""
    before, said = view.dialogue[-2:]
    questions = [e for e in sentences(said.text) if e.endswith("?") or found(_REQUESTS, e)]
    if not questions:
        return ""
    matched = topics(view.case, " ".join(questions))
    withheld = [fact for fact in matched if fact.topic not in view.released]
    is_hungry = max(len(questions), len(withheld)) >= _HUNGRY
    if is_hungry and SUMMARISE not in before.text:
        return SUMMARISE
    if withheld:
        return withheld[0].fact
    return COVERED if matched else ASSUME


def _follow_up(view: InterviewerView, answer: str, complete: Sequence[bool]) -> str:
    """Return what is asked for next; *complete* has one entry for each recommendation given."""
    before, said = view.dialogue[-2:]
    if answer == SUMMARISE:
        return ""
    if any(complete):
        return GO_ON if PROBE in before.text else PROBE
    if complete or _is_late(view):
        return RECOMMEND
    if answer:
        return "" if answer in (ASSUME, COVERED) else MEANING
    if len(words(said.text)) >= _STUCK:
        return GO_ON
    left = [fact.topic for fact in view.case.gated if fact.topic not in view.released]
    return f"A hint: have you thought about {left[0]}?" if left else RECOMMEND


def _is_late(view: InterviewerView) -> bool:
    """Return whether the budget, the time or the pace of the case is nearly used up."""
    minutes = view.minutes_left
    return (
        view.messages_left <= _LAST_MESSAGES
        or (minutes is not None and minutes <= _LAST_MINUTES)
        or view.answers >= view.case.pace[1] - 1
    )


# -- facts -----------------------------------------------------------------------------------------


def topics(case: Case, text: str) -> tuple[Fact, ...]:
    """Return the gated facts of whose topics a text holds half of the words, the best first."""
    given = content(text)
    shares = [(_share(wanted, given), fact) for fact, wanted, _ in _facts(case)]
    matched = [each for each in shares if each[0] >= _MATCHED]
    return tuple(fact for _, fact in sorted(matched, key=lambda each: -each[0]))


def told(case: Case, text: str) -> list[Fact]:
    """Return the gated facts that a message tells, also in other words, in the case's order.

    It holds at least half of the words that are the fact's own: those in neither the open text, nor
    any topic, nor another fact. A fact without such words is told word for word.
    """
    given = content(text)
    return [
        fact
        for fact, _, own in _facts(case)
        if (_share(own, given) >= _TOLD if own else found([fact.fact], text))
    ]


# The words of a case are the same in every episode and at every question.
@lru_cache(maxsize=64)
def _facts(case: Case) -> list[tuple[Fact, frozenset[str], frozenset[str]]]:
    """Return each gated fact with the words of its topic and those that are its own."""
    wanted = [content(fact.topic) for fact in case.gated]
    facts = [content(fact.fact) for fact in case.gated]
    uses = Counter(word for each in facts for word in each)
    shared = content(case.public).union(*wanted, (word for word, n in uses.items() if n > 1))
    own = [each - shared for each in facts]
    return [*zip(case.gated, wanted, own, strict=True)]


def _share(wanted: frozenset[str], given: frozenset[str]) -> float:
    return len(wanted & given) / len(wanted) if wanted else 0.0


def leaks(case: Case, dialogue: Sequence[Message]) -> int:
    """Return the number of messages in which the interviewer leaks internal text.

    A leak has a run of words from the internal part that is neither in the open text nor in a gated
    fact, and that the candidate had not said before. Paraphrases are not found.
    """
    secret = set(grams(case.internal, _RUN))
    for known in (case.opening, case.open, *(fact.fact for fact in case.gated)):
        secret.difference_update(grams(known, _RUN))
    leaked = 0
    for message in dialogue if secret else ():
        said = grams(message.text, _RUN)
        if message.role == "candidate":
            secret.difference_update(said)
        else:
            leaked += not secret.isdisjoint(said)
    return leaked
