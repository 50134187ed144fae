"""The findings from the rows of a design, as plain lines and as a table."""

from collections.abc import Sequence
from typing import Any

import attrs
from attrs import field, frozen

from desim.show.table import Table, Tabular

#: The first columns; they are left out where they hold one value only, which a note then has.
_GROUPS = ("policy", "figure")


@frozen(repr=False)
class Analysis(Tabular):
    """Effects, indices or screened parameters.

    Attributes:
        lines: Objects of the class that the analysis returns: `Effect`, `Index` or `Screened`.
        table: A line for each of them, and the sentences without which it could be misread.
    """

    lines: tuple[Any, ...]
    table: Table = field(repr=False)

    def tables(self) -> tuple[Table]:
        """Return the table of all lines."""
        return (self.table,)

    def plain(self) -> list[dict[str, Any]]:
        """Return the lines as plain mappings, for JSON."""
        return [attrs.asdict(line) for line in self.lines]


def tabulated(
    lines: Sequence[Any],
    heads: Sequence[str],
    cells: Sequence[Sequence[Any]],
    notes: Sequence[str],
) -> Analysis:
    """Return an analysis; a policy or a figure that all lines share is named in the first note.

    Args:
        lines: Objects with the attributes `group` and `figure`.
        heads: The heads of the columns behind policy and figure.
        cells: The cells of these columns, one line for each object.
        notes: Sentences below the table.
    """
    groups = [(line.group, line.figure) for line in lines]
    shared = [len({group[at] for group in groups}) == 1 for at in range(len(_GROUPS))]
    kept = [at for at, same in enumerate(shared) if not same]
    common = [f"{_GROUPS[at]} {groups[0][at]}" for at, same in enumerate(shared) if same]
    named = [", ".join(common)] if common else []
    table = Table(
        [*(_GROUPS[at] for at in kept), *heads],
        [
            [*(group[at] for at in kept), *values]
            for group, values in zip(groups, cells, strict=True)
        ],
        range(len(kept) + 1),
        notes=[*named, *notes],
    )
    return Analysis(tuple(lines), table)
