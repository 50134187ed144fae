"""The picture of `desim regret`: what each decision cost, over the episode, by role."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from desim.reports.drawing import COLOURS, drawable, finish, write_picture
from desim.studies.regret_table import DecisionRegret, RegretTable

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Inches: the width of a picture, and the height of a role's panel; and roles that are drawn.
_WIDTH, _HEIGHT, _PANELS = 9.0, 3.4, 12

#: Characters of a title.
_LONGEST = 120


def write_plot(table: RegretTable, path: Path) -> None:
    """Draw the decisions of a table, each with its interval, and write the picture.

    Args:
        table: What `regret` returned.
        path: A .png, .svg or .pdf file.

    Raises:
        UsageError: It cannot be written.
    """
    found = [line for line in table.lines if line.found]
    roles = list(dict.fromkeys(line.place.role for line in found))[:_PANELS]
    down = max(1, len(roles))

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(down, 1, sharex=True, squeeze=False)[:, 0]
        for panel, role in zip(panels, roles, strict=False):
            _draw(panel, [line for line in found if line.place.role == role])
            panel.set_title(f"{role}: {_title(table)}"[:_LONGEST], loc="left")

    write_picture(path, _WIDTH, _HEIGHT * down, draw)


def _title(table: RegretTable) -> str:
    what = "best other option" if table.against == "options" else table.against
    seen = " (hindsight: in the future that came)" if table.futures is None else ""
    return f"{what} less recorded, then {table.then}{seen}"


def _draw(panel: "Axes", lines: Sequence[DecisionRegret]) -> None:
    """Draw the decisions of one role; those whose interval is above 0 in another colour."""
    panel.axhline(0, color="0.3", linewidth=0.8)
    for costs, colour, marker in ((False, COLOURS[0], "o"), (True, COLOURS[1], "D")):
        some = [line for line in lines if line.costs is costs]
        half = drawable(line.found.half if line.found else None for line in some)
        if some:
            panel.errorbar(
                [line.place.at for line in some],
                drawable(line.cost for line in some),
                yerr=[0.0 if math.isnan(each) else each for each in half],
                fmt=marker,
                markersize=4,
                linewidth=1,
                capsize=2,
                color=colour,
                label=_label(some, costs=costs),
            )
    panel.legend(loc="best", frameon=False)
    finish(panel, y="difference of mean scores", x="decision")


def _label(lines: Sequence[DecisionRegret], *, costs: bool) -> str:
    if costs:
        return "costs: its interval is above 0"
    # One future has no interval; a difference that is the same in all of several needs none.
    pairs = [line.found for line in lines if line.found]
    return "no interval: one future" if all(p.n == 1 for p in pairs) else "not shown to cost"
