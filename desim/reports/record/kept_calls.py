"""The calls of language models in a record: those that a page shows, and sums over all."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeGuard

from attrs import frozen

from desim.records.conversation import RecordedCall, calls_of
from desim.records.lines import Step
from desim.reports.elements.page import cleaned
from desim.reports.record.record_read import ReadRecord
from desim.show.labels import is_number
from desim.show.table import Table

#: The divisor that gives the share of the last calls among those that are shown.
_LAST = 6

#: From here on a number is not a figure of a call.
_HUGE = 1e15


def is_of_call(entry: Any) -> bool:
    """Return whether an entry of a transcript belongs to a call of a language model."""
    match entry:
        case {"texts": dict()} | {"request": int()} | {"reply": dict()} | {"no_reply": str()}:
            return True
    return False


#: A decision with its number and its calls; without either where the record ends before it.
DecidedCalls = tuple[Step | None, int | None, list[RecordedCall]]


@frozen
class KeptCalls:
    """The calls of a record that are shown, by decision, and sums over all calls.

    Attributes:
        first: The first decisions with their calls.
        last: The last ones.
        left_out: The number of decisions between them.
        sums: Figures of all calls, by role and phase.
    """

    first: list[DecidedCalls]
    last: Sequence[DecidedCalls]
    left_out: int
    sums: Mapping[tuple[str, str], "Counter[str]"]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the decisions that are shown."""
        return frozenset(number for _, number, _ in (*self.first, *self.last) if number)

    @classmethod
    def of(cls, one: ReadRecord, most: int | None) -> "KeptCalls":
        """Read the calls of a record, of which *most* are kept.

        Raises:
            BadRecord: The calls are not readable.
        """
        sums: dict[tuple[str, str], Counter[str]] = {}
        first: list[DecidedCalls] = []
        last: deque[DecidedCalls] = deque(maxlen=most // _LAST if most else None)
        kept = all_decisions = 0
        for decided in _by_decision(one):
            calls = decided[-1]
            all_decisions += 1
            kept += len(calls)
            (first if most is None or kept <= most - most // _LAST else last).append(decided)
            for call in calls:
                sums.setdefault((call.role, call.phase), Counter()).update(call_figures(call))
        return cls(first, last, all_decisions - len(first) - len(last), sums)


def _by_decision(one: ReadRecord) -> Iterator[DecidedCalls]:
    steps = enumerate(one.episode.steps, 1)
    for number, calls in groupby(calls_of(one.path), key=attrgetter("decision")):
        step = next((step for at, step in steps if at == number), None) if number else None
        yield step, number, list(calls)


def call_figures(call: RecordedCall) -> dict[str, float]:
    """Return the numbers of a call by the heads of the table of sums."""
    reply = call.reply or {}
    found = {head: reply.get(name) for name, head in FIGURES.items()}
    numbers = {head: value for head, value in found.items() if is_figure(value)}
    return {"calls": 1, "without reply": int(call.reply is None), **numbers}


def is_figure(value: Any) -> TypeGuard[float]:
    """Return whether a value of a record is a number that can be summed."""
    return is_number(value) and abs(value) < _HUGE


#: Numbers of a reply, and the heads of their columns.
FIGURES = {
    "prompt_tokens": "tokens read",
    "cached_tokens": "of them cached",
    "completion_tokens": "tokens written",
    "reasoning_tokens": "of them reasoning",
    "seconds": "seconds",
    "reported_cost": "reported cost",
}


def sums_table(kept: KeptCalls) -> Table:
    """Return the sums over all calls as a table."""
    heads = ["calls", "without reply", *FIGURES.values()]
    used = [head for head in heads if any(figures[head] for figures in kept.sums.values())]
    return cleaned(
        ["role", "phase", *used],
        ([role, phase, *map(figures.get, used)] for (role, phase), figures in kept.sums.items()),
        left=(0, 1),
    )
