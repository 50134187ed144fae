"""`desim diff`: where two records first differ."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any

import click
import msgspec
from attrs import evolve, frozen

from desim.cli.exit_codes import FAILED
from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.errors import BadRecord, UsageError
from desim.records.differences import (
    DifferingPlace,
    FirstDifference,
    RecordDifferences,
    record_differences,
)
from desim.records.episode import Episode
from desim.short_repr import short_repr, shortened
from desim.show.column import Column
from desim.show.console import console
from desim.show.labels import NOTHING, value_text
from desim.show.table import Table

#: Differences of a header or an end that are printed, and characters of a value.
_MOST_LINES, _MOST_CHARACTERS = 12, 300

#: Characters of a path.
_PATH = 120

#: A digest, and its digits that are printed.
_DIGEST, _DIGITS = re.compile("[0-9a-f]{64}"), 16

#: Fields of an end that are printed if other decisions led to it.
_BRIEF = ("ended", "score")

#: Texts of more characters are printed from shortly before the first that differs.
_LONG, _BEFORE = 60, 20

_DECISIONS = ("Decisions", "bold")


@frozen
class TwoRecords:
    """The records that are compared.

    Attributes:
        a: A record; it may have been cut.
        b: Another one.
    """

    a: str
    b: str


@command_of("diff", a={"metavar": "A"}, b={"metavar": "B"})
def command(records: TwoRecords, printed: PrintOptions) -> None:
    """Print where two records first differ: header, decision, end.

    What language models were sent is not compared. The records are read as data, and may have been
    cut. The exit code is 0 if nothing differs, 1 if something does, and 2 if a record cannot be
    read.
    """
    try:
        found = record_differences(records.a, records.b)
    except BadRecord as fault:  # 1 says that they differ
        raise UsageError(str(fault)) from None
    except RecursionError:
        raise UsageError("a record holds values that are nested too deep") from None
    if printed.as_json:
        click.echo(msgspec.json.encode({"a": records.a, "b": records.b, **found.plain()}))
    else:
        out = console()
        for place, part in enumerate(_printed(records, found)):
            out.print(*[""] * bool(place), *part, sep="\n")
    sys.exit(0 if found.is_equal else FAILED)


def _printed(records: TwoRecords, found: RecordDifferences) -> Iterator[list[Any]]:
    """Yield parts, between which an empty line is printed."""
    from rich.text import Text

    lines = (("A", records.a, *_facts(found.a)), ("B", records.b, *_facts(found.b)))
    yield [Table(("", "record", "world", "seed", "decisions", "ended"), lines, (0, 1, 2, 5))]
    if found.is_equal:
        yield [Text(f"No difference: {len(found.a.steps):,} decisions, the same end.")]
        return
    if found.header:
        yield [_table("Header", found.header)]
    if found.decision is not None:
        yield _first(found.decision)
    elif found.is_of_one_world and found.a.steps:
        yield [Text.assemble(_DECISIONS, f": all {len(found.a.steps):,} are the same.")]
    if found.end:
        yield [_end_table(found)]
    if not found.is_of_one_world:
        yield [Text("Parameters and decisions of different worlds are not compared.")]


def _facts(episode: Episode) -> tuple[str, int, int, str]:
    head, end = episode.header, episode.result
    name = f"{head.model}/{head.preset}" if head.preset else head.model
    ended = "failed" if episode.failure else "cut"
    if end is not None:
        ended = f"{end.ended}, score {episode.score_text}"
    return name, head.seed, len(episode.steps), ended


def _table(title: str, each: Sequence[DifferingPlace]) -> Table:
    """Return differences as a table of places and values."""
    more = len(each) - _MOST_LINES
    notes = [f"and {more:,} more; --json prints all"] if more > 0 else []
    lines = ((shortened(one.path, _PATH), *_labels(one)) for one in each[:_MOST_LINES])
    return Table((title, "A", "B"), lines, (0, 1, 2), notes=notes)


def _end_table(found: RecordDifferences) -> Table:
    """Return the differences of the ends; in brief where they follow from other decisions."""
    columns = found.a.metric_columns
    end = [_in_units(each, columns) for each in found.end]
    brief = [each for each in end if each.path in _BRIEF]
    if found.decision is None or not brief:
        return _table("End", end)
    more = len(end) - len(brief)
    notes = [f"and {more:,} further figures; --json prints all"] if more else []
    return evolve(_table("End", brief), notes=notes)


def _in_units(place: DifferingPlace, columns: Mapping[str, Column]) -> DifferingPlace:
    """Return a difference of two figures in the unit that the world declares."""
    column = columns.get(place.path.removeprefix("metrics."))
    return evolve(place, a=column.text(place.a), b=column.text(place.b)) if column else place


def _labels(place: DifferingPlace) -> tuple[str, str]:
    """Return both values, two long texts from shortly before they differ."""
    a, b = place.a, place.b
    if isinstance(a, str) and isinstance(b, str):
        start = len(commonprefix((a, b))) - _BEFORE  # noqa: RUF071 (texts, not paths)
        if start > 0 and max(len(a), len(b)) > _LONG:
            a, b = (f"\u2026{text[start:]}" for text in (a, b))
    return _value_label(a), _value_label(b)


def _value_label(value: Any) -> str:
    try:
        text = NOTHING if value is None else value_text(value)
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        text = short_repr(value)
    if _DIGEST.fullmatch(text):
        return text[:_DIGITS]
    return " ".join(shortened(text, _MOST_CHARACTERS).split()) or NOTHING


def _first(first: FirstDifference) -> list[Any]:
    from rich.text import Text

    same = f"the first {first.same:,} are the same"
    if first.same <= 1:
        same = "the first is the same" if first.same else "none is the same"
    head = Text.assemble(_DECISIONS, f": {same}.")
    if first.goes_on:
        other = "B" if first.goes_on == "A" else "A"
        return [head, Text(f"{other} has no more; {first.goes_on} goes on with {first.label}.")]
    return [head, Text(f"The first that differs is {first.label}:"), _table("", first.places)]
