"""The replies of candidates and judges in case interviews: their requested form and their parsing.

Source: reference SPEC of FirmBench, section 4, with item 18 of its vectors.

The texts that request a form of each role, in addition to its rules, are in our own wording.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from policies.llm.replies import BadReply, objects
from policies.llm.wires.wire import ModelReply

#: Scores of a verdict.
SCORES = ("structure", "quant", "business_sense", "communication", "overall")

#: The largest score that an action can hold.
_LARGEST = 1e300

#: Keys of a candidate's reply; the second one occurs in replies to methods' own questions.
_KEYS = ("reply", "final_answer")


@frozen
class Scores:
    """The scores and the feedback of a judge's reply.

    Attributes:
        scores: The score of each field; None if the value is not a number.
        feedback: The feedback; empty if the reply has no such text.
        incomplete: Whether a score is missing, or all are 0 because nothing could be read.
        unread: Whether the reply holds no scores at all.
    """

    scores: Mapping[str, float | None]
    feedback: str
    incomplete: bool
    unread: bool = False


def unrefused(reply: ModelReply) -> str:
    """Return a reply's text, which may be empty.

    Raises:
        BadReply: The model refuses.
    """
    if reply.refusal and not reply.text.strip():
        raise BadReply("you refused; this is an exercise, and an answer is needed")
    return reply.text


def said_in(text: str) -> str:
    """Return the message that the first fitting JSON object of a text holds; else nothing.

    >>> said_in('Well: {"reply": "Which market?"}')
    'Which market?'
    """
    for given in objects(text):
        inner = given.get("final_answer")
        for each in (given, inner if isinstance(inner, Mapping) else {}):
            for key in _KEYS:
                if isinstance(said := each.get(key), str) and said.strip():
                    return said.strip()
    return ""


def scores_in(text: str) -> Scores:
    """Return the scores of a judge's reply.

    They are those of the first object with a score. A text without any object scores 0 everywhere,
    one that is empty has no scores.
    """
    given = objects(text)
    if text.strip() and not given:
        return Scores(dict.fromkeys(SCORES, 0.0), "", incomplete=True, unread=True)
    verdict = next((each for each in given if not each.keys().isdisjoint(SCORES)), {})
    scores = {name: _number(verdict.get(name)) for name in SCORES}
    feedback = verdict.get("feedback")
    words = feedback if isinstance(feedback, str) else ""
    return Scores(scores, words, incomplete=None in scores.values(), unread=not verdict)


def _number(value: Any) -> float | None:
    """Return a finite number; None for anything else, a truth value included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and abs(number) <= _LARGEST else None


#: The candidate's message where a reply holds none.
STOCK = "Let me go back to the structure for a moment: which part of the problem matters most here?"

FIRST_TURN = (
    "This is the first turn: introduce the case, ask for objective and structure, and do not end."
)

#: The requested form of each side's answers.
FORMS = {
    "interviewer": "Answer with the message alone, as plain text.",
    "candidate": 'Answer with one JSON object: {"reply": "what you say to the interviewer"}.',
}


def verdict_form(criteria: Sequence[str]) -> str:
    """Return the requested form of a judge's answer.

    >>> verdict_form(["overall"])
    'Answer with one JSON object: {"overall": number, "feedback": "two or three sentences"}.'
    """
    scores = ", ".join(f'"{name}": number' for name in criteria)
    return f'Answer with one JSON object: {{{scores}, "feedback": "two or three sentences"}}.'
