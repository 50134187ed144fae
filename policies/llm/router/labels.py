"""Labels of a question: its capability and its difficulty, given by a model.

Source: reference SPEC of FirmBench, section 2. The words of the request are our own.
"""

import re
from typing import get_args

from attrs import frozen

from policies.llm.messages import as_json, system, user
from policies.llm.router.situation import Bucket
from policies.llm.wire import Complete

__all__ = ["BUCKETED", "BUCKETS", "CAPABILITIES", "Label", "Labeller", "bucket_of", "read_label"]

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

#: Characters of a context that the labelling model reads.
_CONTEXT = 3500

#: Characters of a reply that are read.
_LONGEST = 20_000

#: What may surround the words of a line, such as signs of Markdown.
_AROUND = " \t*_`"
_BEFORE = _AROUND + "#-"

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
    """What a labelling model says about a question.

    Attributes:
        capability: One of `CAPABILITIES`; empty where the reply names none.
        score: Difficulty from 0 to 10; None where the reply holds no number.
        reasoning: Why, in the model's words.
    """

    capability: str = ""
    score: float | None = None
    reasoning: str = ""

    def bucket(self, *, every_capability: bool = False) -> Bucket | None:
        """Return the difficulty; see `bucket_of`."""
        if self.score is None:
            return None
        return bucket_of(self.capability, self.score, every_capability=every_capability)


def bucket_of(capability: str, score: float, *, every_capability: bool = False) -> Bucket | None:
    """Return the bucket of a difficulty: up to 3 easy, up to 6 middle, else hard.

    Args:
        capability: One of `CAPABILITIES`.
        score: From 0 to 10.
        every_capability: Whether all capabilities have buckets. As published only those of
            `BUCKETED` do, so that the last rule of the paper's Table 4 never fires.
    """
    if capability not in BUCKETED and not every_capability:
        return None
    if score <= _EASY:
        return "easy"
    return "middle" if score <= _MIDDLE else "hard"


def read_label(text: str) -> Label:
    """Read the three lines of a reply; of lines of one kind the last counts, others are ignored.

    >>> read_label("Capability: domain knowledge").capability
    'Domain Knowledge'
    """
    lines: dict[str, str] = {}
    for line in text[:_LONGEST].splitlines():
        name, _, value = line.partition(":")
        lines[name.strip(_BEFORE).lower()] = value.strip(_AROUND)
    known = {name.lower(): name for name in CAPABILITIES}
    number = _SCORE.search(lines.get("score", ""))
    return Label(
        known.get(lines.get("capability", "").lower(), ""),
        min(_HARDEST, max(0.0, float(number[0]))) if number else None,
        lines.get("reasoning", ""),
    )


@frozen
class Labeller:
    """Asks a model for the labels of questions, at temperature 0.

    Attributes:
        complete: The call of the model.
    """

    complete: Complete

    def label(self, task: str, question: str, context: str) -> Label:
        """Return the labels of a question; empty ones where the reply cannot be read."""
        sample = {
            "question": question,
            "context": context[:_CONTEXT],
            "hints": {"context_length": len(context)},
        }
        request = user(f"# Task\n{task}\n\n# Sample\n{as_json(sample)}")
        reply = self.complete([system(_REQUEST), request], (), None, temperature=0.0)
        return read_label(reply.text)
