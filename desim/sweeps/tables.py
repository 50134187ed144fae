"""Groups of rows side by side: means, intervals, and paired differences to one of them."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim import stats
from desim.errors import UsageError, possible
from desim.stats import Interval
from desim.sweeps.jobs import Row

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from desim.sweeps.rows import Rows

__all__ = ["UNKNOWN", "Line", "Table", "figures", "number", "table"]

#: A row's seed, and what else it shares with its pair.
Match = tuple[int, str]

#: Stands where a figure is not known.
UNKNOWN = "—"

#: An interval narrower than this is no reason for more digits; a figure of this size needs no
#: decimals; one of this size is written with an exponent.
_NARROW, _LARGE, _HUGE = 1e-6, 1e6, 1e15


@frozen
class Line:
    """One figure of one group.

    Attributes:
        group: The values of the columns by which rows are grouped.
        figure: The column that is shown.
        estimate: Its mean over seeds; None where no row has it.
        failed: How many rows of the group have an error.
        difference: Its paired difference to the group it is compared with, if there is one.
    """

    group: tuple[Any, ...]
    figure: str
    estimate: Interval | None
    failed: int
    difference: Interval | None = None


@frozen
class Table:
    """A comparison; prints as aligned text, and as a table in rich.

    Attributes:
        by: The columns by which rows are grouped.
        lines: Figure by figure, groups in the order of their rows.
        level: Of the intervals.
        against: What the others are compared with; empty where nothing is.
    """

    by: tuple[str, ...]
    lines: tuple[Line, ...]
    level: float
    against: str = ""

    def __str__(self) -> str:
        cells = [self.heads(), *map(self.cells, self.lines)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        texts = [self._aligned(line, widths) for line in cells]
        return "\n".join([*texts, *self._notes()])

    def __rich__(self) -> "RichTable":
        from rich.table import Table as RichTable
        from rich.text import Text

        made = RichTable(
            box=None,
            pad_edge=False,
            header_style="bold",
            caption="\n".join(self._notes()) or None,
            caption_justify="left",
        )
        for place, head in enumerate(self.heads()):
            text = place <= len(self.by)
            made.add_column(head, justify="left" if text else "right", overflow="fold")
        for line in self.lines:
            # As Text, because a policy's brackets are no markup.
            made.add_row(*map(Text, self.cells(line)))
        return made

    def heads(self) -> list[str]:
        """Return the names of the columns."""
        between = f"{100 * self.level:g} % interval"
        paired = ["pairs", "difference", between] if self.against else []
        return [*self.by, "figure", "n", "failed", "mean", "sd", between, *paired]

    def cells(self, line: Line) -> list[str]:
        """Return the texts of a line."""
        paired = line.difference
        return [
            *(UNKNOWN if value is None else str(value) for value in line.group),
            line.figure,
            *(_count(line.estimate) if line.estimate else ["0"]),
            f"{line.failed:,}",
            *figures(line.estimate, spread=True),
            *([*_count(paired), *figures(paired, spread=False)] if self.against else []),
        ]

    def _aligned(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        sides = ["<" if place <= len(self.by) else ">" for place in range(len(cells))]
        padded = [f"{c:{side}{w}}" for c, side, w in zip(cells, sides, widths, strict=True)]
        return "  ".join(padded).rstrip()

    def _notes(self) -> list[str]:
        return [f"difference to {self.against}, paired by seed"] if self.against else []


def table(
    rows: "Rows", by: tuple[str, ...], show: tuple[str, ...], against: Any, level: float
) -> Table:
    """Compare groups of rows; see `Rows.table`.

    Raises:
        UsageError: There is no such column or group, or a column holds no numbers.
    """
    groups = rows.groups(*by)
    others = _references(list(groups), by, against)
    matches = {key: [_match(row, by) for row in group] for key, group in groups.items() if others}
    lines = []
    for figure in show:
        values = {
            key: _matched(matches.get(key, []), group, figure) for key, group in groups.items()
        }
        for key, group in groups.items():
            known = list(group.by_seed(figure).values())
            estimate = stats.interval(known, level) if known else None
            other = values.get(others[key]) if key in others else None
            paired = _paired(values[key], other, level) if other else None
            lines.append(Line(key, figure, estimate, len(group.failed), paired))
    return Table(by, tuple(lines), level, "" if against is None else _told(against))


def _references(
    keys: Sequence[tuple[Any, ...]], by: tuple[str, ...], against: Any
) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Say with which group each other group is compared."""
    if against is None:
        return {}
    if against in keys:
        return {key: against for key in keys if key != against}
    for place in range(len(by)):
        if against in (key[place] for key in keys):
            pairs = {key: (*key[:place], against, *key[place + 1 :]) for key in keys}
            return {key: other for key, other in pairs.items() if key != other}
    known = [" and ".join(map(str, key)) for key in keys]
    raise UsageError(f"no group is {_told(against)!r}; {possible(_told(against), known)}")


def _match(row: Row, by: tuple[str, ...]) -> Match:
    """Tell what a row must share with another to be its pair: all that does not make the group."""
    shared = {name: row[name] for name in ("model", "preset", "policy") if name not in by}
    # Another model has presets and parameters of its own, another preset has parameters of its own.
    if "model" in by:
        shared.pop("preset", None)
    elif "preset" not in by:
        made = {name.removeprefix("params.") for name in by}
        shared["params"] = {k: v for k, v in row["params"].items() if k not in made}
    return row["seed"], json.dumps(shared)


def _matched(matches: Sequence[Match], group: "Rows", figure: str) -> dict[Match, float]:
    """Return the mean of a figure by what its rows must share with others."""
    found: dict[Match, list[float]] = {}
    for match, value in zip(matches, group.numbers(figure), strict=bool(matches)):
        if value is not None:
            found.setdefault(match, []).append(value)
    return {match: math.fsum(values) / len(values) for match, values in found.items()}


def _paired(
    mine: Mapping[Match, float], theirs: Mapping[Match, float], level: float
) -> Interval | None:
    """Estimate a difference from rows that differ by nothing but the group; a seed counts once."""
    found: dict[int, list[float]] = {}
    for match in mine.keys() & theirs.keys():
        found.setdefault(match[0], []).append(mine[match] - theirs[match])
    means = [math.fsum(differences) / len(differences) for differences in found.values()]
    return stats.interval(means, level) if means else None


# -- texts -----------------------------------------------------------------------------------------


def number(value: float, half: float | None = None) -> str:
    """Write a figure to two digits of the half width of its interval, or to six digits.

    >>> number(1234567.891, 4321.0), number(0.51234, 0.069), number(12.0)
    ('1,234,568', '0.512', '12')
    """
    if half and half > _NARROW:
        return f"{value:z,.{max(0, 1 - math.floor(math.log10(half)))}f}"
    whole = value.is_integer() or abs(value) >= _LARGE
    return f"{value:z,.0f}" if whole and abs(value) < _HUGE else f"{value:z,.6g}"


def _count(estimate: Interval | None) -> list[str]:
    return [f"{estimate.n:,}" if estimate else UNKNOWN]


def figures(estimate: Interval | None, *, spread: bool) -> list[str]:
    """Return mean, standard deviation where wanted, and interval."""
    if estimate is None:
        return [UNKNOWN] * (3 if spread else 2)
    half, low, high, sd = estimate.half, estimate.low, estimate.high, estimate.sd
    ends = [] if low is None or high is None else [number(low, half), number(high, half)]
    between = f"[{', '.join(ends)}]" if ends else UNKNOWN
    deviation = [UNKNOWN if sd is None else number(sd, half)] if spread else []
    return [number(estimate.mean, half), *deviation, between]


def _told(against: Any) -> str:
    return " and ".join(map(str, against)) if isinstance(against, tuple) else str(against)
