"""Tables of a sweep: plain data, printed by rich and as text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.show.labels import estimate_text
from desim.statistics.intervals import Interval, seeds_needed
from desim.statistics.pairing import Difference

if TYPE_CHECKING:  # `import desim` must not load rich
    from rich.console import Group
    from rich.table import Table

__all__ = [
    "PRECISION",
    "SAME",
    "UNKNOWN",
    "ComparisonTable",
    "TableLine",
    "as_text",
    "estimate_cells",
    "repeated_note",
    "rich_table",
    "seeds_cell",
]

#: The cell of a figure that is not known.
UNKNOWN = "—"

#: Half the width of an interval, as a share of the mean, for which tables state the seeds needed.
_PRECISION = 0.05

#: The head of the column with these seeds.
PRECISION = f"n for {100 * _PRECISION:g}\N{NO-BREAK SPACE}%"

#: The cell of an interval where all values are equal.
SAME = "all equal"

#: Behind the name of a policy that is informed.
_INFORMED = " *"

#: Groups that a note lists.
_LISTED = 3

#: Characters of a console on which no line is folded.
_UNLIMITED = 100_000


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
        seeds: How many seeds were played, and how many of them have different episodes; None where
            that is not known.
    """

    group: tuple[Any, ...]
    figure: str
    estimate: Interval | None
    failed: int
    difference: Difference | None = None
    seeds: tuple[int, int] | None = None

    @property
    def same(self) -> bool:
        """Whether the episodes are the same on each of several seeds."""
        return self.seeds is not None and self.seeds[0] > self.seeds[1] == 1

    @property
    def repeated(self) -> bool:
        """Whether some seeds, but not all, have the episode of another seed."""
        return self.seeds is not None and self.seeds[0] > self.seeds[1] > 1


@frozen
class ComparisonTable:
    """Groups of rows with intervals and differences; `print` aligns it, and so does rich.

    Attributes:
        by: The columns by which rows are grouped.
        lines: Figure by figure, groups in the order of their first rows.
        level: The level of the intervals.
        against: The reference group as text; empty if there is none.
        rivals: How many groups are compared with it; the intervals of their differences hold
            together at the level.
        informed: The groups whose policy uses facts that its role cannot observe.
        known: The sentence on the best known scores; empty where there is none.
    """

    by: tuple[str, ...]
    lines: tuple[TableLine, ...]
    level: float
    against: str = ""
    rivals: int = 0
    informed: frozenset[tuple[Any, ...]] = frozenset()
    known: str = ""

    def __str__(self) -> str:
        return as_text(self)

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        left = dict.fromkeys(range(len(self.by) + 1), 0)
        table = rich_table(self.heads(), map(self.cells, self.lines), left)
        return Group(table, *(Text(note, "table.caption") for note in self.notes()))

    def heads(self) -> list[str]:
        """Return the heads of the columns."""
        between = self._between()
        paired = ["pairs", "difference", between] if self.against else []
        return [*self.by, "figure", "n", "failed", "mean", "sd", between, PRECISION, *paired]

    def cells(self, line: TableLine) -> list[str]:
        """Return the texts of a line, one for each head."""
        return [
            *self._group_cells(line.group),
            line.figure,
            _count(line.estimate),
            f"{line.failed:,}",
            *estimate_cells(line.estimate, sd=True),
            seeds_cell(line.estimate),
            *(self._difference_cells(line.difference) if self.against else []),
        ]

    def notes(self) -> list[str]:
        """Return the sentences without which a line could be misread."""
        found = []
        if any(seeds_cell(line.estimate) != UNKNOWN for line in self.lines):
            found.append(
                f"{PRECISION}: seeds with which half the interval is that share of the mean"
            )
        if self.against:
            together = f"; the {self.rivals} intervals of a figure hold together (Bonferroni)"
            found.append(
                f"difference to {self.against}, paired by seed{together * (self.rivals > 1)}"
            )
        if self.against and (useless := [line for line in self.lines if _is_useless(line)]):
            found.append(f"pairing by seed gains nothing for {_listed(map(_useless, useless))}")
        if any(line.same and line.estimate for line in self.lines):
            found.append(f"{SAME}: every seed has the same episode, so the figures are exact")
        if any(_is_equal(line.estimate) and not line.same for line in self.lines):
            found.append(f"{SAME}: all seeds have the same value, so there is no interval")
        if repeated := {line.group: line.seeds for line in self.lines if line.repeated}:
            found.append(repeated_note({" and ".join(map(str, k)): v for k, v in repeated.items()}))
        if any(line.failed and line.estimate for line in self.lines):
            found.append("failed: episodes that failed count with the worst score of their model")
        if any(line.failed and not line.estimate for line in self.lines):
            found.append("failed: a mean without the episodes that failed proves nothing: no mean")
        informed = f"{_INFORMED.strip()} informed: uses facts that its role cannot observe"
        return [*found, *([informed] if self.informed else []), *([self.known] * bool(self.known))]

    def _group_cells(self, group: tuple[Any, ...]) -> list[str]:
        marks = {"policy": _INFORMED} if group in self.informed else {}
        texts = (UNKNOWN if value is None else str(value) for value in group)
        return [text + marks.get(name, "") for name, text in zip(self.by, texts, strict=True)]

    def _difference_cells(self, found: Difference | None) -> list[str]:
        paired = found.paired if found else None
        return [_count(paired), *estimate_cells(paired, sd=False)]

    def _between(self) -> str:
        return f"{100 * self.level:g} % interval"


def as_text(printed: Any) -> str:
    """Return what rich prints of an object on a console without an edge, without its colours."""
    from desim.show.console import SafeConsole

    console = SafeConsole(width=_UNLIMITED, color_system=None, force_jupyter=False)
    with console.capture() as capture:
        console.print(printed)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def estimate_cells(estimate: Interval | None, *, sd: bool) -> list[str]:
    """Return the mean, the standard deviation if *sd*, and the interval as texts."""
    if estimate is None:
        return [UNKNOWN] * (3 if sd else 2)
    half, low, high = estimate.half, estimate.low, estimate.high
    ends = [] if low is None or high is None else [low, high]
    between = f"[{', '.join(estimate_text(end, half) for end in ends)}]" if ends else UNKNOWN
    deviation = UNKNOWN if estimate.sd is None else estimate_text(estimate.sd, half)
    if _is_equal(estimate):
        deviation, between = UNKNOWN, SAME
    return [estimate_text(estimate.mean, half), *([deviation] if sd else []), between]


def seeds_cell(estimate: Interval | None) -> str:
    """Return the seeds with which half the interval is `_PRECISION` of the mean, as text."""
    if estimate is None or not estimate.mean:
        return UNKNOWN
    needed = seeds_needed(estimate, _PRECISION * abs(estimate.mean))
    return UNKNOWN if needed is None else f"{needed:,}"


def repeated_note(seeds: Mapping[str, tuple[int, int] | None]) -> str:
    """Return the sentence on groups in which seeds have the same episodes.

    Args:
        seeds: By group, the seeds, and those with different episodes.
    """
    counts = [f"{name} ({each[1]:,} of {each[0]:,})" for name, each in seeds.items() if each]
    return (
        f"seeds with different episodes: {_listed(counts)}; where the others repeat them by "
        "design, as cases that come in turn, and not by chance, the intervals are too narrow"
    )


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


def _is_equal(estimate: Interval | None) -> bool:
    """Return whether all of several values are equal and have no interval of their own."""
    return estimate is not None and estimate.n > 1 and estimate.low == estimate.high


def _is_useless(line: TableLine) -> bool:
    return line.difference is not None and not line.difference.pairing_helps


def _useless(line: TableLine) -> str:
    """Return a line's group, its correlation, and both half widths."""
    found = line.difference
    assert found is not None
    half = found.paired.half
    name = " and ".join(map(str, line.group))
    correlation = "" if found.correlation is None else f"correlation {found.correlation:.2f}, "
    assert half is not None
    assert found.unpaired is not None
    widths = " and ".join(f"±{estimate_text(each, each)}" for each in (half, found.unpaired))
    return f"{name} in {line.figure} ({correlation}paired and unpaired {widths})"


def _listed(texts: Iterable[str]) -> str:
    """Return texts as a list, cut where it is long."""
    all_ = list(texts)
    more = f" and {len(all_) - _LISTED:,} more" if len(all_) > _LISTED else ""
    return ", ".join(all_[:_LISTED]) + more
