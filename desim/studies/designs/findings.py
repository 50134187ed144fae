"""What the rows of a design show, as plain lines and as a table."""

from collections.abc import Sequence
from typing import Any

import attrs
from attrs import field, frozen

from desim.show.estimates import estimate_cells
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval

__all__ = ["Analysis", "interval_cells", "tabulated"]

#: The first columns; they are left out where they hold one value only, which a note then has.
_GROUPS = ("policy", "figure")


@frozen
class Analysis(Tabular):
    """Effects, indices or screened parameters.

    Attributes:
        lines: Objects of the class that the analysis returns: `Effect`, `Index` or `Screened`.
        heads: The heads of the table.
        cells: The cells of the table, one line for each object.
        notes: Sentences without which the table could be misread.
    """

    lines: tuple[Any, ...]
    heads: tuple[str, ...] = field(repr=False)
    cells: tuple[tuple[Any, ...], ...] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)

    def tables(self) -> tuple[Table]:
        """Return the table of all lines."""
        names = sum(head in _GROUPS for head in self.heads) + 1
        return (Table(self.heads, self.cells, range(names), notes=self.notes),)

    def plain(self) -> list[dict[str, Any]]:
        """Return the lines as plain mappings, for JSON."""
        return [attrs.asdict(line) for line in self.lines]


def interval_cells(estimate: Interval) -> list[Any]:
    """Return the cells of a mean and its interval."""
    return estimate_cells(estimate, sd=False)


def tabulated(
    lines: Sequence[Any],
    heads: Sequence[str],
    cells: Sequence[Sequence[Any]],
    notes: Sequence[str],
) -> Analysis:
    """Return an analysis; a policy or a figure that all lines share is named in the first note.

    Args:
        lines: Objects with the attributes `group` and `figure`.
        heads: Of the columns behind policy and figure.
        cells: The cells of these columns, one line for each object.
        notes: Sentences below the table.
    """
    groups = [(line.group, line.figure) for line in lines]
    shared = [len({group[at] for group in groups}) == 1 for at in range(len(_GROUPS))]
    kept = [at for at, same in enumerate(shared) if not same]
    common = [f"{_GROUPS[at]} {groups[0][at]}" for at, same in enumerate(shared) if same]
    return Analysis(
        tuple(lines),
        (*(_GROUPS[at] for at in kept), *heads),
        tuple(
            (*(group[at] for at in kept), *values)
            for group, values in zip(groups, cells, strict=True)
        ),
        (*([", ".join(common)] if common else []), *notes),
    )
