"""The picture of `desim regret`: what each decision cost, over the episode, by role."""

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from desim.errors import UsageError
from desim.reports.drawing import COLOURS, drawable, finish, pictured
from desim.sweeps.alternatives import action_text
from desim.sweeps.regret_table import DecisionRegret, RegretTable
from desim.whole_file import write_whole

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check_plot", "write_plot"]

#: Inches: the width of a picture, and the height of a role's panel.
_WIDTH, _HEIGHT = 9.0, 3.6

#: Roles that are drawn.
_PANELS = 12

#: Decisions of a role that are named below its panel, and characters of a line of text.
_NAMED, _LONGEST = 3, 120

_FORMS = (".svg", ".png")


def check_plot(path: Path) -> None:
    """Check before anything is played that a picture can be drawn and written.

    Raises:
        UsageError: It is no new .svg or .png file in a folder that exists, or matplotlib is not
            installed.
    """
    if path.suffix.lower() not in _FORMS:
        raise UsageError(f"--plot {path} is no .svg or .png file")
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    if os.path.lexists(path):
        raise UsageError(f"{path} exists; choose another name (--plot)")
    try:
        import matplotlib  # noqa: F401, ICN001 (found now rather than after minutes of playing)
    except ImportError as fault:
        raise UsageError(
            f"--plot needs {fault.name}; install the extra, as in: pip install 'desim[report]'"
        ) from None


def write_plot(table: RegretTable, path: Path) -> None:
    """Draw the decisions of a table, each with its interval, and write the picture.

    Args:
        table: What `regret` returned.
        path: A .svg or .png file.

    Raises:
        UsageError: It cannot be written.
    """
    roles = list(dict.fromkeys(line.place.role for line in table.lines if line.found))[:_PANELS]

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(max(1, len(roles)), 1, sharex=True, squeeze=False)[:, 0]
        for panel, role in zip(panels, roles, strict=False):
            lines = [line for line in table.lines if line.place.role == role and line.found]
            _panel(panel, lines, f"{role}: {_title(table)}")

    form = path.suffix.lower().removeprefix(".")
    height = _HEIGHT * max(1, len(roles))
    write_whole(path, [pictured(_WIDTH, height, draw, form=form)])


def _title(table: RegretTable) -> str:
    what = "best other option" if table.against == "options" else table.against
    return f"{what} less recorded, then {table.then}"


def _panel(panel: "Axes", lines: Sequence[DecisionRegret], title: str) -> None:
    """Draw the decisions of one role; those whose interval is above 0 in another colour."""
    panel.axhline(0, color="0.3", linewidth=0.8)
    for costs, colour, marker in ((False, COLOURS[0], "o"), (True, COLOURS[1], "D")):
        some = [line for line in lines if line.costs is costs]
        if not some:
            continue
        at = [line.place.at for line in some]
        mean = drawable(line.cost for line in some)
        half = drawable(line.found.paired.half if line.found else None for line in some)
        panel.errorbar(
            at,
            mean,
            yerr=[0.0 if math.isnan(each) else each for each in half],
            fmt=marker,
            markersize=4,
            linewidth=1,
            capsize=2,
            color=colour,
            label="costs: its interval is above 0" if costs else "not shown to cost",
        )
    if lines:
        panel.legend(loc="best", frameon=False)
    dearest = sorted((line for line in lines if line.costs), key=lambda line: -line.cost)[:_NAMED]
    finish(panel, y="difference of mean scores", x="decision")
    # Not by `finish`, which cuts a label to the length that fits beside an axis.
    panel.set_title(title[:_LONGEST], loc="left")
    panel.set_xlabel("\n".join(["decision", *_named(panel, dearest)]), loc="left")


def _named(panel: "Axes", dearest: Sequence[DecisionRegret]) -> Iterator[str]:
    """Number the dearest decisions in the panel, and yield what they were."""
    for rank, line in enumerate(dearest, 1):
        high = line.found.paired.high if line.found else None
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
