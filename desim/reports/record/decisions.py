"""The parts of a report on records with what was decided: metrics, each decision."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from desim.records.lines import Step
from desim.reports.page import Fold, Folded, Given, cleaned
from desim.reports.record.record_read import ReadRecord, readable, short_value
from desim.show.column import Column
from desim.show.labels import NOTHING, estimate_text, is_number

#: Metrics that are shown.
_MOST_METRICS = 100

#: Characters of a long text that are always shown, and that a reader opens.
_HEAD, _MOST_TEXT = 90, 3_000

#: Characters of a metric that is not a number: the column of numbers stays narrow.
_METRIC_HEAD = 28

#: Decisions of a table that is open at first.
_MOST_OPEN = 40

#: From here on a number is not rounded, and has no difference.
_HUGE = 1e300

#: A figure that the world does not describe.
_PLAIN = Column()


def metrics(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the metrics of records; of several also the score, and differences to the first."""
    names = list(dict.fromkeys(name for one in each for name in one.metrics))
    lines = [("score", [one.score for one in each])] if len(each) > 1 else []
    lines += [(name, [one.metrics.get(name) for one in each]) for name in names]
    if not lines:
        return
    columns = each[0].episode.metric_columns  # all have the same world
    heads = [f"{one.letter} - {each[0].letter}" for one in each[1:]]
    yield cleaned(
        ["metric", *(one.name for one in each), *heads],
        (
            [
                column.name(name),
                *(_metric_cell(value, column) for value in values),
                *(_change(values[0], other, column) for other in values[1:]),
            ]
            for name, values in lines
            for column in [columns.get(name, _PLAIN)]
        ),
        most=_MOST_METRICS,
    )
    if len(each) > 1:
        yield (
            "The records share the world, its parameters and the seed, so a difference is that of "
            "one pair of episodes. It says nothing about other seeds: desim sweep plays many, and "
            "has intervals."
        )


def _metric_cell(value: Any, column: Column) -> Fold | str:
    if is_number(value):
        return _figure(value, column) if abs(value) < _HUGE else short_value(value)
    return _folded(column.text(value) if isinstance(value, dict) else value, _METRIC_HEAD)


def _figure(value: float, column: Column) -> str:
    return estimate_text(float(value)) if column == _PLAIN else column.text(value)


def _change(before: Any, after: Any, column: Column) -> str:
    if not all(is_number(each) and abs(each) < _HUGE for each in (before, after)):
        return NOTHING if before == after or before is None or after is None else "differs"
    return ("+" if after > before else "") + _figure(after - before, column)


def difference(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield for each record the first decision that differs from that of the first record."""
    first, *others = each
    if others:
        yield cleaned(
            [
                "record",
                f"first decision that differs from {first.name}",
                "role",
                f"action in {first.name}",
                "action in the record",
            ],
            (_first_difference(first, other) for other in others),
            left=range(5),
        )


def _first_difference(first: ReadRecord, other: ReadRecord) -> list[object]:
    pairs = zip_longest(first.episode.steps, other.episode.steps)
    for number, (mine, theirs) in enumerate(pairs, 1):
        if mine is None or theirs is None:
            more = other if mine is None else first
            text = f"none in {number - 1:,} decisions; {more.name} goes on"
            return [other.name, text, None, None, None]
        if (mine.t, mine.role, mine.action) != (theirs.t, theirs.role, theirs.action):
            asked = mine.role if mine.role == theirs.role else f"{mine.role} and {theirs.role}"
            when = f"number {number:,}, {first.when(mine)}"
            return [other.name, when, asked, _folded(mine.action), _folded(theirs.action)]
    return [other.name, "none: all decisions are the same", None, None, None]


def decisions(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the decisions of each record as a table, long texts folded."""
    for one in each:
        shown = [*one.first, *one.last]
        if not shown:
            continue
        has_notes = any(step.notes for _, step in shown)
        yield Folded(
            f"{one.name}: {_extent(one)}",
            cleaned(
                ["number", "time", "role", "action", "observation", *["notes"] * has_notes],
                (
                    [number, *_decision_cells(one, step), *[_folded(step.notes)] * has_notes]
                    for number, step in shown
                ),
                left=range(1, 6),
                most=len(shown),
            ),
            is_open=len(shown) <= _MOST_OPEN,
        )


def _extent(one: ReadRecord) -> str:
    first, last, of = len(one.first), len(one.last), one.decisions
    if first + last == of:
        return f"all {of:,} decisions." if of > 1 else "its one decision."
    return (
        f"the first {first:,} and the last {last:,} of {of:,} decisions; {of - first - last:,} "
        "between them are left out (desim export RECORD --what decisions writes all)."
    )


def _decision_cells(one: ReadRecord, step: Step) -> list[object]:
    return [one.when(step), step.role, _folded(step.action), _folded(step.observation)]


def _folded(value: Any, head: int = _HEAD) -> Fold | str:
    try:
        return Fold.of(readable(value), head, _MOST_TEXT)
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        return short_value(value)
