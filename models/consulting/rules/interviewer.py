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

#: Sentences of the opening in the first message.
_SCENE = 3

#: Words below which an answer counts as stuck, and questions from which it is hungry for data.
_STUCK, _HUNGRY = 6, 3

#: Messages or minutes left at which the interviewer asks for the recommendation.
_LAST_MESSAGES, _LAST_MINUTES = 4, 4.0

#: Supports with which a recommendation is complete.
_SUPPORTS = 2

#: The share of a topic's words that a question must hold, and of a fact's own words that a message
#: must hold.
_MATCHED = _TOLD = 0.5

#: Words in a row that count as a copy of the internal text; shorter runs occur by chance.
_RUN = 5

#: Phrases with which a question is put without a question mark.
_REQUESTS = ("tell me", "give me", "provide", "do you have", "like to know", "need to know")


def message(view: InterviewerView) -> Say:
    """Return the next message: the scene, an answer with one follow-up, or the closing."""
    if view.first or not view.dialogue:
        return Say(_scene(view))
    if _closes(view):
        return Say(f"{CLOSE} {END}")
    said = view.dialogue[-1].text
    answer = _answer(view, said)
    return Say(" ".join(part for part in (answer, _follow_up(view, said, answer)) if part))


def options(view: InterviewerView) -> list[Option]:
    """Return what the rules say now, and a polite stop."""
    return [
        Option(message(view), 1.0, note="by the rules"),
        Option(Say(""), 0.0, note="stop politely"),
    ]


def _scene(view: InterviewerView) -> str:
    told = view.case.opening or view.case.open
    return " ".join([*sentences(told)[:_SCENE], BEGIN])


def _closes(view: InterviewerView) -> bool:
    """Return whether a supported recommendation was given, and the pace or the budget ends it."""
    if not any(map(_is_complete, _recommendations(view))):
        return False
    return view.answers >= view.case.pace[0] or _is_late(view)


def _answer(view: InterviewerView, said: str) -> str:
    """Return the reply to a question: at most one fact; empty without a question."""
    questions = _questions(said)
    if not questions:
        return ""
    matched = topics(view.case, " ".join(questions))
    withheld = [fact for fact in matched if fact.topic not in view.released]
    is_hungry = max(len(questions), len(withheld)) >= _HUNGRY
    if is_hungry and not _has_just_said(view, SUMMARISE):
        return SUMMARISE
    if withheld:
        return withheld[0].fact
    return COVERED if matched else ASSUME


def _follow_up(view: InterviewerView, said: str, answer: str) -> str:
    if answer == SUMMARISE:
        return ""
    if given := _recommendations(view):
        if not any(map(_is_complete, given)):
            return RECOMMEND
        return GO_ON if _has_just_said(view, PROBE) else PROBE
    if _is_late(view):
        return RECOMMEND
    if answer:
        return "" if answer in (ASSUME, COVERED) else MEANING
    return _hint(view) if len(words(said)) < _STUCK else GO_ON


def _hint(view: InterviewerView) -> str:
    """Return a hint that names one withheld topic, never a full framework."""
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


def _questions(said: str) -> list[str]:
    """Return the sentences of an answer that ask for something."""
    return [each for each in sentences(said) if each.endswith("?") or found(_REQUESTS, each)]


def _has_just_said(view: InterviewerView, text: str) -> bool:
    own = [each.text for each in view.dialogue if each.role == "interviewer"]
    return bool(own) and text in own[-1]


def _recommendations(view: InterviewerView) -> list[str]:
    return [e.text for e in view.dialogue if e.role == "candidate" and recommends(e.text)]


def _is_complete(recommendation: str) -> bool:
    return supports(recommendation) >= _SUPPORTS


# -- facts -----------------------------------------------------------------------------------------


def topics(case: Case, text: str) -> tuple[Fact, ...]:
    """Return the gated facts about whose topics a text is, the best match first.

    A match holds at least half of the words of the topic; equal matches are in the case's order.
    """
    given = content(text)
    shares = [(_share(wanted, given), fact) for fact, wanted in _topic_words(case)]
    matched = [each for each in shares if each[0] >= _MATCHED]
    return tuple(fact for _, fact in sorted(matched, key=lambda each: -each[0]))


# The words of a case are the same in every episode and at every question.
@lru_cache(maxsize=64)
def _topic_words(case: Case) -> tuple[tuple[Fact, frozenset[str]], ...]:
    return tuple((fact, content(fact.topic)) for fact in case.gated)


def _share(wanted: frozenset[str], given: frozenset[str]) -> float:
    return len(wanted & given) / len(wanted) if wanted else 0.0


def told(case: Case, text: str) -> list[Fact]:
    """Return the gated facts that a message tells, also in other words, in the case's order.

    A message tells a fact if it holds at least half of the words and numbers that are the fact's
    own: those in neither the open text, nor any topic, nor another fact. A message tells a fact
    without such words if it repeats it word for word.
    """
    given = content(text)
    return [
        fact
        for fact, own in _own_words(case)
        if (_share(own, given) >= _TOLD if own else found([fact.fact], text))
    ]


@lru_cache(maxsize=64)
def _own_words(case: Case) -> tuple[tuple[Fact, frozenset[str]], ...]:
    known = content(" ".join([case.public, *(fact.topic for fact in case.gated)]))
    facts = [content(fact.fact) for fact in case.gated]
    uses = Counter(word for each in facts for word in each)
    shared = known.union(word for word, count in uses.items() if count > 1)
    return tuple((fact, each - shared) for fact, each in zip(case.gated, facts, strict=True))


def leaks(case: Case, dialogue: Sequence[Message]) -> list[int]:
    """Return the numbers, from 0, of the messages in which the interviewer leaks internal text.

    A leak is a message with a run of words from the internal part that occurs neither in the open
    text nor in a gated fact, and that the candidate had not said before: what the candidate worked
    out may be repeated. Paraphrases are not found.
    """
    secret = set(grams(case.internal, _RUN))
    if not secret:
        return []
    for known in (case.opening, case.open, *(fact.fact for fact in case.gated)):
        secret.difference_update(grams(known, _RUN))
    numbers: list[int] = []
    for number, message in enumerate(dialogue):
        said = grams(message.text, _RUN)
        if message.role == "candidate":
            secret.difference_update(said)
        elif not secret.isdisjoint(said):
            numbers.append(number)
    return numbers
