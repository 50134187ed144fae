"""Comparisons of groups of rows: means with intervals, paired differences to a reference."""

import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from attrs import evolve, frozen

from desim.engine.plan import CLUSTER, DEFAULTS, FIXED, ITEMS, REVISION, Row
from desim.errors import UsageError, possible
from desim.rows.columns import (
    Key,
    column,
    find,
    holds_truth_values,
    mean,
    means_by_seed,
    places,
    varying,
)
from desim.rows.comparison_table import ComparisonTable, TableLine
from desim.rows.failures import counted, missing
from desim.rows.known_means import knowledge_of_groups, known_note
from desim.rows.samples import Sample, item_scores
from desim.show.estimates import is_equal
from desim.statistics.intervals import Interval
from desim.statistics.pairing import simultaneous

#: The values that paired rows share: the seed, and as JSON all that does not define their groups.
_Match = tuple[int, str]

#: The indices of the rows of each group.
Groups = Mapping[Key, Sequence[int]]


def compare(
    rows: Sequence[Row],
    by: tuple[str, ...],
    figures: Sequence[str],
    against: Any,
    level: float,
    differing: Collection[str] = (),
) -> ComparisonTable:
    """Compare groups of rows; see `Rows.table`.

    Args:
        rows: The rows of all groups.
        by: The columns that make a group.
        figures: Columns of numbers.
        against: The reference group: a value of a column in *by*, one of each, or None.
        level: The level of the intervals, above 0 and below 1; the joint level of the differences
            of one figure.
        differing: See `Rows`.

    Raises:
        UsageError: A column or the group does not exist, or a column holds other values than
            numbers.
    """
    groups = places(rows, by)
    reference_of = reference_groups(list(groups), by, against)
    kept = _Columns.of(rows, by if reference_of else None)
    each_level = simultaneous(level, len(reference_of))
    lines = []
    for figure in figures:
        found = _Figure.of(rows, figure, kept)
        lacking = {key: found.missing(group) for key, group in groups.items()}
        for key, group in groups.items():
            pair = found.pair(group, groups[reference_of[key]]) if key in reference_of else None
            sample = found.sample(group)
            estimate = sample.estimate(level)
            less = pair and pair[0].less(pair[1], each_level)
            if lacking[key]:
                estimate = estimate and _unequal(estimate)
            if less and (lacking[key] or lacking[reference_of[key]]):
                less = evolve(less, paired=_unequal(less.paired))
            lines.append(
                TableLine(
                    key,
                    figure,
                    estimate,
                    sum(kept.failed[place] for place in group),
                    less,
                    sample,
                    pair and pair[0].to_tell(pair[1]),
                    len(group),
                    lacking[key],
                )
            )
    text = "" if against is None else _reference_label(against)
    levels = knowledge_of_groups(rows, groups, by)
    known = known_note(rows, kept.seeds) if "score" in figures else ""
    return ComparisonTable(
        by,
        tuple(lines),
        level,
        text,
        len(reference_of),
        levels,
        averaged=averaged(rows, groups, by),
        mixed=(*kept.revision_notes, *kept.default_notes),
        known=known,
        differing=[
            key
            for key, group in (groups.items() if differing else ())
            if any(cell_of(rows[place]) in differing for place in group)
        ],
    )


def cell_of(row: Row) -> str:
    """Return the text that all rows of one model and one policy of a sweep share."""
    return json.dumps([row[name] for name in ("model", "preset", "params", "policy")])


def _unequal(found: Interval) -> Interval:
    """Return an interval without ends where all values but those that are missing are equal."""
    return evolve(found, low=None, high=None) if is_equal(found) else found


@frozen
class _Columns:
    """The columns that every figure needs; the rows of a large sweep do not fit into memory."""

    seeds: list[int]
    clusters: list[str | None]
    fixed: list[bool]
    failed: list[bool]
    has_items: list[bool]
    revisions: Mapping[str, Sequence[str]]
    defaults: Mapping[str, Sequence[float]]
    matches: list[_Match]

    @classmethod
    def of(cls, rows: Sequence[Row], by: tuple[str, ...] | None) -> Self:
        """Return the columns; those that pairs share only where *by* is given."""
        found: tuple[list[Any], ...] = ([], [], [], [], [])
        revisions: dict[str, dict[str, None]] = {}
        defaults: dict[str, list[float]] = {}
        for row in rows:
            revisions.setdefault(row["model"], {})[str(row.get(REVISION))] = None
            if share := row.get(DEFAULTS):
                defaults.setdefault(row["policy"], []).append(share)
            of_row = row["seed"], row.get(CLUSTER), FIXED in row, row["error"], ITEMS in row
            for values, value in zip(found, of_row, strict=True):
                values.append(value)
        seeds, clusters, fixed, errors, items = found
        failed = [error is not None for error in errors]
        matches = list(_matches(rows, by)) if by else []
        named = {world: tuple(each) for world, each in revisions.items()}
        return cls(seeds, clusters, fixed, failed, items, named, defaults, matches)

    @property
    def revision_notes(self) -> list[str]:
        """A sentence for each world of which rows of several revisions are compared."""
        return [
            f"rows of {world} are of revisions {', '.join(each)}, which are different worlds"
            for world, each in self.revisions.items()
            if len(each) > 1
        ]

    @property
    def default_notes(self) -> list[str]:
        """The sentence on the policies that took default actions; none without any."""
        found = [
            f"{policy} in {len(shares):,} episodes, in one up to {max(shares):.0%} of its decisions"
            for policy, shares in self.defaults.items()
        ]
        return [f"default actions: {'; '.join(found)}"] if found else []


@frozen
class _Figure:
    """A figure of all rows, and samples of it.

    Attributes:
        rows: All rows, of which only those of worlds with items are read again.
        values: The figure of each row.
        truth: Whether it is a truth value.
        kept: What all figures need.
        has_items: Whether the values belong to items.
    """

    rows: Sequence[Row]
    values: list[float | None]
    truth: bool
    kept: _Columns
    has_items: bool

    @classmethod
    def of(cls, rows: Sequence[Row], figure: str, kept: _Columns) -> Self:
        """Return a figure by its name; a failed episode has the worst score."""
        has_items = figure == "score" and any(kept.has_items)
        return cls(rows, counted(rows, figure), holds_truth_values(rows, figure), kept, has_items)

    def missing(self, group: Sequence[int]) -> int:
        """Return how many episodes of a group have no number, though they have not failed."""
        return missing((self.values[at] for at in group), (self.kept.failed[at] for at in group))

    def sample(self, group: Sequence[int]) -> Sample:
        """Return the values by seed or item; none if an episode failed and has no value."""
        if not self._is_known(group):
            return Sample({})
        if self.has_items:
            return Sample(item_scores(self.rows[place] for place in group), unit="items")
        return self._seeds(group, ((self.kept.seeds[at], self.values[at]) for at in group))

    def pair(self, one: Sequence[int], other: Sequence[int]) -> tuple[Sample, Sample]:
        """Return the samples of two groups over the rows that match each other.

        Groups without a common seed are compared by all their rows, as independent ones.
        """
        seeds, others = ({self.kept.seeds[at] for at in group} for group in (one, other))
        if self.has_items or not seeds & others:
            return self.sample(one), self.sample(other)
        mine, theirs = (self._by_match(group) for group in (one, other))
        # In the order of the seeds, so that rounding does not depend on the order of the set.
        common = sorted(mine.keys() & theirs.keys())
        return self._matched(one, common, mine), self._matched(other, common, theirs)

    def _matched(
        self, group: Sequence[int], common: Sequence[_Match], means: Mapping[_Match, float]
    ) -> Sample:
        return self._seeds(group, ((match[0], means[match]) for match in common))

    def _seeds(self, group: Sequence[int], values: Iterable[tuple[int, float | None]]) -> Sample:
        known = [*values]
        seeds, each = (seed for seed, _ in known), (value for _, value in known)
        by_seed = means_by_seed(seeds, each, complete=False)
        named: dict[Hashable, str | None] = {
            self.kept.seeds[at]: self.kept.clusters[at] for at in group
        }
        clusters = {seed: one for seed in by_seed if (one := named[seed]) is not None}
        fixed = all(self.kept.fixed[at] for at in group)
        return Sample(by_seed, clusters, fixed=fixed, truth=self.truth)

    def _by_match(self, group: Sequence[int]) -> dict[_Match, float]:
        known: dict[_Match, list[float]] = {}
        for place in group if self._is_known(group) else ():
            if (value := self.values[place]) is not None:
                known.setdefault(self.kept.matches[place], []).append(value)
        return {match: mean(each) for match, each in known.items()}

    def _is_known(self, group: Sequence[int]) -> bool:
        return not any(self.kept.failed[at] and self.values[at] is None for at in group)


def averaged(rows: Sequence[Row], groups: Groups, by: Sequence[str]) -> dict[str, list[Any]]:
    """Return by column the values over which a group of rows is a mean: parameters and policies."""
    own = {find(rows, name) for name in by}
    found = {}
    for name in (*varying(rows), "policy"):
        values = [json.dumps(value) for value in column(rows, name)]
        several = (len({values[at] for at in group}) > 1 for group in groups.values())
        if find(rows, name) not in own and any(several):
            found[name] = [json.loads(value) for value in dict.fromkeys(values)]
    return found


def estimated(values: Sequence[float], level: float) -> Interval | None:
    """Return the mean of values, one for each seed, with its interval; None without values."""
    return Sample(dict(enumerate(values))).estimate(level)


def reference_groups(keys: Sequence[Key], by: tuple[str, ...], against: Any) -> dict[Key, Key]:
    """Return the reference of each group, for the groups that differ from their reference.

    Raises:
        UsageError: No group is the reference.
    """
    if against is None:
        return {}
    if against in keys:
        return {key: against for key in keys if key != against}
    for place in range(len(by)):
        if against in (key[place] for key in keys):
            pairs = {key: (*key[:place], against, *key[place + 1 :]) for key in keys}
            return {key: other for key, other in pairs.items() if key != other}
    known = [" and ".join(map(str, key)) for key in keys]
    raise UsageError(
        f"no group is {_reference_label(against)!r}; {possible(_reference_label(against), known)}"
    )


def _matches(rows: Iterable[Row], by: tuple[str, ...]) -> Iterator[_Match]:
    """Yield for each row the values that it shares with its pair in another group."""
    texts: dict[str, str] = {}
    for row in rows:
        text = json.dumps(_shared(row, by))
        yield row["seed"], texts.setdefault(text, text)  # equal texts are kept once


def _shared(row: Row, by: tuple[str, ...]) -> dict[str, Any]:
    shared = {name: row[name] for name in ("model", "preset", "policy") if name not in by}
    varied = {name.removeprefix("policy.") for name in by if name.startswith("policy.")}
    if varied and "policy" in shared:
        # The label of a policy names the arguments that define the groups.
        shared["policy"] = row["policy"].partition(",")[0]
        shared["arguments"] = {k: v for k, v in row["arguments"].items() if k not in varied}
    # Models differ in their presets and parameters, and presets of one model in its parameters:
    # if these define the groups, rows cannot share them.
    if "model" in by:
        shared.pop("preset", None)
    elif "preset" not in by:
        named = {name.removeprefix("params.") for name in by}
        shared["params"] = {k: v for k, v in row["params"].items() if k not in named}
    return shared


def _reference_label(against: Any) -> str:
    return " and ".join(map(str, against)) if isinstance(against, tuple) else str(against)
