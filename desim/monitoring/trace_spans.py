"""What a model reports as having been under way, in the time of a trace."""

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

from desim.core.model_protocols import offers
from desim.core.reported import HasSpans, Span
from desim.faults import RAISED, fault_text
from desim.monitoring.trace_clock import TraceClock
from desim.monitoring.trace_labels import clean
from desim.monitoring.trace_rows import Lasting

__all__ = ["reported"]


def reported(
    model: Any, state: Any, clock: TraceClock, end: int, limit: int
) -> tuple[list[Lasting], str]:
    """Return what a model reports as under way, and what went wrong in that; often empty.

    Args:
        model: The model, which may report nothing.
        state: Its state, also of an episode that has failed.
        clock: The time of the trace.
        end: The end of the trace.
        limit: How many are read at most.
    """
    rows: list[Lasting] = []
    if not offers(model, HasSpans):
        return rows, ""
    try:
        # Not a comprehension: what is read before a fault is kept.
        for span in islice(model.trace_spans(state), limit):
            rows.append(_row(span, clock, end))  # noqa: PERF401 (as above)
    except RAISED as fault:  # a trace is no reason for an episode to fail
        return rows, fault_text(fault)
    return rows, ""


def _row(span: Span, clock: TraceClock, end: int) -> Lasting:
    start = clock.place(span.start, end)
    last = end if span.end is None else max(start, clock.place(span.end, end))
    row = Lasting("", clean(span.kind), clean(span.name), start, last)
    row.phases = list(_phases(span, clock, start, last))
    if span.end is None:
        row.arguments["unfinished"] = True
    return row


def _phases(span: Span, clock: TraceClock, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    since = [min(end, max(start, clock.place(tick, end))) for tick, _ in span.phases]
    for (first, last), (_, name) in zip(pairwise([*since, end]), span.phases, strict=True):
        if first < last:
            yield first, last, clean(name)
