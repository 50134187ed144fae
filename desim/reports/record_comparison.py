"""The part of a report that compares records of one world and seed: figures and decisions."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from desim.records.lines import Step
from desim.reports.page import Fold, Given, Table
from desim.reports.record_read import ReadRecord, readable, short_value
from desim.show.labels import NOTHING, estimate_text

__all__ = ["difference", "metrics"]

#: Metrics that are shown.
_MOST_METRICS = 100

#: Characters of an action that are always shown, and that a reader opens.
_HEAD, _MOST_TEXT = 120, 3_000

#: Characters of a metric that is no number: the column of numbers stays narrow.
_CELL = 28


def metrics(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the score and the metrics of records, with differences to the first where several."""
    names = list(dict.fromkeys(name for one in each for name in one.metrics))
    lines = [("score", [one.score for one in each])] if len(each) > 1 else []
    lines += [(name, [one.metrics.get(name) for one in each]) for name in names]
    if not lines:
        return
    letters = [one.name.partition(" ")[0] for one in each]
    heads = [letter + f" - {letters[0]}" for letter in letters[1:]]
    yield Table.of(
        ["metric", *(one.name for one in each), *heads],
        (
            [name, *map(_value, values), *(_change(values[0], other) for other in values[1:])]
            for name, values in lines
        ),
        most=_MOST_METRICS,
    )
    if len(each) > 1:
        yield (
            "The records share the world, its parameters and the seed, so a difference is that of "
            "one pair of episodes. It says nothing about other seeds: desim sweep plays many, and "
            "has intervals."
        )


def _value(value: Any) -> Fold | str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return estimate_text(float(value)) if abs(value) < 1e300 else short_value(value)  # noqa: PLR2004
    return Fold.of(readable(value), _CELL, _MOST_TEXT)


def _change(before: Any, after: Any) -> str:
    numbers = [v for v in (before, after) if isinstance(v, int | float) and abs(v) < 1e300]  # noqa: PLR2004
    if len(numbers) < 2 or bool in map(type, numbers):  # noqa: PLR2004 (both)
        return NOTHING if before == after or before is None or after is None else "differs"
    found = float(numbers[1] - numbers[0])
    return ("+" if found > 0 else "") + estimate_text(found)


def difference(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield for each record the first decision that differs from that of the first record."""
    first, *others = each
    if not others:
        return
    yield f"Compared with {first.name}, whose world has the same parameters and the same seed:"
    yield Table.of(
        [
            "record",
            "first decision that differs",
            "role",
            f"action in {first.name}",
            "action in the record",
        ],
        (_line(first, other) for other in others),
        left=range(5),
    )


def _line(first: ReadRecord, other: ReadRecord) -> list[object]:
    pairs = zip_longest(first.episode.steps, other.episode.steps)
    for number, (mine, theirs) in enumerate(pairs, 1):
        if mine is None or theirs is None:
            more = other if mine is None else first
            text = f"none in {number - 1:,} decisions; {more.name} goes on"
            return [other.name, text, NOTHING, NOTHING, NOTHING]
        if (mine.t, mine.role, mine.action) != (theirs.t, theirs.role, theirs.action):
            asked = mine.role if mine.role == theirs.role else f"{mine.role} and {theirs.role}"
            return [
                other.name,
                f"number {number:,}, {_when(first, mine)}",
                asked,
                *(Fold.of(readable(one.action), _HEAD, _MOST_TEXT) for one in (mine, theirs)),
            ]
    return [other.name, "none: all decisions are the same", NOTHING, NOTHING, NOTHING]


def _when(one: ReadRecord, step: Step) -> str:
    series = one.replayed.series
    return series.timeline.text(step.t) if series else f"t={step.t:,}"
