"""The report about recorded episodes: those of one world and seed side by side, others apart.

A record is data from a stranger: nothing that it names is imported or opened unless the caller
trusts it, its texts are cut and escaped, and its decisions are read one by one.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from desim.catalog.presets import from_preset
from desim.errors import UsageError
from desim.records.lines import Header
from desim.reports.elements.page import Fold, Given, Page, Section, cleaned
from desim.reports.record import record_decisions, record_series
from desim.reports.record.record_calls import Conversations, conversations
from desim.reports.record.record_decisions import difference, metrics
from desim.reports.record.record_read import ReadRecord, short_value
from desim.reports.record.record_series import MOST_SERIES
from desim.reports.record.record_statements import statements
from desim.schema import to_plain
from desim.show.table import Table

#: Records of one report.
MOST_RECORDS = 12

#: Parameters and figures of usage that are shown, and series of a world at least.
_MOST_VALUES, _FEWEST_SERIES = 100, 10

#: Characters of the policies of a record that are always shown.
_LONGEST = 60

_LETTERS = "ABCDEFGHIJKL"

_Groups = Mapping[str, Sequence[ReadRecord]]


def record_page(paths: Sequence[Path], *, trust: bool = False, whole: bool = False) -> Page:
    """Return the report about recorded episodes.

    Args:
        paths: At least one; records that were cut are reported as far as they go.
        trust: Whether a module may be imported and files may be opened that a record names.
        whole: Whether the conversation with a language model is shown without limits.

    Raises:
        BadRecord: One cannot be read.
    """
    each = [
        ReadRecord.of(path, name, len(paths), trust=trust)
        for path, name in zip(paths, _names(paths), strict=True)
    ]
    models = ", ".join(dict.fromkeys(one.episode.header.model for one in each))
    lead, sections = _lead(each, _groups(each)), grouped_sections(each, whole=whole)
    return Page.of(f"Recorded episodes of {models}", lead, sections)


def grouped_sections(each: Sequence[ReadRecord], *, whole: bool = False) -> list[Section]:
    """Return the sections about records: those of one world and seed share their sections.

    Args:
        each: The records.
        whole: Whether the conversation with a language model is shown without limits.
    """
    groups = _groups(each)
    sections = [] if len(groups) == 1 else [Section.of("Records", _overview(groups))]
    most = max(_FEWEST_SERIES, MOST_SERIES // len(groups))
    for title, mine in groups.items():
        said = conversations(mine, len(each), whole=whole)
        sections += _sections(mine, said, f", {title}" if len(groups) > 1 else "", most)
    return sections


def _lead(each: Sequence[ReadRecord], groups: _Groups) -> Iterator[str]:
    count = f"{len(each)} recorded episode{'s' if len(each) > 1 else ''}."
    if any(one.replayed.model for one in each):
        count += (
            " Series, statements and tables are not on record: the answers on record were given "
            "again to the world, without any policy."
        )
    yield count
    if len(groups) > 1:
        yield (
            f"They are of {len(groups)} different worlds or seeds, which have sections of their "
            "own: episodes of different seeds or parameters may have met different luck, so a "
            "difference between them need not be an effect of their policies."
        )
    for one in each:
        if one.episode.failure is not None or one.episode.result is None:
            yield f"{one.name} is not whole: {one.ended}, after {one.decisions:,} decisions."


def _sections(
    each: Sequence[ReadRecord], said: Conversations, suffix: str, most: int
) -> Iterator[Section]:
    yield Section.of(f"Result{suffix}", _result(each))
    yield Section.of(f"Metrics{suffix}", metrics(each))
    yield Section.of(f"First difference{suffix}", difference(each))
    yield Section.of(f"Series{suffix}", record_series.series(each, most))
    yield Section.of(f"Statements and tables{suffix}", statements(each))
    yield Section.of(f"Actions{suffix}", record_decisions.actions(each))
    yield Section.of(f"Decisions{suffix}", record_decisions.decisions(each, said.called))
    yield Section.of(f"Conversation{suffix}", said.blocks)
    yield Section.of(f"Messages{suffix}", record_decisions.messages(each))
    yield Section.of(f"Usage and cost{suffix}", _usage(each))
    yield Section.of(f"What was played{suffix}", [*_identity(each), *_parameters(each[:1])])


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the names of the files, with their folders where two are the same.

    Several have a letter, too, by which legends and heads name them.
    """
    count = Counter(path.name for path in paths)
    names = [path.name if count[path.name] == 1 else str(path) for path in paths]
    if len(names) == 1:
        return names
    return [f"{letter} {name}" for letter, name in zip(_LETTERS, names, strict=False)]


def _groups(each: Sequence[ReadRecord]) -> _Groups:
    """Return by title the records of each world and seed: those that can be compared in pairs."""
    groups: dict[bytes, list[ReadRecord]] = {}
    for one in each:
        head = one.episode.header
        key = (head.model, head.params, head.seed, head.futures)
        groups.setdefault(msgspec.json.encode(key, order="sorted"), []).append(one)
    titles = [world_title(mine[0].episode.header) for mine in groups.values()]
    uses = Counter(titles)
    numbered = (
        title if uses[title] == 1 else f"{title}, parameters {titles[:at].count(title) + 1}"
        for at, title in enumerate(titles)
    )
    return dict(zip(numbered, groups.values(), strict=True))


def world_title(head: Header) -> str:
    """Return the model with its preset, the seed, and the last future that was redrawn."""
    future = f", future {head.futures[-1][1]}" if head.futures else ""
    name = f"{head.model}/{head.preset}" if head.preset else head.model
    return f"{name}, seed {head.seed}{future}"


def _overview(groups: _Groups) -> Iterator[Given]:
    yield cleaned(
        ["record", "world and seed", "policies", "score", "ended"],
        (
            [one.name, title, _policies(one), one.score_text, one.ended]
            for title, mine in groups.items()
            for one in mine
        ),
        left=(0, 1, 2, 4),
    )
    firsts = [mine[0] for mine in groups.values()]
    for model in dict.fromkeys(one.episode.header.model for one in firsts):
        mine = [one for one in firsts if one.episode.header.model == model]
        if len(mine) > 1:
            yield from _parameters(mine)


def _beside(
    each: Sequence[ReadRecord], lines: Sequence[tuple[str, Callable[[ReadRecord], object]]]
) -> Table:
    """Return a table with a column for each record."""
    return cleaned(
        ["", *(one.name for one in each)],
        ([head, *(of(one) for one in each)] for head, of in lines),
        left=range(len(each) + 1),
    )


def _result(each: Sequence[ReadRecord]) -> Iterator[Given]:
    yield _beside(
        each,
        [
            ("policies", _policies),
            ("score", lambda one: one.score_text),
            ("ended", lambda one: one.ended),
            ("decisions", lambda one: one.decisions),
        ],
    )


def _identity(each: Sequence[ReadRecord]) -> Iterator[Given]:
    yield _beside(
        each,
        [
            ("model", lambda one: one.episode.header.model),
            ("preset", lambda one: one.episode.header.preset or None),
            ("seed", lambda one: one.episode.header.seed),
            *([("futures", _futures)] if any(one.episode.header.futures for one in each) else []),
            ("ledger digest", _digest),
            ("desim", lambda one: one.episode.header.version),
        ],
    )


def _policies(one: ReadRecord) -> Fold | str:
    lines = one.policies.replace(", ", ",\n") if len(one.policies) > _LONGEST else one.policies
    return Fold.of(lines, _LONGEST, 3_000)


def _futures(one: ReadRecord) -> str | None:
    each = one.episode.header.futures
    return ", ".join(f"seed {seed} after {at:,} decisions" for at, seed in each) or None


def _digest(one: ReadRecord) -> str | None:
    result = one.episode.result
    return result.ledger_digest[:16] if result and result.ledger_digest else None


def _of_preset(one: ReadRecord) -> Mapping[str, Any]:
    """Return the parameters of the record's preset; empty if they are not known here."""
    model, preset = one.replayed.model, one.episode.header.preset
    with contextlib.suppress(UsageError):
        return to_plain(from_preset(type(model), preset)) if model and preset else {}
    return {}


def _parameters(each: Sequence[ReadRecord]) -> Iterator[Given]:
    found = [one.episode.header.params for one in each]
    names = dict.fromkeys(name for params in found for name in params)
    lines = [(name, [short_value(params.get(name)) for params in found]) for name in names]
    notes = []
    if len(each) == 1 and (usual := _of_preset(each[0])):
        kept = [(name, values) for name, values in lines if usual.get(name) != found[0][name]]
        as_usual = f"as in the preset {each[0].episode.header.preset}"
        notes = [f"{len(lines) - len(kept):,} other parameters are {as_usual}"]
        if not kept:
            yield f"All {len(lines):,} parameters are {as_usual}."
        lines = kept
    if len(each) > 1:
        equal = sum(len(set(values)) == 1 for _, values in lines)
        lines = [(name, values) for name, values in lines if len(set(values)) > 1]
        notes = [f"{equal:,} parameters are the same in all records and are not shown"]
        if not lines:
            yield f"All {equal:,} parameters are the same in all records."
            return
    if lines:
        yield cleaned(
            ["parameter", *(one.name for one in each)],
            ([name, *values] for name, values in lines),
            left=range(len(each) + 1),
            notes=notes,
            most=_MOST_VALUES,
        )


def _usage(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield what policies used: calls, tokens, seconds, money."""
    found = [
        (one.name, role, figures)
        for one in each
        if one.episode.result
        for role, figures in one.episode.result.usage.items()
    ]
    names = list(dict.fromkeys(name for *_, figures in found for name in figures))
    if names:
        yield cleaned(
            ["record", "role", *names],
            ([record, role, *map(figures.get, names)] for record, role, figures in found),
            left=(0, 1),
            most=_MOST_VALUES,
        )
