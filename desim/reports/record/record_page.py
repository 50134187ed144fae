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
from desim.reports.page import Fold, Given, Page, Section, cleaned
from desim.reports.record.conversation import conversation
from desim.reports.record.decisions import decisions, difference, metrics
from desim.reports.record.record_read import ReadRecord, short_value
from desim.reports.record.record_series import MOST_SERIES, series
from desim.reports.record.statements import statements
from desim.schema import to_plain
from desim.show.labels import NOTHING

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
    groups = _groups(each)
    sections = [] if len(groups) == 1 else [Section.of("Records", _overview(groups))]
    for title, mine in groups.items():
        suffix = f", {title}" if len(groups) > 1 else ""
        most = max(_FEWEST_SERIES, MOST_SERIES // len(groups))
        parts = {
            "Result": _result(mine),
            "First difference": difference(mine),
            "Series": series(mine, most),
            "Statements and tables": statements(mine),
            "Decisions": decisions(mine),
            "Conversation": conversation(mine, len(each), whole=whole),
            "Usage and cost": _usage(mine),
            "What was played": [*_identity(mine), *_parameters(mine[:1])],
        }
        sections += [Section.of(f"{part}{suffix}", blocks) for part, blocks in parts.items()]
    return Page.of(f"Recorded episodes of {models}", _lead(each, groups), sections)


def _lead(each: Sequence[ReadRecord], groups: _Groups) -> Iterator[str]:
    """Yield the result, or what the records have in common, and what is not whole."""
    if len(each) == 1:
        (title,), (one,) = groups, each
        yield (
            f"{title}, played by {short_value(one.policies)}: score {one.score_text or NOTHING} "
            f"after {one.decisions:,} decision{'' if one.decisions == 1 else 's'} ({one.ended})."
        )
        return
    if len(groups) > 1:
        yield (
            f"{len(each)} episodes of {len(groups)} different worlds or seeds, which have sections "
            "of their own: a difference between them need not be an effect of their policies."
        )
    else:
        yield f"{len(each)} episodes of {next(iter(groups))}."
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


def _groups(each: Sequence[ReadRecord]) -> _Groups:
    """Return by title the records of each world and seed: those that can be compared in pairs."""
    groups: dict[bytes, list[ReadRecord]] = {}
    for one in each:
        head = one.episode.header
        key = (head.model, head.params, head.seed, head.futures)
        groups.setdefault(msgspec.json.encode(key, order="sorted"), []).append(one)
    titles = [_title(mine[0].episode.header) for mine in groups.values()]
    uses = Counter(titles)
    numbered = (
        title if uses[title] == 1 else f"{title}, parameters {titles[:at].count(title) + 1}"
        for at, title in enumerate(titles)
    )
    return dict(zip(numbered, groups.values(), strict=True))


def _title(head: Header) -> str:
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
    facts: dict[str, Callable[[ReadRecord], object]] = {
        "model": lambda one: one.episode.header.model,
        "preset": lambda one: one.episode.header.preset or None,
        "seed": lambda one: one.episode.header.seed,
        "futures": _futures,
        "policies": _policies,
        "ledger digest": _digest,
        "desim": lambda one: one.episode.header.version,
    }
    lines = {name: [of(one) for one in each] for name, of in facts.items()}
    yield cleaned(
        ["", *(one.name for one in each)],
        ([name, *values] for name, values in lines.items() if any(v is not None for v in values)),
        left=range(len(each) + 1),
    )


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
    """Yield the parameters of a record that are not its preset's, or those in which some differ."""
    found = [one.episode.header.params for one in each]
    names = dict.fromkeys(name for params in found for name in params)
    lines = [(name, [short_value(params.get(name)) for params in found]) for name in names]
    if len(each) > 1:
        kept = [(name, values) for name, values in lines if len(set(values)) > 1]
        others = "parameters are the same in all records"
    else:
        usual, own = _of_preset(each[0]), found[0]
        kept = [line for line in lines if usual.get(line[0]) != own[line[0]]]
        others = f"parameters are as in the preset {each[0].episode.header.preset}"
    if kept:
        yield cleaned(
            ["parameter", *(one.name for one in each)],
            ([name, *values] for name, values in kept),
            left=range(len(each) + 1),
            most=_MOST_VALUES,
        )
    if len(kept) < len(lines):
        yield f"{len(lines) - len(kept):,} {'other ' if kept else ''}{others}."


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
