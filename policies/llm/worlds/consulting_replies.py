"""The replies of candidates and judges in case interviews: their requested form and their parsing.

Source: reference SPEC of FirmBench, section 4, with item 18 of its vectors. The texts that request
a form are in our own wording.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from policies.llm.replies import objects

#: Scores of a verdict.
SCORES = ("structure", "quant", "business_sense", "communication", "overall")

#: The largest score that an action can hold.
_LARGEST = 1e300

#: Keys of a candidate's reply; the second one occurs in replies to methods' own questions.
_KEYS = ("reply", "final_answer")


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


def score_in(value: Any) -> float | None:
    """Return a score that an action can hold; None for anything else, a truth value included."""
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
