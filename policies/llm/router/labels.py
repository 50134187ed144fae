"""Labels of a question: its capability and its difficulty, given by a model.

Source: reference SPEC of FirmBench, section 2. The words of the request are our own, and so are the
two estimates among the hints, which the SPEC names without saying how they are made.
"""

import re
from collections.abc import Sequence
from typing import get_args

from attrs import frozen

from policies.llm.messages import as_json, request_of
from policies.llm.replies import answer_only
from policies.llm.router.situation import Bucket
from policies.llm.wires.wire import Complete

CAPABILITIES = (
    "Information Extraction",
    "Numerical Calculation",
    "Domain Knowledge",
    "Complex Reasoning",
)

#: Capabilities whose items have a difficulty, as published.
BUCKETED = ("Numerical Calculation", "Domain Knowledge")

BUCKETS: tuple[Bucket, ...] = get_args(Bucket)

#: The highest score of each bucket but the last.
_EASY, _MIDDLE, _HARDEST = 3.0, 6.0, 10.0

#: Characters of a context and of a program that the labelling model reads, of a reply that is read,
#: and of a text that the estimates read.
_CONTEXT, _PROGRAM, _LONGEST, _SEARCHED = 3_500, 1_200, 20_000, 100_000

#: Words of an entry of a list of labels; a longer one is a part of a sentence. Entries from which
#: on a line is such a list.
_LABEL_WORDS, _SHORTEST_LIST = 3, 3

#: Characters that may surround the words of a line, such as signs of Markdown.
_AROUND = " \t*_`"

#: Names of the line with the score.
_SCORES = ("score", "difficultyscore", "difficulty")

_SCORE = re.compile(r"[-+]?\d+(?:\.\d+)?")

_REQUEST = (
    "You sort questions; you do not answer them. Name the one capability that a question demands "
    "most, and how hard it is.\n"
    f"- {CAPABILITIES[0]}: the answer stands in the text and can be copied; nothing is computed.\n"
    f"- {CAPABILITIES[1]}: something must be computed, or code must be written.\n"
    f"- {CAPABILITIES[2]}: it takes knowledge of the field, such as the right label or term. To "
    "choose among a long list of labels is hard: 7 to 10.\n"
    f"- {CAPABILITIES[3]}: several of these must be joined into a judgement.\n"
    "The score goes from 0 (trivial) to 10 (experts fail); use all of it.\n"
    "Reply with three lines and nothing else:\n"
    "Capability: one of the four names\nScore: a number from 0 to 10\n"
    "Reasoning: at most four sentences"
)


@frozen
class Label:
    """The labels of a question.

    Attributes:
        capability: One of `CAPABILITIES`; empty if none is given.
        score: Difficulty from 0 to 10; None if none is given.
        reasoning: Why.
    """

    capability: str = ""
    score: float | None = None
    reasoning: str = ""

    @property
    def bucket(self) -> Bucket | None:
        """The difficulty; see `bucket_of`."""
        return None if self.score is None else bucket_of(self.capability, self.score)


def bucket_of(capability: str, score: float) -> Bucket | None:
    """Return the bucket of a difficulty from 0 to 10: up to 3 easy, up to 6 middle, else hard.

    As published only the capabilities of `BUCKETED` have buckets, so that the last rule of the
    paper's Table 4 never fires.
    """
    if capability not in BUCKETED:
        return None
    if score <= _EASY:
        return "easy"
    return "middle" if score <= _MIDDLE else "hard"


def read_label(text: str) -> Label:
    """Read the three lines of a reply; of lines of one kind the last counts, others are ignored.

    `DifficultyScore`, which the paper asks for, is a score too.

    >>> read_label("Capability: domain knowledge").capability
    'Domain Knowledge'
    """
    lines: dict[str, str] = {}
    for line in text[:_LONGEST].splitlines():
        name, _, value = line.partition(":")
        kind = re.sub(r"[^a-z]", "", name.lower())
        lines["score" if kind in _SCORES else kind] = value.strip(_AROUND)
    known = {name.lower(): name for name in CAPABILITIES}
    number = _SCORE.search(lines.get("score", ""))
    return Label(
        known.get(lines.get("capability", "").lower(), ""),
        min(_HARDEST, max(0.0, float(number[0]))) if number else None,
        lines.get("reasoning", ""),
    )


def labelled(
    complete: Complete,
    task: str,
    question: str,
    context: str,
    options: Sequence[str] = (),
    program: str = "",
) -> Label:
    """Return the labels that a model gives a question; empty ones where its reply is unreadable.

    Args:
        complete: The call of the model, at temperature 0.
        task: The name of the question's task.
        question: The question.
        context: The text that belongs to it, of which the first 3,500 characters are read.
        options: Among which the answer is chosen, if it is.
        program: The program that belongs to it, of which the first 1,200 characters are read.
    """
    shown = {
        "question": question,
        "context": context[:_CONTEXT],
        **({"options": list(options)} if options else {}),
        **({"program": program[:_PROGRAM]} if program else {}),
        "hints": {
            "context_length": len(context),
            "options": len(options),
            "candidate_labels": candidate_labels(context),
            "sub_questions": max(1, question.count("?")),
        },
    }
    text = f"# Task\n{task}\n\n# Sample\n{as_json(shown)}"
    reply = complete(request_of(_REQUEST, text, 0.0, "label"))
    return read_label(answer_only(reply).text)


def candidate_labels(context: str) -> int:
    r"""Return the most short entries, separated by commas, of a line; 0 where none has three.

    It estimates from how many labels an answer is chosen.

    >>> candidate_labels("Text: In May, sales rose.\nTags: Revenue, Cost, Rent")
    3
    """
    most = 0
    for line in context[:_SEARCHED].splitlines():
        entries = line.partition(": ")[2] or line
        parts = [part.split() for part in entries.strip(" .").split(",")]
        if all(0 < len(words) <= _LABEL_WORDS for words in parts):
            most = max(most, len(parts))
    return most if most >= _SHORTEST_LIST else 0
