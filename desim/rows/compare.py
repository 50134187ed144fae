"""Comparisons of groups of rows: means with intervals, paired differences to a reference."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from desim.engine.plan import CLUSTER, DEFAULTS, FIXED, Row
from desim.errors import UsageError, possible
from desim.rows.columns import Key, Path, RowColumns, means_by_seed, value_at
from desim.rows.comparison_table import ComparisonTable, TableLine
from desim.rows.failures import missing
from desim.rows.known_means import knowledge_of_groups, known_note
from desim.rows.samples import Sample, item_scores
from desim.show.estimates import is_equal
from desim.statistics.intervals import Interval
from desim.statistics.pairing import simultaneous

#: The values that paired rows share: the seed, and the index of all that does not define groups.
_Match = tuple[int, int]


def compare(
    rows: RowColumns,
    by: tuple[str, ...],
    figures: Sequence[str],
    against: Any,
    level: float,
    differing: Collection[str] = (),
) -> ComparisonTable:
    """Compare groups of rows; see `Rows.table`.

    Args:
        rows: The columns of the rows of all groups.
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
    groups = rows.places(by)
    reference_of = reference_groups(list(groups), by, against)
    failed = [error is not None for error in rows.column("error")]
    matches = _matches(rows, by) if reference_of else []
    each_level = simultaneous(level, len(reference_of))
    lines = []
    for figure in figures:
        found = _Figure.of(rows, figure, failed, matches)
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
                    sum(failed[place] for place in group),
                    less,
                    sample,
                    pair and pair[0].to_tell(pair[1]),
                    len(group),
                    lacking[key],
                )
            )
    cells = {key: _cells(rows, group) for key, group in groups.items()}
    return ComparisonTable(
        by,
        tuple(lines),
        level,
        "" if against is None else _reference_label(against),
        len(reference_of),
        knowledge_of_groups({key: each[0] for key, each in cells.items()}, by),
        averaged=averaged(rows, cells, by),
        mixed=(*_revision_notes(rows), *_default_notes(rows)),
        known=known_note(rows.cells, rows.column("seed")) if "score" in figures else "",
        differing=[
            key
            for key, each in (cells.items() if differing else ())
            if any(cell_of(cell) in differing for cell in each)
        ],
    )


def cell_of(row: Row) -> str:
    """Return the text that all rows of one model and one policy of a sweep share."""
    return json.dumps([row[name] for name in ("model", "preset", "params", "policy")])


def _unequal(found: Interval) -> Interval:
    """Return an interval without ends where all values but those that are missing are equal."""
    return evolve(found, low=None, high=None) if is_equal(found) else found


def _cells(rows: RowColumns, group: Iterable[int]) -> list[Row]:
    """Return the cells of the rows of a group."""
    return [rows.cells[cell] for cell in dict.fromkeys(map(rows.cell.__getitem__, group))]


def _revision_notes(rows: RowColumns) -> list[str]:
    """Return a sentence for each world of which rows of several revisions are compared."""
    return [
        f"rows of {world} are of revisions {', '.join(each)}, which are different worlds"
        for world, each in rows.revisions.items()
        if len(each) > 1
    ]


def _default_notes(rows: RowColumns) -> list[str]:
    """Return the sentence on the policies that took default actions; none without any."""
    defaults: dict[str, list[float]] = {}
    for policy, share in zip(rows.column("policy"), rows.column_of_key(DEFAULTS), strict=True):
        if share:
            defaults.setdefault(policy, []).append(share)
    found = [
        f"{policy} in {len(shares):,} episodes, in one up to {max(shares):.0%} of its decisions"
        for policy, shares in defaults.items()
    ]
    return [f"default actions: {'; '.join(found)}"] if found else []


@frozen
class _Figure:
    """A figure of all rows, and samples of it.

    Attributes:
        rows: All rows.
        values: The figure of each row.
        truth: Whether it is a truth value.
        failed: Whether each row failed.
        matches: What each row shares with its pair in another group; empty without pairs.
        has_items: Whether the values belong to items.
    """

    rows: RowColumns
    values: list[float | None]
    truth: bool
    failed: list[bool]
    matches: list[_Match]
    has_items: bool

    @classmethod
    def of(
        cls, rows: RowColumns, figure: str, failed: list[bool], matches: list[_Match]
    ) -> "_Figure":
        """Return a figure by its name; a failed episode has the worst score."""
        truth = rows.holds_truth_values(figure)
        has_items = figure == "score" and any(rows.has_items)
        return cls(rows, rows.counted(figure), truth, failed, matches, has_items)

    def missing(self, group: Sequence[int]) -> int:
        """Return how many episodes of a group have no number, though they have not failed."""
        return missing((self.values[at] for at in group), (self.failed[at] for at in group))

    def sample(self, group: Sequence[int]) -> Sample:
        """Return the values by seed or item; none if an episode failed and has no value."""
        if not self._is_known(group):
            return Sample({})
        if self.has_items:
            return Sample(item_scores(self.rows.rows[place] for place in group), unit="items")
        seeds = self.rows.column("seed")
        return self._seeds(group, [seeds[at] for at in group], [self.values[at] for at in group])

    def pair(self, one: Sequence[int], other: Sequence[int]) -> tuple[Sample, Sample]:
        """Return the samples of two groups over the rows that match each other.

        Groups without a common seed are compared by all their rows, as independent ones.
        """
        each = self.rows.column("seed")
        seeds, others = ({each[at] for at in group} for group in (one, other))
        if self.has_items or not seeds & others:
            return self.sample(one), self.sample(other)
        mine, theirs = (self._by_match(group) for group in (one, other))
        # In the order of the seeds, so that rounding does not depend on the order of the set.
        common = sorted(mine.keys() & theirs.keys())
        named = [seed for seed, _ in common]
        return (
            self._seeds(one, named, [mine[match] for match in common]),
            self._seeds(other, named, [theirs[match] for match in common]),
        )

    def _seeds(
        self, group: Sequence[int], seeds: Sequence[int], values: Sequence[float | None]
    ) -> Sample:
        by_seed = means_by_seed(seeds, values, complete=False)
        each, clusters = self.rows.column("seed"), self.rows.column_of_key(CLUSTER)
        named = {each[at]: clusters[at] for at in group}
        fixed = self.rows.column_of_key(FIXED)
        return Sample(
            by_seed,
            {seed: cluster for seed in by_seed if (cluster := named[seed]) is not None},
            fixed=all(fixed[at] is not None for at in group),
            truth=self.truth,
        )

    def _by_match(self, group: Sequence[int]) -> dict[_Match, float]:
        known = group if self._is_known(group) else ()
        values = [self.values[place] for place in known]
        return means_by_seed([self.matches[place] for place in known], values, complete=False)

    def _is_known(self, group: Sequence[int]) -> bool:
        return not any(self.failed[at] and self.values[at] is None for at in group)


def averaged(
    rows: RowColumns, groups: Mapping[Key, Sequence[Row]], by: Sequence[str]
) -> dict[str, list[Any]]:
    """Return by column the values over which a group is a mean: parameters and policies.

    Args:
        rows: All rows.
        groups: The cells of each group.
        by: The columns that make a group.
    """
    own = {rows.find(name) for name in by}
    found = {}
    for name in (*rows.varying(), "policy"):
        path = rows.find(name)
        texts = {key: _texts(path, cells) for key, cells in groups.items()}
        if path not in own and any(len(each) > 1 for each in texts.values()):
            found[name] = [json.loads(text) for text in _texts(path, rows.cells)]
    return found


def _texts(path: Path, cells: Iterable[Row]) -> list[str]:
    """Return the different values of a column of some cells, as JSON."""
    return list(dict.fromkeys(json.dumps(value_at(cell, path)) for cell in cells))


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


def _matches(rows: RowColumns, by: tuple[str, ...]) -> list[_Match]:
    """Return for each row what it shares with its pair in another group."""
    texts = [json.dumps(_shared(cell, by)) for cell in rows.cells]
    indices = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    each = [indices[text] for text in texts]
    return [(seed, each[cell]) for seed, cell in zip(rows.column("seed"), rows.cell, strict=True)]


def _shared(cell: Row, by: tuple[str, ...]) -> dict[str, Any]:
    shared = {name: cell[name] for name in ("model", "preset", "policy") if name not in by}
    varied = {name.removeprefix("policy.") for name in by if name.startswith("policy.")}
    if varied and "policy" in shared:
        # The label of a policy names the arguments that define the groups.
        shared["policy"] = cell["policy"].partition(",")[0]
        shared["arguments"] = {k: v for k, v in cell["arguments"].items() if k not in varied}
    # Models differ in their presets and parameters, and presets of one model in its parameters:
    # if these define the groups, rows cannot share them.
    if "model" in by:
        shared.pop("preset", None)
    elif "preset" not in by:
        named = {name.removeprefix("params.") for name in by}
        shared["params"] = {k: v for k, v in cell["params"].items() if k not in named}
    return shared


def _reference_label(against: Any) -> str:
    return " and ".join(map(str, against)) if isinstance(against, tuple) else str(against)
