"""A question as a router sees it: its labels, and figures of its text.

Source: reference SPEC of FirmBench, sections 2 and 6; for tables the recorded cases, which differ
from its text.
"""

import re
from typing import Literal

from attrs import frozen

#: Difficulties as rules name them.
Bucket = Literal["easy", "middle", "hard"]

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
#: The pattern of the published live agent: its escapes are doubled, so it finds backslashes.
_NUMBER_IN_LIVE_AGENT = re.compile(r"[-+]?\\d+(?:\\.\\d+)?")
_CODE = re.compile(r"```|def |import |<code[\s>]", re.IGNORECASE)
_TABLE = re.compile(r"\n\||\| ")


@frozen
class Features:
    """Figures of a question and its context; each is 0 or false if not given.

    Attributes:
        question_chars: Characters of the question.
        context_chars: Characters of the context.
        num_numbers: Decimal numbers in both, each with its sign; "1,000" counts as two.
        has_code: Whether either contains a code fence, "def ", "import " or a code tag, in any
            capitals.
        has_table: Whether the context contains a pipe at the start of a line other than the first,
            or a pipe and a space.
        table_row_estimate: Lines of the context with a pipe; 0 without a table.
    """

    question_chars: int = 0
    context_chars: int = 0
    num_numbers: int = 0
    has_code: bool = False
    has_table: bool = False
    table_row_estimate: int = 0


@frozen
class Situation:
    """One question, or one decision, as a router sees it.

    Attributes:
        task: The name of its task.
        capability: Its label, one of `labels.CAPABILITIES`; empty if it has no such label.
        bucket: Its difficulty; None if it has no such label.
        features: Figures of the text; None without a text, and then no bound holds.
    """

    task: str = ""
    capability: str | None = ""
    bucket: str | None = None
    features: Features | None = None


def features_of(
    question: str | None, context: str | None, *, as_published_live: bool = False
) -> Features:
    """Return the features of a question and its context; None counts as an empty text.

    Args:
        question: The question as the data set has it, without instructions. Tasks whose items are
            one text (finer, formula) have it as the context.
        context: The text that belongs to it.
        as_published_live: Whether `num_numbers` counts what the published live agent counts.

    >>> features_of("Was 7.5 more than -3?", "| a | b |").num_numbers
    2
    """
    asked, given = question or "", context or ""
    number = _NUMBER_IN_LIVE_AGENT if as_published_live else _NUMBER
    has_table = _TABLE.search(given) is not None
    return Features(
        question_chars=len(asked),
        context_chars=len(given),
        num_numbers=sum(len(number.findall(text)) for text in (asked, given)),
        has_code=any(_CODE.search(text) for text in (asked, given)),
        has_table=has_table,
        table_row_estimate=sum("|" in line for line in given.splitlines()) if has_table else 0,
    )
