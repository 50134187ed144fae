"""The parts of a report on records with who decided what: kinds of actions, each decision."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from desim.records.lines import Step
from desim.reports.charts import shares
from desim.reports.page import Figure, Fold, Folded, Given, Table
from desim.reports.record_read import OTHER, ReadRecord, readable

__all__ = ["actions", "decisions", "messages"]

#: Actions of a role with a colour of their own, and roles of a record.
_MOST_ACTIONS, _MOST_ROLES = 7, 12

#: Characters of a long text that are always shown, and that a reader opens.
_HEAD, _MOST_TEXT = 90, 3_000

#: Decisions of a table that is open at first.
_MOST_OPEN = 40

#: What policies received, of all records of a page.
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
        Table.of(
            ["role", "decisions", *heads],
            ([b, f"{bars[b].total():,}", *(f"{n:,}" for n in row)] for b, row in counts.items()),
        ),
    )


def _rest(counter: "Counter[str]", kinds: Sequence[str]) -> list[int]:
    return [counter.total() - sum(counter[kind] for kind in kinds)]


def decisions(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield the decisions of each record as a table, long texts folded."""
    if any(one.first for one in each):
        yield (
            "Numbers begin at 1. desim regret, and desim branch --at, count the decisions before "
            "one: number 1 is decision 0 there."
        )
    for one in each:
        if not one.first:
            continue
        shown = [*one.first, *one.last]
        heads = ["number", "time", "role", "action", "observation"]
        yield Folded(
            f"{one.name}: {_shown(one)}",
            Table.of(
                [*heads, "notes"] if _notes(one) else heads,
                (_line(one, number, step) for number, step in shown),
                left=range(1, 6),
                most=len(shown),
            ),
            is_open=len(shown) <= _MOST_OPEN,
        )


def _shown(one: ReadRecord) -> str:
    first, last, of = len(one.first), len(one.last), one.decisions
    if first + last == of:
        return f"all {of:,} decisions." if of > 1 else "its one decision."
    return (
        f"the first {first:,} and the last {last:,} of {of:,} decisions; {of - first - last:,} "
        "between them are left out (desim export RECORD --what decisions writes all)."
    )


def _notes(one: ReadRecord) -> bool:
    return any(step.notes for _, step in (*one.first, *one.last))


def _line(one: ReadRecord, number: int, step: Step) -> Iterator[object]:
    series = one.replayed.series
    yield f"{number:,}"
    yield series.timeline.text(step.t) if series else f"t={step.t:,}"
    yield step.role
    yield Fold.of(readable(step.action), _HEAD, _MOST_TEXT)
    yield Fold.of(readable(step.observation), _HEAD, _MOST_TEXT)
    if _notes(one):
        yield Fold.of(readable(step.notes) if step.notes else "", _HEAD, _MOST_TEXT)


def messages(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield what policies received between decisions, such as the replies of a language model."""
    most = max(1, _MOST_MESSAGES // len(each))
    for one in each:
        found = one.episode.transcript
        if found:
            yield Folded(
                f"{one.name}: {len(found):,} entries of what its policies received",
                Table.of(
                    ["number", "role", "entry"],
                    (
                        [f"{at:,}", entry.role, Fold.of(readable(entry.entry), _HEAD, _MOST_TEXT)]
                        for at, entry in enumerate(islice(found, most), 1)
                    ),
                    left=(1, 2),
                    notes=[f"the first {most:,} of {len(found):,} are shown"]
                    if len(found) > most
                    else [],
                    most=most,
                ),
            )
