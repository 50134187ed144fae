"""Groups of the rows of a sweep, compared: a table of estimates."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from attrs import field, frozen

from desim.core.roles import Knowledge, with_knowledge
from desim.rows.samples import Sample
from desim.short_repr import shortened
from desim.show.estimates import TO_TELL, estimate_cells, interval_head
from desim.show.labels import NOTHING
from desim.show.table import Printed, Table, Tabular
from desim.statistics.intervals import Interval
from desim.statistics.pairing import Difference

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
        difference: Its difference to the reference group, if there is one and neither mean is
            withheld.
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
        """Return the table of all figures."""
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
