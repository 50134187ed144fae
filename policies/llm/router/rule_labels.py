"""Labels of a question by rules of its text: a stand-in for the labelling model.

The rules follow the published ones in substance (reference SPEC of FirmBench, section 2): a list of
labels to choose from, or options, ask for knowledge; code, or words of computing, make a question
numerical; what remains is copied out of the text. The weights are our own and measured against
nothing but the labels of the items that ship; the script that labels items prints how many agree.
"""

import re
from collections.abc import Sequence

from policies.llm.router.labels import CAPABILITIES, Label, candidate_labels, sub_questions
from policies.llm.router.situation import features_of

__all__ = ["RuleLabeller"]

_EXTRACTION, _NUMERICAL, _KNOWLEDGE, _COMPLEX = CAPABILITIES

#: Words of a question whose answer must be computed.
_COMPUTES = re.compile(
    r"\b(?:average|averaged|compounded|compute|calculate|discount rate|formula|interest|"
    r"in total|net present value|per cent|percent|present value|ratio|return|rounded|"
    r"what share|worth|difference|differ|growth|deviation|minimises|break even)\b",
    re.IGNORECASE,
)

#: A signature to be completed.
_SIGNATURE = re.compile(r"^\s*(?:def|class)\s", re.MULTILINE)

#: Words that join a condition or a second step to a question.
_JOINS = re.compile(r"\b(?:if|after|before|under|without|both|each|not)\b", re.IGNORECASE)

#: Labels from which on a list counts as long, and the difficulty of choosing from it.
_LONG_LIST, _OF_LONG_LIST = 20, 7.0

#: Added for a table, for every 1,500 characters of context, and for every joining word.
_TABLE, _LENGTH, _JOIN, _PER = 0.5, 0.5, 0.5, 1500

#: The largest score, and the score of a plain question of each capability.
_HARDEST = 10.0
_PLAIN = {_EXTRACTION: 2.0, _NUMERICAL: 3.0, _KNOWLEDGE: 4.0, _COMPLEX: 5.0}


class RuleLabeller:
    """Labels questions by rules; the same question always gets the same labels."""

    def label(
        self, task: str, question: str, context: str, options: Sequence[str] = (), program: str = ""
    ) -> Label:
        """Return the labels of a question; the name of its task is not used."""
        del task
        labels = candidate_labels(context)
        capability, why = _capability(question, context, options, program, labels)
        features = features_of(question, context)
        score = _PLAIN[capability]
        if labels >= _LONG_LIST:
            score = _OF_LONG_LIST
        score += _TABLE * features.has_table + _LENGTH * (len(context) // _PER)
        score += _JOIN * len(_JOINS.findall(question)) + sub_questions(question) - 1
        return Label(capability, min(_HARDEST, score), why)


def _capability(
    question: str, context: str, options: Sequence[str], program: str, labels: int
) -> tuple[str, str]:
    """Return the capability and the rule that gave it."""
    if labels:
        return _KNOWLEDGE, f"a choice among about {labels} labels"
    if options:
        if context:
            return _COMPLEX, "a choice among options about a text"
        return _KNOWLEDGE, f"a choice among {len(options)} options"
    if program or _SIGNATURE.search(question):
        return _NUMERICAL, "code must be written"
    if _COMPUTES.search(question):
        return _NUMERICAL, "something must be computed"
    return _EXTRACTION, "nothing is computed"
