"""The report about recorded episodes of one world and seed, side by side.

A record is data from a stranger: nothing that it names is imported or opened unless the caller
trusts it, its texts are cut and escaped, and its decisions are read one by one.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from desim.catalog.presets import from_preset
from desim.errors import UsageError
from desim.records.lines import Header
from desim.reports.page import Fold, Given, Page, Section, cleaned
from desim.reports.record.conversation import conversation
from desim.reports.record.decisions import decisions, difference, metrics
from desim.reports.record.record_read import ReadRecord, short_value
from desim.reports.record.record_series import series
from desim.reports.record.statements import statements
from desim.schema import to_plain
from desim.show.labels import NOTHING

#: Records of one report.
MOST_RECORDS = 12

#: Parameters and figures of usage that are shown.
_MOST_VALUES = 100

#: What records of one report have in common.
_WORLD = ("model", "params", "seed", "futures")

#: Characters of the policies of a record that are always shown.
_LONGEST = 60

_LETTERS = "ABCDEFGHIJKL"

_encode = msgspec.json.Encoder(order="sorted").encode


def record_page(paths: Sequence[Path], *, trust: bool = False, whole: bool = False) -> Page:
    """Return the report about recorded episodes.

    Args:
        paths: At least one; records that were cut are reported as far as they go.
        trust: Whether a module may be imported and files may be opened that a record names.
        whole: Whether the conversation with a language model is shown without limits.

    Raises:
        BadRecord: One cannot be read.
        UsageError: They are of different worlds, parameters, seeds or futures.
    """
    each = [
        ReadRecord.of(path, name, len(paths), trust=trust)
        for path, name in zip(paths, _names(paths), strict=True)
    ]
    _check_pairs(each)
    parts = {
        "Result": _result(each),
        "First difference": difference(each),
        "Series": series(each),
        "Statements and tables": statements(each),
        "Decisions": decisions(each),
        "Conversation": conversation(each, whole=whole),
        "Usage and cost": _usage(each),
        "What was played": [*_identity(each), *_parameters(each[0])],
    }
    sections = [Section.of(part, blocks) for part, blocks in parts.items()]
    return Page.of(f"Recorded episodes of {each[0].episode.header.model}", _lead(each), sections)


def _check_pairs(each: Sequence[ReadRecord]) -> None:
    """Check that records can be compared in pairs.

    Raises:
        UsageError: Two are of different worlds, parameters, seeds or futures.
    """
    for other in each[1:]:
        for topic in _WORLD:
            mine, theirs = (getattr(one.episode.header, topic) for one in (each[0], other))
            if _encode(mine) != _encode(theirs):
                raise UsageError(
                    f"{each[0].name} and {other.name} differ in their {topic}, so a difference "
                    "need not be one of their policies; report them apart"
                )


def _lead(each: Sequence[ReadRecord]) -> Iterator[str]:
    """Yield the result, or what the records have in common, and what is not whole."""
    title = _title(each[0].episode.header)
    if len(each) == 1:
        (one,) = each
        yield (
            f"{title}, played by {short_value(one.policies)}: score {one.score_text or NOTHING} "
            f"after {one.decisions:,} decision{'' if one.decisions == 1 else 's'} ({one.ended})."
        )
        return
    yield f"{len(each)} episodes of {title}."
    for one in each:
        if one.episode.result is None:
            yield f"{one.name} is not whole: {one.ended}, after {one.decisions:,} decisions."


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the names of the files, with their folders where two are the same.

    Several have a letter, too, by which legends and heads name them.
    """
    count = Counter(path.name for path in paths)
    names = [path.name if count[path.name] == 1 else str(path) for path in paths]
    if len(names) == 1:
        return names
    return [f"{letter} {name}" for letter, name in zip(_LETTERS, names, strict=False)]


def _title(head: Header) -> str:
    """Return the model with its preset, the seed, and the futures that were redrawn."""
    future = "".join(f", future {seed} after {at:,} decisions" for at, seed in head.futures)
    name = f"{head.model}/{head.preset}" if head.preset else head.model
    return f"{name}, seed {head.seed}{future}"


def _result(each: Sequence[ReadRecord]) -> Iterator[Given]:
    if len(each) > 1:
        yield cleaned(
            ["record", "policies", "decisions", "ended"],
            ([one.name, _policies(one), one.decisions, one.ended] for one in each),
            left=(0, 1, 3),
        )
    yield from metrics(each)


def _policies(one: ReadRecord) -> Fold | str:
    lines = one.policies.replace(", ", ",\n") if len(one.policies) > _LONGEST else one.policies
    return Fold.of(lines, _LONGEST, 3_000)


def _identity(each: Sequence[ReadRecord]) -> Iterator[Given]:
    """Yield what neither the title nor the results say."""
    named = len(each) == 1
    yield cleaned(
        ["record", *["policies"] * named, "ledger digest", "desim"],
        (
            [one.name, *[_policies(one)] * named, _digest(one), one.episode.header.version]
            for one in each
        ),
        left=range(4),
    )


def _digest(one: ReadRecord) -> str | None:
    result = one.episode.result
    return result.ledger_digest[:16] if result and result.ledger_digest else None


def _of_preset(one: ReadRecord) -> Mapping[str, Any]:
    """Return the parameters of the record's preset; empty if they are not known here."""
    model, preset = one.replayed.model, one.episode.header.preset
    with contextlib.suppress(UsageError):
        return to_plain(from_preset(type(model), preset)) if model and preset else {}
    return {}


def _parameters(one: ReadRecord) -> Iterator[Given]:
    """Yield the parameters of a record that are not its preset's."""
    usual, own = _of_preset(one), one.episode.header.params
    changed = {name: value for name, value in own.items() if usual.get(name) != value}
    if changed:
        yield cleaned(
            ["parameter", "value"],
            ([name, short_value(value)] for name, value in changed.items()),
            left=range(2),
            most=_MOST_VALUES,
        )
    if left := len(own) - len(changed):
        others = "other parameters" if changed else "parameters"
        yield f"{left:,} {others} are as in the preset {one.episode.header.preset}."


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
