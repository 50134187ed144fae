"""Groups of the rows of a sweep, compared: a table of estimates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import field, frozen

from desim.core.roles import Knowledge, knowledge_legend, with_knowledge
from desim.rows.estimate_notes import (
    averaged_note,
    estimate_legend,
    estimate_notes,
    missing_note,
    to_tell_term,
)
from desim.rows.samples import Sample
from desim.short_repr import shortened
from desim.show.estimates import TO_TELL, estimate_cells, interval_head, is_equal
from desim.show.labels import NOTHING
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import Interval
from desim.statistics.pairing import Difference

#: Characters of a group's name in a table, without those of the mark of a cut.
_WIDTH = 37


@frozen
class TableLine:
    """One figure of one group.

    Attributes:
        group: The values of the columns by which rows are grouped.
        figure: The column whose mean is estimated.
        estimate: Its mean over seeds; None if no row has the figure, or if rows have failed and
            their model declares no worst score.
        failed: How many rows of the group have an error.
        difference: Its difference to the reference group, if there is one and neither mean is
            withheld.
        sample: The values on which the estimate rests.
        to_tell: Seeds that would tell it from the reference; see `Sample.to_tell`.
        episodes: How many rows the group has.
        missing: How many of them have no number, though they have not failed.
    """

    group: tuple[Any, ...]
    figure: str
    estimate: Interval | None
    failed: int
    difference: Difference | None = None
    sample: Sample = field(factory=lambda: Sample({}), repr=False)
    to_tell: int | None = None
    episodes: int = 0
    missing: int = 0

    @property
    def name(self) -> str:
        """The group as text."""
        return " and ".join(map(str, self.group))


@frozen(repr=False)
class ComparisonTable(Tabular):
    """Groups of rows with intervals and differences.

    Attributes:
        by: The columns by which rows are grouped.
        lines: Figure by figure, groups in the order of their first rows.
        level: The level of the intervals.
        against: The reference group as text, or empty.
        rivals: How many groups are compared with it; the intervals of their differences hold
            together at the level.
        knows: What the policies of groups know, where it is more than observations.
        mixed: Sentences on how rows compare: lower is better, they are of several revisions of
            a world, or with default actions.
        known: The sentence on the best known scores; may be empty.
        averaged: By column the values over which groups are means.
        differing: The groups with cells whose first seed had another row when it was played again.
    """

    by: tuple[str, ...]
    lines: tuple[TableLine, ...]
    level: float
    against: str = ""
    rivals: int = 0
    knows: Mapping[tuple[Any, ...], Knowledge] = field(factory=dict)
    mixed: tuple[str, ...] = ()
    known: str = ""
    averaged: Mapping[str, Sequence[Any]] = field(factory=dict)
    differing: Sequence[tuple[Any, ...]] = ()

    def tables(self) -> tuple[Table]:
        """Return the table of all figures."""
        lines = map(self.cells, self.lines)
        left = range(len(self.by) + 1)
        return (Table(self.heads(), lines, left, notes=self.notes(), legend=self.legend()),)

    def heads(self) -> list[str]:
        """Return the heads of the columns."""
        between = interval_head(self.level)
        paired = ["pairs", "difference", between, TO_TELL] if self.against else []
        return [*self.by, "figure", "n", "failed", "mean", "sd", between, *paired]

    def cells(self, line: TableLine) -> list[Any]:
        """Return the cells of a line, one for each head."""
        return [
            *self._group_cells(line.group),
            line.figure,
            line.estimate.n if line.estimate else None,
            line.failed,
            *estimate_cells(line.estimate, sd=True, exact=line.sample.is_exact),
            *(_difference_cells(line) if self.against else []),
        ]

    def notes(self) -> list[str]:
        """Return the sentences without which a line could be misread."""
        several = len({line.figure for line in self.lines}) > 1
        lacking = {
            f"{line.name} in {line.figure}" if several else line.name: (line.missing, line.episodes)
            for line in self.lines
        }
        found = [*self.mixed, *missing_note(lacking), *averaged_note(self.averaged)]
        if self.differing:
            names = ", ".join(" and ".join(map(str, group)) for group in self.differing)
            found.append(
                f"differs: the first seed of {names}, played again after the others, has another "
                "row, so the rows depend on what was played before them"
            )
        if any(line.difference and not line.difference.paired.n for line in self.lines):
            found.append("0 pairs: the seeds differ, so the interval is Welch's")
        return [
            *found,
            *estimate_notes(line.sample for line in self.lines),
            *filter(None, [self.known]),
        ]

    def legend(self) -> list[str]:
        """Return the sentences on what heads and marks mean."""
        pairs = [one for one in self.lines if one.difference and not one.sample.is_exact]
        equal = any(is_equal(one.difference.paired) for one in pairs if one.difference)
        together = f"; the {self.rivals} intervals of a figure hold together (Bonferroni)"
        paired = f"difference to {self.against}, paired by seed{together * (self.rivals > 1)}"
        means = ((line.estimate, line.failed, line.sample) for line in self.lines)
        return [
            *([paired] if self.against else []),
            *([to_tell_term(self.against)] if any(line.to_tell for line in self.lines) else []),
            *estimate_legend(means, equal=equal),
            *knowledge_legend(self.knows.values()),
        ]

    def _value_text(self, value: Any) -> str:
        """Return a value in 40 characters, or whole where another would look the same."""
        if value is None:
            return NOTHING
        text = shortened(str(value), _WIDTH)
        return text if self._cuts[text] == 1 else str(value)

    @cached_property
    def _cuts(self) -> Counter[str]:
        """How many different values have the same text when they are cut."""
        values = {str(value) for line in self.lines for value in line.group}
        return Counter(shortened(value, _WIDTH) for value in values)

    def _group_cells(self, group: tuple[Any, ...]) -> list[Any]:
        known = {"policy": self.knows.get(group)}
        texts = [self._value_text(value) for value in group]
        if group in self.differing:
            texts[-1] += " (differs)"
        return [
            Printed(value, with_knowledge(text, known.get(name)))
            for name, value, text in zip(self.by, group, texts, strict=True)
        ]


def _difference_cells(line: TableLine) -> list[Any]:
    paired = line.difference.paired if line.difference else None
    cells = estimate_cells(paired, sd=False, exact=line.sample.is_exact)
    return [paired.n if paired else None, *cells, line.to_tell]
