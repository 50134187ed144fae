"""Comparisons of groups of rows: means with intervals, paired differences to a reference."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import evolve, field, frozen

from desim.core.roles import Knowledge, knowledge_legend, with_knowledge
from desim.engine.plan import DEFAULTS, REVISION, Row
from desim.errors import UsageError, possible
from desim.rows.columns import Key, RowColumns, value_at
from desim.rows.known_means import knowledge, known_note
from desim.rows.notes import (
    estimate_legend,
    estimate_notes,
    missing_note,
    missing_text,
    to_tell_term,
)
from desim.rows.samples import FigureValues, Sample
from desim.short_repr import shortened
from desim.show.estimates import TO_TELL, estimate_cells, interval_head, is_equal
from desim.show.labels import NOTHING
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import Interval
from desim.statistics.pairing import Difference, aligned, simultaneous
from desim.statistics.ranks import ranked

#: Characters of a group's name in a table.
_WIDTH = 40


@frozen
class TableLine:
    """One figure of one group.

    Attributes:
        group: The values of the columns by which rows are grouped.
        figure: The column whose mean is estimated.
        estimate: Its mean over seeds; None if no row has the figure, or if rows have failed and
            their model declares no worst score.
        failed: How many rows of the group have an error.
        difference: To the reference group, if there is one and both have a mean.
        sample: The values on which the estimate rests.
        to_tell: Seeds that would tell it from the reference; see `Sample.to_tell`.
    """

    group: tuple[Any, ...]
    figure: str
    estimate: Interval | None
    failed: int
    difference: Difference | None = None
    sample: Sample = field(factory=lambda: Sample({}), repr=False)
    to_tell: int | None = None

    @property
    def name(self) -> str:
        """The group as text."""
        return " and ".join(map(str, self.group))


@frozen(repr=False, slots=False)
class ComparisonTable(Tabular):
    """Groups of rows with intervals and differences.

    Attributes:
        by: The columns by which rows are grouped.
        lines: Figure by figure, groups in the order of their first rows.
        level: The level of the intervals.
        against: The reference group as text, or empty.
        knows: What the policies of groups know, where it is more than observations.
        notes: The sentences without which a line could be misread.
        legend: Those on what heads and marks mean.
    """

    by: tuple[str, ...]
    lines: tuple[TableLine, ...]
    level: float
    against: str = ""
    knows: Mapping[tuple[Any, ...], Knowledge] = field(factory=dict)
    notes: Sequence[str] = ()
    legend: Sequence[str] = ()

    def tables(self) -> tuple[Table]:
        """Return the table."""
        lines, left = map(self.cells, self.lines), range(len(self.by) + 1)
        return (Table(self.heads(), lines, left, notes=self.notes, legend=self.legend),)

    def heads(self) -> list[str]:
        """Return the heads of the columns."""
        between = interval_head(self.level)
        paired = ["pairs", "difference", between, TO_TELL] if self.against else []
        return [*self.by, "figure", "n", "failed", "mean", "sd", between, *paired]

    def cells(self, line: TableLine) -> list[Any]:
        """Return the cells of a line, one for each head."""
        estimate, exact = line.estimate, line.sample.is_exact
        cells = [
            *self._group_cells(line.group),
            line.figure,
            estimate.n if estimate else None,
            line.failed,
            *estimate_cells(estimate, sd=True, exact=exact),
        ]
        if self.against:
            paired = line.difference.paired if line.difference else None
            ends = estimate_cells(paired, sd=False, exact=exact)
            cells += [paired.n if paired else None, *ends, line.to_tell]
        return cells

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """Values in 40 characters, or whole where two would look the same."""
        whole = {str(value) for line in self.lines for value in line.group}
        cut = {value: shortened(value, _WIDTH) for value in whole}
        return cut if len({*cut.values()}) == len(cut) else {value: value for value in whole}

    def _group_cells(self, group: tuple[Any, ...]) -> list[Any]:
        texts = [NOTHING if value is None else self._texts[str(value)] for value in group]
        knows = {"policy": self.knows.get(group)}
        return [
            Printed(value, with_knowledge(text, knows.get(name)))
            for name, value, text in zip(self.by, group, texts, strict=True)
        ]


def compare(
    rows: RowColumns,
    by: tuple[str, ...],
    figures: Sequence[str],
    against: Any,
    level: float,
) -> ComparisonTable:
    """Compare groups of rows; see `Rows.table`."""
    groups = rows.places(by)
    reference_of = reference_groups(list(groups), by, against)
    errors = rows.column("error")
    matches = _matches(rows, by) if reference_of else []
    each_level = simultaneous(level, len(reference_of))
    lines = []
    for name in figures:
        figure = FigureValues.of(rows, name)
        for key, group in groups.items():
            sample = figure.sample(group)
            failed = sum(errors[at] is not None for at in group)
            line = TableLine(key, name, sample.estimate(level), failed, sample=sample)
            if key in reference_of:
                mine, other = figure.pair(group, groups[reference_of[key]], matches)
                less, to_tell = mine.less(other, each_level), mine.to_tell(other)
                line = evolve(line, difference=less, to_tell=to_tell)
            lines.append(line)
    every, index = rows.gathered.cells, rows.gathered.cell
    cells = {
        key: [every[n] for n in {index[at]: 0 for at in group}] for key, group in groups.items()
    }
    lacking = {
        f"{line.name} in {line.figure}": (line.sample.missing, len(groups[line.group]))
        for line in lines
    }
    apart = any(line.difference and not line.difference.paired.n for line in lines)
    known = known_note(rows) if "score" in figures else ""
    notes = [
        *_notes_on_rows(rows),
        *missing_note(lacking),
        *_averaged_note(rows, cells, by),
        *["0 pairs: the seeds differ, so the interval is Welch's"] * apart,
        *estimate_notes(line.sample for line in lines),
        *filter(None, [known]),
    ]
    reference = "" if against is None else _reference_label(against)
    knows = knowledge({key: each[0] for key, each in cells.items()}) if "policy" in by else {}
    legend = [*_legend(lines, reference, len(reference_of)), *knowledge_legend(knows.values())]
    return ComparisonTable(by, tuple(lines), level, reference, knows, notes, legend)


def best_groups(rows: RowColumns, figure: str, by: str, alpha: float, sign: int) -> tuple[Any, ...]:
    """Return the groups that may be the best, the best mean first; see `Rows.best`."""
    found = FigureValues.of(rows, figure)
    samples = {key: found.sample(group) for (key,), group in rows.places([by]).items()}
    if lacking := sum(sample.missing for sample in samples.values()):
        text = missing_text(lacking, len(rows))
        raise UsageError(f"{text} for {figure!r}; no group is the best")
    known = {
        key: {unit: sign * value for unit, value in sample.values.items()}
        for key, sample in samples.items()
        if sample.values
    }
    if not known:
        raise UsageError("every group has failed episodes, so none has a mean to choose by")
    means = zip(known, ranked(aligned([*known.values()]), alpha), strict=True)
    best = [(-one.mean, place, key) for place, (key, one) in enumerate(means) if one.may_be_best]
    return tuple(key for _, _, key in sorted(best))


# -- notes -----------------------------------------------------------------------------------------


def _notes_on_rows(rows: RowColumns) -> Iterator[str]:
    """Yield the sentences on worlds of several revisions, and on default actions."""
    revisions: dict[str, dict[str, None]] = {}
    for world, revision in zip(rows.column("model"), rows.column(REVISION), strict=True):
        revisions.setdefault(world, {})[str(revision)] = None  # of a world of parts a mapping
    for world, each in revisions.items():
        if len(each) > 1:
            named = ", ".join(each)
            yield f"rows of {world} are of revisions {named}, which are different worlds"
    most: dict[str, float] = {}
    for policy, share in zip(rows.column("policy"), rows.column(DEFAULTS), strict=True):
        if share:
            most[policy] = max(share, most.get(policy, 0.0))
    if most:
        texts = (
            f"{policy} in up to {share:.0%} of its decisions" for policy, share in most.items()
        )
        yield f"default actions: {'; '.join(texts)}"


def _averaged_note(
    rows: RowColumns, cells: Mapping[Key, Sequence[Row]], by: Sequence[str]
) -> Iterator[str]:
    """Yield the sentence on the parameters and policies over which a group is a mean."""
    own = {rows.find(name) for name in by}
    names = [
        name
        for name in (*rows.varying, "policy")
        if (path := rows.find(name)) not in own
        and any(len({repr(value_at(cell, path)) for cell in each}) > 1 for each in cells.values())
    ]
    if names:
        yield f"groups are means over several values of {' and '.join(names)}"


def _legend(lines: Sequence[TableLine], against: str, rivals: int) -> Iterator[str]:
    """Yield the sentences on what heads and marks mean."""
    if against:
        together = f"; the {rivals} intervals of a figure hold together (Bonferroni)"
        yield f"difference to {against}, paired by seed{together * (rivals > 1)}"
    if any(line.to_tell for line in lines):
        yield to_tell_term(against)
    rival = (line for line in lines if line.difference and not line.sample.is_exact)
    equal = any(line.difference and is_equal(line.difference.paired) for line in rival)
    means = ((line.estimate, line.failed, line.sample) for line in lines)
    yield from estimate_legend(means, equal=equal)


# -- pairs -----------------------------------------------------------------------------------------


def reference_groups(keys: Sequence[Key], by: tuple[str, ...], against: Any) -> dict[Key, Key]:
    """Return the reference of each group that differs from its own; refuse one that is no group."""
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


def _matches(rows: RowColumns, by: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return for each row what it shares with its pair in another group: the seed and the rest."""
    texts = [json.dumps(_shared(cell, by)) for cell in rows.gathered.cells]
    cells = rows.gathered.cell
    return [(seed, texts[cell]) for seed, cell in zip(rows.column("seed"), cells, strict=True)]


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
