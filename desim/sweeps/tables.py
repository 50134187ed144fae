"""Tables of a sweep: plain data, printed by rich and as text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.formatting import estimate_text
from desim.statistics.intervals import Interval

if TYPE_CHECKING:  # `import desim` must not load rich
    from rich.console import Group
    from rich.table import Table

__all__ = ["UNKNOWN", "ComparisonTable", "TableLine", "estimate_cells", "rich_table"]

#: The cell of a figure that is not known.
UNKNOWN = "—"

#: Characters of a console on which no line is folded.
_UNLIMITED = 100_000


@frozen
class TableLine:
    """One figure of one group.

    Attributes:
        group: The values of the columns by which rows are grouped.
        figure: The column whose mean is estimated.
        estimate: Its mean over seeds; None if no row has the figure.
        failed: How many rows of the group have an error.
        difference: Its paired difference to the reference group, if there is one.
    """

    group: tuple[Any, ...]
    figure: str
    estimate: Interval | None
    failed: int
    difference: Interval | None = None


@frozen
class ComparisonTable:
    """Groups of rows with intervals and paired differences; `print` aligns it, and so does rich.

    Attributes:
        by: The columns by which rows are grouped.
        lines: Figure by figure, groups in the order of their first rows.
        level: The level of the intervals.
        against: The reference group as text; empty if there is none.
    """

    by: tuple[str, ...]
    lines: tuple[TableLine, ...]
    level: float
    against: str = ""

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=_UNLIMITED, color_system=None, force_jupyter=False)
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines())

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        left = dict.fromkeys(range(len(self.by) + 1), 0)
        table = rich_table(self.heads(), map(self.cells, self.lines), left)
        note = f"difference to {self.against}, paired by seed"
        return Group(table, *([Text(note, "table.caption")] if self.against else []))

    def heads(self) -> list[str]:
        """Return the heads of the columns."""
        between = f"{100 * self.level:g} % interval"
        paired = ["pairs", "difference", between] if self.against else []
        return [*self.by, "figure", "n", "failed", "mean", "sd", between, *paired]

    def cells(self, line: TableLine) -> list[str]:
        """Return the texts of a line, one for each head."""
        paired = line.difference
        return [
            *(UNKNOWN if value is None else str(value) for value in line.group),
            line.figure,
            f"{line.estimate.n:,}" if line.estimate else "0",
            f"{line.failed:,}",
            *estimate_cells(line.estimate, sd=True),
            *([_count(paired), *estimate_cells(paired, sd=False)] if self.against else []),
        ]


def estimate_cells(estimate: Interval | None, *, sd: bool) -> list[str]:
    """Return the mean, the standard deviation if *sd*, and the interval as texts."""
    if estimate is None:
        return [UNKNOWN] * (3 if sd else 2)
    half, low, high = estimate.half, estimate.low, estimate.high
    ends = [] if low is None or high is None else [low, high]
    between = f"[{', '.join(estimate_text(end, half) for end in ends)}]" if ends else UNKNOWN
    deviation = UNKNOWN if estimate.sd is None else estimate_text(estimate.sd, half)
    return [estimate_text(estimate.mean, half), *([deviation] if sd else []), between]


def rich_table(
    heads: Sequence[str], lines: Iterable[Sequence[str]], left: Mapping[int, int], title: str = ""
) -> "Table":
    """Return a table in which no text is cut or read as markup.

    Args:
        heads: The heads of the columns.
        lines: One text for each head.
        left: The least width of each column that is aligned to the left, by its place from 0; the
            other columns are numbers, aligned to the right.
        title: In rich's markup; empty for none.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(
            Text(head),
            justify="left" if place in left else "right",
            overflow="fold",
            min_width=left.get(place) or None,
        )
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def _count(estimate: Interval | None) -> str:
    return f"{estimate.n:,}" if estimate else UNKNOWN
