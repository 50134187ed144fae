"""Commands on a record: replay, resume, export, diff; and memory, what a policy has learned."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from os.path import commonprefix
from pathlib import Path
from typing import Any, Literal

import click
from attrs import evolve, field, frozen

from desim import catalog
from desim.cli.exit_codes import FAILED
from desim.cli.options import PrintOptions, Spending, command
from desim.cli.tables import print_episode, print_json
from desim.core.policy import OutsidePolicy, ShownMemory
from desim.episodes.export import export, export_folder, export_messages, write_trace
from desim.episodes.replay import ReplayOptions, naming, replay
from desim.episodes.resume import ResumeOptions, resume
from desim.errors import BadRecord, UsageError
from desim.records.differences import DifferingPlace, RecordDifferences, record_differences
from desim.records.episode import Episode
from desim.schema.signatures import given
from desim.short_repr import short_repr, shortened
from desim.show.console import console
from desim.show.labels import NOTHING, value_text
from desim.show.table import Table, print_tables

#: Differences of a header or an end that are printed, characters of a value, and of a path.
_MOST_LINES, _MOST_CHARACTERS, _PATH = 12, 300, 120

#: A digest, and its digits that are printed.
_DIGEST, _DIGITS = re.compile("[0-9a-f]{64}"), 16

#: Fields of an end that are printed if other decisions led to it.
_BRIEF = ("ended", "score")

#: Texts of more characters are printed from shortly before the first that differs.
_LONG, _BEFORE = 60, 20


@command("replay", series=None)
def replay_command(options: ReplayOptions) -> None:
    """Play the answers of a record again and compare every step.

    Whatever would import a module or open a file is refused, unless it is trusted.
    """
    episode = replay(**given(options))
    click.echo(
        f"{options.path}: {len(episode.steps)} decisions replayed, all the same; "
        f"score {episode.score_text}, ended {episode.ended}"
    )


@command("resume", series=None)
def resume_command(options: ResumeOptions, spending: Spending, printed: PrintOptions) -> None:
    """Play an interrupted record to its end, in the same file.

    Replies on record are used again, so that no paid call is made twice. Whatever would import a
    module, open a file or contact a host is refused, unless it is trusted. A trace
    holds the whole episode, and says from when on it was resumed.
    """
    with spending.limited():
        episode = resume(**given(evolve(options, keep_steps=False)))
    print_episode(episode, as_json=printed.as_json, trace=options.trace)


@frozen
class ExportOptions:
    """What of a record is written, and how.

    Attributes:
        record: The record; one that was cut is exported as of its last decision.
        what: The ledgers with the statements, one table, or what a model received and wrote.
        form: csv; for books also beancount, for series and decisions json or parquet; trace of the
            whole episode.
        trust: Import and open whatever the record names.
        out: A folder; default: beside RECORD.
    """

    record: str
    what: Literal["ledgers", "series", "decisions", "messages"] = field(
        default="ledgers", kw_only=True
    )
    form: str = field(default="csv", kw_only=True)
    trust: bool = field(default=False, kw_only=True)
    out: str | None = field(default=None, kw_only=True)


@command(
    "export",
    record={"metavar": "RECORD", "type": click.Path(dir_okay=False)},
    form={"option": "--format"},
)
def export_command(options: ExportOptions) -> None:
    """Write the ledgers, series, decisions or messages of a record.

    The episode is played again for it, from the answers on record; one that was cut up to its last
    decision. The format trace is for https://ui.perfetto.dev. --what messages writes
    one JSON line a chat message, also of rules, for those who train a model. Existing files are
    never overwritten.
    """
    record, what, form = options.record, options.what, options.form
    folder = Path(options.out or export_folder(record))
    if form == "trace" and what != "ledgers":
        raise UsageError(f"--what {what} has no trace; leave it out, or --format trace")
    if what == "messages" and form not in ("csv", "json"):
        raise UsageError(f"--what messages writes JSON lines; --format {form} was given")
    if form == "trace":
        click.echo(write_trace(Path(record), folder / "trace.json.gz", trust=options.trust))
        return
    episode = Episode.read(record, whole=False, keep_steps=False)
    if what == "messages":
        click.echo(export_messages(record, episode, folder))
    else:
        with naming(record):
            files = export(episode, form, folder, what=what, trust=options.trust)
        click.echo("\n".join(map(str, files)))
    if episode.result is None:
        click.echo(
            f"{record} was cut: the files hold the {what} up to its last whole decision, "
            f"number {len(episode.steps)}",
            err=True,
        )


@frozen
class TwoRecords:
    """The records that are compared.

    Attributes:
        a: A record; it may have been cut.
        b: Another one.
    """

    a: str
    b: str


@command("diff", a={"metavar": "A"}, b={"metavar": "B"})
def diff_command(records: TwoRecords, printed: PrintOptions) -> None:
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
        print_json({"a": records.a, "b": records.b, **found.plain()})
    else:
        print_tables(console(), _difference_tables(records, found))
    sys.exit(0 if found.is_equal else FAILED)


def _difference_tables(records: TwoRecords, found: RecordDifferences) -> Iterator[Table]:
    """Yield both records, and where their headers, decisions and ends differ."""
    heads = ("", "record", "world", "seed", "decisions", "ended")
    yield Table(heads, map(_facts, "AB", (records.a, records.b), (found.a, found.b)), (0, 1, 2, 5))
    if found.is_equal:
        yield _titled(f"No difference: {len(found.a.steps):,} decisions, the same end.")
        return
    if found.header:
        yield _table("Header", found.header, len(found.header))
    if first := found.decision:
        same = f"the first {first.same:,} are the same"
        if first.same <= 1:
            same = "the first is the same" if first.same else "none is the same"
        if first.goes_on:
            other = "B" if first.goes_on == "A" else "A"
            what = f"{other} has no more; {first.goes_on} goes on with {first.label}."
            yield _titled(f"Decisions: {same}.\n{what}")
        else:
            what = f"The first that differs is {first.label}:"
            yield evolve(_table("", first.places), title=f"Decisions: {same}.\n{what}")
    elif found.is_of_one_world and found.a.steps:
        yield _titled(f"Decisions: all {len(found.a.steps):,} are the same.")
    if found.end:
        # Other decisions lead to other ends: a brief one says enough.
        brief = [each for each in found.end if each.path in _BRIEF] if found.decision else []
        columns = found.a.metric_columns
        end = [_with_units(each, columns) for each in brief or found.end]
        yield _table("End", end, len(found.end))
    if not found.is_of_one_world:
        yield _titled("Parameters and decisions of different worlds are not compared.")


def _facts(name: str, record: str, episode: Episode) -> tuple[Any, ...]:
    head, end = episode.header, episode.result
    world = f"{head.model}/{head.preset}" if head.preset else head.model
    ended = "failed" if episode.failure else "cut"
    if end is not None:
        ended = f"{end.ended}, score {episode.score_text}"
    return name, record, world, head.seed, len(episode.steps), ended


def _titled(sentence: str) -> Table:
    return Table((), (), title=sentence)


def _table(head: str, each: Sequence[DifferingPlace], count: int = 0) -> Table:
    """Return the first of so many differences as a table of places and values."""
    shown = each[:_MOST_LINES]
    more = count - len(shown)
    notes = [f"and {more:,} more; --json prints all"] if more > 0 else []
    lines = ((shortened(one.path, _PATH), *_labels(one)) for one in shown)
    return Table((head, "A", "B"), lines, (0, 1, 2), notes=notes)


def _with_units(place: DifferingPlace, columns: Mapping[str, Any]) -> DifferingPlace:
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
        text = value_text(value)
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        text = short_repr(value)
    if _DIGEST.fullmatch(text):
        return text[:_DIGITS]
    return " ".join(shortened(text, _MOST_CHARACTERS).split()) or NOTHING


@frozen
class MemoryFile:
    """A file that a learning policy keeps."""

    path: str


@command("memory")
def memory_command(memory: MemoryFile, printed: PrintOptions) -> None:
    """Print what a policy has learned and keeps in a file.

    That is FILE of the argument `memory=FILE` of `llm`.

    The file is read as data and limited in size; nothing that it names is opened or imported.
    """
    found = _memory_in(memory)
    if printed.as_json:
        print_json({"method": found.method, "episodes": found.episodes, "rows": found.rows})
        return
    played = [f"{role} after {n} episodes" for role, n in found.episodes.items()]
    title = f"memory of {found.method}: {', '.join(played) or 'no role'}"
    # A table for every run of rows with the same columns.
    alike = (list(rows) for _, rows in groupby(found.rows, key=tuple))
    tables = (Table(rows[0], (row.values() for row in rows), range(len(rows[0]))) for rows in alike)
    print_tables(console(), [_titled(title), *tables])


def _memory_in(memory: MemoryFile) -> ShownMemory:
    """Return the memory, by the first policy class that takes the file."""
    fault = UsageError("no policy here keeps a memory in a file")
    for policy in catalog.policies().values():
        if issubclass(policy, OutsidePolicy):
            try:
                return policy.shown_memory(memory.path)
            except UsageError as refused:
                fault = refused
    raise fault
