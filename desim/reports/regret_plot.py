"""The picture of `desim regret`: what each decision cost, over the episode, by role."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from desim.reports.drawing import COLOURS, drawable, finish, write_picture
from desim.studies.branches import action_text
from desim.studies.regret_table import DecisionRegret, RegretTable

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Inches: the width of a picture, and the height of a role's panel.
_WIDTH, _HEIGHT = 9.0, 3.6

#: Roles that are drawn.
_PANELS = 12

#: Decisions of a role that are named below its panel, and characters of a line of text.
_NAMED, _LONGEST = 3, 120


def write_plot(table: RegretTable, path: Path) -> None:
    """Draw the decisions of a table, each with its interval, and write the picture.

    Args:
        table: What `regret` returned.
        path: A .png, .svg or .pdf file.

    Raises:
        UsageError: It cannot be written.
    """
    roles = list(dict.fromkeys(line.place.role for line in table.lines if line.found))[:_PANELS]

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(max(1, len(roles)), 1, sharex=True, squeeze=False)[:, 0]
        for panel, role in zip(panels, roles, strict=False):
            lines = [line for line in table.lines if line.place.role == role and line.found]
            _panel(panel, lines, f"{role}: {_title(table)}")

    write_picture(path, _WIDTH, _HEIGHT * max(1, len(roles)), draw)


def _title(table: RegretTable) -> str:
    what = "best other option" if table.against == "options" else table.against
    seen = " (hindsight: in the future that came)" if table.futures is None else ""
    return f"{what} less recorded, then {table.then}{seen}"


def _panel(panel: "Axes", lines: Sequence[DecisionRegret], title: str) -> None:
    """Draw the decisions of one role; those whose interval is above 0 in another colour."""
    panel.axhline(0, color="0.3", linewidth=0.8)
    for costs, colour, marker in ((False, COLOURS[0], "o"), (True, COLOURS[1], "D")):
        some = [line for line in lines if line.costs is costs]
        if not some:
            continue
        at = [line.place.at for line in some]
        mean = drawable(line.cost for line in some)
        half = drawable(line.found.half if line.found else None for line in some)
        panel.errorbar(
            at,
            mean,
            yerr=[0.0 if math.isnan(each) else each for each in half],
            fmt=marker,
            markersize=4,
            linewidth=1,
            capsize=2,
            color=colour,
            label=_label(some, costs=costs),
        )
    if lines:
        panel.legend(loc="best", frameon=False)
    dearest = sorted((line for line in lines if line.costs), key=lambda line: -line.cost)[:_NAMED]
    finish(panel, y="difference of mean scores", x="decision")
    # Not by `finish`, which cuts a label to the length that fits beside an axis.
    panel.set_title(title[:_LONGEST], loc="left")
    panel.set_xlabel("\n".join(["decision", *_named(panel, dearest)]), loc="left")


def _label(lines: Sequence[DecisionRegret], *, costs: bool) -> str:
    if costs:
        return "costs: its interval is above 0"
    # One future has no interval; a difference that is the same in all of several needs none.
    pairs = [line.found for line in lines if line.found]
    return "no interval: one future" if all(p.n == 1 for p in pairs) else "not shown to cost"


def _named(panel: "Axes", dearest: Sequence[DecisionRegret]) -> Iterator[str]:
    """Number the most expensive decisions in the panel, and yield what they were."""
    for rank, line in enumerate(dearest, 1):
        high = line.found.high if line.found else None
        top = line.cost if high is None else high
        panel.annotate(
            str(rank),
            (line.place.at, top),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            fontweight="bold",
        )
        best = action_text(line.best) if line.best else ""
        yield f"{rank}: {line.place.when}, {action_text(line.recorded)}; better {best}"[:_LONGEST]
