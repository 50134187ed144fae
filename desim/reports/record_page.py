"""The report about recorded episodes, side by side where they are of one model.

A record is data from a stranger: nothing that it names is imported or opened, its texts are cut and
escaped, and its decisions are read one by one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import field, frozen

from desim.episodes.episode import Episode
from desim.formatting import NOTHING, number_text, value_text
from desim.reports.charts import shares
from desim.reports.page import Figure, Given, Page, Section, Table, clean

__all__ = ["MOST_RECORDS", "record_page"]

#: Records of one report, and decisions of one that are shown.
MOST_RECORDS, MOST_DECISIONS = 12, 40

#: Actions of a role with a colour of their own, roles of a report, parameters and metrics.
_MOST_ACTIONS, _MOST_ROLES, _MOST_VALUES = 7, 12, 100

#: Characters of an observation or an action that are shown.
_LONGEST_VALUE = 160

#: The key of an action that names its class, where a role has several.
_TAG = "do"

_OTHER = "other"


@frozen
class _Played:
    """A record, and what one pass over its decisions has found.

    Attributes:
        name: Its file, short.
        episode: What was read.
        first: The first decisions as texts.
        decisions: How many there are.
        actions: By role how often each was taken.
    """

    name: str
    episode: Episode
    first: list[tuple[str, ...]] = field(factory=list)
    decisions: int = 0
    actions: Mapping[str, Counter[str]] = field(factory=dict)


def record_page(paths: Sequence[Path]) -> Page:
    """Return the report about recorded episodes.

    Args:
        paths: At least one; records that were cut are reported as far as they go.

    Raises:
        BadRecord: One cannot be read.
    """
    each = [_read(path, name) for path, name in zip(paths, _names(paths), strict=True)]
    models = list(dict.fromkeys(played.episode.header.model for played in each))
    lead = [
        (
            f"{len(each)} recorded episode{'s' if len(each) > 1 else ''}, read as text: nothing "
            "that a record names was imported, opened or played again."
        )
    ]
    sections: list[Section] = []
    for model in models:
        mine = [played for played in each if played.episode.header.model == model]
        sections += _sections(mine, f", {model}" if len(models) > 1 else "")
    return Page.of(f"Recorded episodes of {', '.join(models)}", lead, sections)


def _sections(each: Sequence[_Played], suffix: str) -> Iterator[Section]:
    yield Section.of(f"Episodes{suffix}", _episodes(each))
    yield Section.of(f"Metrics{suffix}", _metrics(each))
    yield Section.of(f"Parameters{suffix}", _parameters(each))
    yield Section.of(f"Actions{suffix}", _actions(each))
    yield Section.of(f"Usage and cost{suffix}", _usage(each))
    yield Section.of(f"Decisions{suffix}", _decisions(each))


def _read(path: Path, name: str) -> _Played:
    episode = Episode.read(path, whole=False, keep_steps=False)
    first: list[tuple[str, ...]] = []
    actions: dict[str, Counter[str]] = {}
    count = 0
    for count, step in enumerate(episode.steps, 1):
        role, kind = clean(step.role, 60), _kind(step.action)
        counter = actions.setdefault(role, Counter())
        # A stranger's record may name as many actions as it has decisions.
        counter[kind if kind in counter or len(counter) < _MOST_VALUES else _OTHER] += 1
        if count <= MOST_DECISIONS:
            texts = (_text(step.observation), _text(step.action))
            first.append((f"{count:,}", f"{step.t:,}", role, *texts))
    return _Played(name, episode, first, count, actions)


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the names of the files, with their folders where two are the same."""
    count = Counter(path.name for path in paths)
    return [path.name if count[path.name] == 1 else str(path) for path in paths]


def _beside(
    each: Sequence[_Played], lines: Sequence[tuple[str, Callable[[_Played], object]]]
) -> Table:
    """Return a table with a column for each record."""
    return Table.of(
        ["", *(played.name for played in each)],
        ([head, *(of(played) for played in each)] for head, of in lines),
        left=range(len(each) + 1),
    )


def _episodes(each: Sequence[_Played]) -> Iterator[Given]:
    yield _beside(
        each,
        [
            ("preset", lambda one: one.episode.header.preset or NOTHING),
            ("seed", lambda one: one.episode.header.seed),
            ("policies", lambda one: _policies(one.episode)),
            ("score", lambda one: _score(one.episode)),
            ("ended", lambda one: _ended(one.episode)),
            ("decisions", lambda one: f"{one.decisions:,}"),
            ("ledger digest", _digest),
            ("desim", lambda one: one.episode.header.version),
        ],
    )


def _policies(episode: Episode) -> str:
    each = episode.header.policies.items()
    return ", ".join(f"{role}={label}" for role, label in each) or NOTHING


def _score(episode: Episode) -> str:
    return NOTHING if episode.result is None else number_text(episode.result.score)


def _ended(episode: Episode) -> str:
    if episode.failure is not None:
        return f"failed: {episode.failure.error}"
    return "the record was cut" if episode.result is None else episode.result.ended


def _digest(played: _Played) -> str:
    result = played.episode.result
    return NOTHING if result is None or not result.ledger_digest else result.ledger_digest[:16]


def _metrics(each: Sequence[_Played]) -> Iterator[Given]:
    found = [played.episode.result.metrics if played.episode.result else {} for played in each]
    names = list(dict.fromkeys(name for metrics in found for name in metrics))
    if names:
        yield Table.of(
            ["metric", *(played.name for played in each)],
            ([name, *(_value(metrics.get(name)) for metrics in found)] for name in names),
            most=_MOST_VALUES,
        )


def _parameters(each: Sequence[_Played]) -> Iterator[Given]:
    found = [played.episode.header.params for played in each]
    names = dict.fromkeys(name for params in found for name in params)
    lines = [(name, [_text(params.get(name)) for params in found]) for name in names]
    notes = []
    if len(each) > 1:
        equal = sum(len(set(values)) == 1 for _, values in lines)
        lines = [(name, values) for name, values in lines if len(set(values)) > 1]
        notes = [f"{equal:,} parameters are the same in all records and are not shown"]
        if not lines:
            yield f"All {equal:,} parameters are the same in all records."
            return
    yield Table.of(
        ["parameter", *(played.name for played in each)],
        ([name, *values] for name, values in lines),
        left=range(len(each) + 1),
        notes=notes,
        most=_MOST_VALUES,
    )


def _actions(each: Sequence[_Played]) -> Iterator[Given]:
    """Yield the mix of actions, a bar for each role of each record."""
    bars = {
        (f"{role}, {played.name}" if len(each) > 1 else role): counter
        for played in each
        for role, counter in list(played.actions.items())[:_MOST_ROLES]
    }
    if not bars:
        return
    total = sum(bars.values(), Counter[str]())
    kinds = [kind for kind, _ in total.most_common(_MOST_ACTIONS) if kind != _OTHER]
    heads = [*kinds, *([_OTHER] if set(total) - set(kinds) else [])]
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


def _usage(each: Sequence[_Played]) -> Iterator[Given]:
    """Yield what policies used: calls, tokens, seconds, money."""
    found = [
        (played.name, role, figures)
        for played in each
        if played.episode.result
        for role, figures in played.episode.result.usage.items()
    ]
    names = list(dict.fromkeys(name for *_, figures in found for name in figures))
    if names:
        yield Table.of(
            ["record", "role", *names],
            (
                [record, role, *(_value(figures.get(name)) for name in names)]
                for record, role, figures in found
            ),
            left=(0, 1),
            most=_MOST_VALUES,
        )


def _decisions(each: Sequence[_Played]) -> Iterator[Given]:
    for played in each:
        if played.first:
            shown = len(played.first)
            of = f"the first {shown:,} of" if shown < played.decisions else "all"
            yield f"{played.name}: {of} {played.decisions:,} decisions."
            yield Table.of(
                ["number", "tick", "role", "observation", "action"], played.first, left=(2, 3, 4)
            )


def _kind(action: Any) -> str:
    """Return the name of an action's class, or without one its values as text."""
    if isinstance(action, Mapping) and isinstance(action.get(_TAG), str):
        return clean(action[_TAG], 40)
    return _text(action, 40)


def _value(value: Any) -> str:
    return value_text(value) if isinstance(value, int | float) else _text(value)


def _text(value: Any, width: int = _LONGEST_VALUE) -> str:
    """Return a plain value as a short JSON text."""
    if value is None:
        return NOTHING
    return clean(value if isinstance(value, str) else msgspec.json.encode(value).decode(), width)
