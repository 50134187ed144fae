"""The parts of a report on records with who decided what: kinds of actions, each decision.

The part of a report that compares records of one world and seed: figures and decisions.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from desim.records.lines import Step
from desim.reports.elements.charts import shares
from desim.reports.elements.page import Figure, Fold, Folded, Given, Link, cleaned
from desim.reports.record.kept_calls import is_of_call
from desim.reports.record.record_read import OTHER, ReadRecord, readable, short_value
from desim.show.column import Column
from desim.show.labels import NOTHING, estimate_text, is_number

#: Actions of a role with a colour of their own, and roles of a record.
_MOST_ACTIONS, _MOST_ROLES = 7, 12

#: Characters of a long text that are always shown, and that a reader opens.
_HEAD, _MOST_TEXT = 90, 3_000

#: Decisions of a table that is open at first.
_MOST_OPEN = 40

#: Messages that policies received, of all records of a page.
_MOST_MESSAGES = 200


def actions(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the mix of actions, a bar for each role of each record."""
    bars = {
        (f"{role}, {one.name}" if len(each) > 1 else role): counter
        for one in each
        for role, counter in list(one.actions.items())[:_MOST_ROLES]
    }
    total = sum(bars.values(), Counter[str]())
    if len(total) <= 1:  # a role of one kind of action has no mix
        return
    kinds = [kind for kind, _ in total.most_common(_MOST_ACTIONS) if kind != OTHER]
    heads = [*kinds, *([OTHER] if set(total) - set(kinds) else [])]
    counts = {
        label: [*(counter[kind] for kind in kinds), *_rest(counter, kinds)][: len(heads)]
        for label, counter in bars.items()
    }
    parts = {
        head: [100 * row[place] / bars[label].total() for label, row in counts.items()]
        for place, head in enumerate(heads)
    }
    yield Figure(
        "Actions of each role",
        shares(list(bars), parts, "% of the role's decisions"),
        f"Shares of {', '.join(heads)} among the decisions of {len(bars)} roles.",
        cleaned(
            ["role", "decisions", *heads],
            ([bar, bars[bar].total(), *row] for bar, row in counts.items()),
        ),
    )


def _rest(counter: "Counter[str]", kinds: Sequence[str]) -> list[int]:
    return [counter.total() - sum(counter[kind] for kind in kinds)]


def decisions(each: Sequence[ReadRecord], called: Mapping[str, Collection[int]]) -> Iterator[Given]:
    """Yield the decisions of each record as a table, long texts folded.

    Args:
        each: The records of a section.
        called: By record the numbers of the decisions whose calls of a model the page has.
    """
    for one in each:
        if not one.first:
            continue
        shown = [*one.first, *one.last]
        heads = ["number", "time", "role", "action", "observation"]
        yield Folded(
            f"{one.name}: {_extent(one)}",
            cleaned(
                [*heads, "notes"] if _notes(one) else heads,
                (_decision_line(one, number, step, called) for number, step in shown),
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


def _notes(one: ReadRecord) -> bool:
    return any(step.notes for _, step in (*one.first, *one.last))


def _decision_line(
    one: ReadRecord, number: int, step: Step, called: Mapping[str, Collection[int]]
) -> Iterator[object]:
    if number in called.get(one.name, ()):
        yield Link(f"{number:,}", one.anchor("d", number), one.anchor("row", number))
    else:
        yield number
    yield one.when(step)
    yield step.role
    yield _folded(step.action)
    yield _folded(step.observation)
    if _notes(one):
        yield _folded(step.notes) if step.notes else ""


def _folded(value: Any, head: int = _HEAD) -> Fold | str:
    return Fold.of(readable(value), head, _MOST_TEXT)


def messages(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield what policies received between decisions, without the calls of language models."""
    most = max(1, _MOST_MESSAGES // len(each))
    for one in each:
        found = [say for say in one.episode.transcript if not is_of_call(say.entry)]
        if found:
            yield Folded(
                f"{one.name}: {len(found):,} entries of what its policies received",
                cleaned(
                    ["number", "role", "entry"],
                    (
                        [at, entry.role, _folded(entry.entry)]
                        for at, entry in enumerate(islice(found, most), 1)
                    ),
                    left=(1, 2),
                    notes=[f"the first {most:,} of {len(found):,} are shown"]
                    if len(found) > most
                    else [],
                    most=most,
                ),
            )


#: Metrics that are shown.
_MOST_METRICS = 100

#: Characters of an action in a comparison that are always shown.
_COMPARED_HEAD = 120

#: From here on a number is not rounded, and has no difference.
_HUGE = 1e300

#: A figure that the world does not describe.
_PLAIN = Column()

#: Characters of a metric that is not a number: the column of numbers stays narrow.
_CELL = 28


def metrics(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the score and the metrics of records, with differences to the first record."""
    names = list(dict.fromkeys(name for one in each for name in one.metrics))
    lines = [("score", [one.score for one in each])] if len(each) > 1 else []
    lines += [(name, [one.metrics.get(name) for one in each]) for name in names]
    if not lines:
        return
    columns = each[0].episode.metric_columns  # all have the same world
    letters = [one.name.partition(" ")[0] for one in each]
    heads = [letter + f" - {letters[0]}" for letter in letters[1:]]
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
    return _folded(column.text(value) if isinstance(value, dict) else value, _CELL)


def _figure(value: float, column: Column) -> str:
    return estimate_text(float(value)) if column == _PLAIN else column.text(value)


def _change(before: Any, after: Any, column: Column) -> str:
    if not all(is_number(each) and abs(each) < _HUGE for each in (before, after)):
        return NOTHING if before == after or before is None or after is None else "differs"
    return ("+" if after > before else "") + _figure(after - before, column)


def difference(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield for each record the first decision that differs from that of the first record."""
    first, *others = each
    if not others:
        return
    yield f"Compared with {first.name}, whose world has the same parameters and the same seed:"
    yield cleaned(
        [
            "record",
            "first decision that differs",
            "role",
            f"action in {first.name}",
            "action in the record",
        ],
        (_metrics_line(first, other) for other in others),
        left=range(5),
    )


def _metrics_line(first: ReadRecord, other: ReadRecord) -> list[object]:
    pairs = zip_longest(first.episode.steps, other.episode.steps)
    for number, (mine, theirs) in enumerate(pairs, 1):
        if mine is None or theirs is None:
            more = other if mine is None else first
            text = f"none in {number - 1:,} decisions; {more.name} goes on"
            return [other.name, text, None, None, None]
        if (mine.t, mine.role, mine.action) != (theirs.t, theirs.role, theirs.action):
            asked = mine.role if mine.role == theirs.role else f"{mine.role} and {theirs.role}"
            return [
                other.name,
                f"number {number:,}, {first.when(mine)}",
                asked,
                *(_folded(one.action, _COMPARED_HEAD) for one in (mine, theirs)),
            ]
    return [other.name, "none: all decisions are the same", None, None, None]
