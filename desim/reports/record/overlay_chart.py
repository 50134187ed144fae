"""The chart of series on one scale, each line named at its end, over a thick grey base line."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from desim.reports.elements.drawing import COLOURS, DASHES, MARKERS, drawable, drawn, finish, short
from desim.reports.elements.page import Figure, cleaned
from desim.reports.record.measured import EXTREMES, extremes
from desim.reports.record.overlays import OverlaidLine, OverlaidSeries, values_of
from desim.reports.record.series_charts import set_limits, time_axis

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


#: Inches: the size of a chart that is as wide as a page, and the least distance of two names.
_WIDTH, HEIGHT, _NAMES = 8.2, 3.0, 0.17

#: The share of a chart's height that its panel fills, roughly.
_FILLED = 0.8

#: Markers on a line, so that lines are distinct in a grey print.
_MARKERS = 12

#: Colour and width of the base line.
_BASE, _THICK = "0.72", 4.5


def overlay_figure(
    given: OverlaidSeries, height: float = HEIGHT, values: Sequence[float] = ()
) -> Figure:
    """Return the chart with its title and its text.

    Args:
        given: The lines.
        height: In inches; the width is that of a page.
        values: Further values that the vertical axis includes, so that charts share a scale.
    """

    def draw(figure: "Drawing") -> None:
        panel = figure.subplots()
        for line in given.lines:
            _draw_line(panel, line)
        set_limits(panel, [*values_of(given), *values])
        finish(panel, "", given.x, given.unit, "x")
        time_axis(panel, is_dated=given.is_dated)
        _name_lines(panel, given, _NAMES / (height * _FILLED))

    names = ", ".join(line.label for line in given.lines)
    alt = f"{given.title}, over {given.x or 'time'}: {names}."
    table = cleaned(
        ["line", *EXTREMES], ([line.label, *extremes(line.values)] for line in given.lines)
    )
    return Figure(given.title, drawn(_WIDTH, height, draw), alt, table, given.text)


def _draw_line(panel: "Axes", line: OverlaidLine) -> None:
    if line.number is None:
        panel.plot(line.places, drawable(line.values), color=_BASE, linewidth=_THICK, zorder=1)
        return
    panel.plot(
        line.places,
        drawable(line.values),
        color=COLOURS[line.number % len(COLOURS)],
        linestyle=DASHES[line.number % len(DASHES)],
        linewidth=1.6,
        marker=MARKERS[line.number % len(MARKERS)],
        # Not at the same places on all lines, where they would hide each other.
        markevery=(line.number, max(1, len(line.values) // _MARKERS)),
        markersize=4,
        markerfacecolor="white",
    )


def _name_lines(panel: "Axes", given: OverlaidSeries, gap: float) -> None:
    """Write the name of each line, with its marker, at its end; *gap* is a share of the height."""
    low, high = panel.get_ylim()
    ends = [((_last(line) - low) / (high - low), line) for line in given.lines]
    ends.sort(key=lambda end: end[0])
    for place, (_, line) in zip(_spread([at for at, _ in ends], gap), ends, strict=True):
        number = line.number
        colour = "0.45" if number is None else COLOURS[number % len(COLOURS)]
        panel.plot(
            [1.025],
            [place],
            marker="s" if number is None else MARKERS[number % len(MARKERS)],
            color=_BASE if number is None else colour,
            markerfacecolor=_BASE if number is None else "white",
            markersize=5,
            transform=panel.transAxes,
            clip_on=False,
        )
        panel.text(
            1.045, place, short(line.label), color=colour, va="center", transform=panel.transAxes
        )


def _last(line: OverlaidLine) -> float:
    return next((v for v in reversed(drawable(line.values)) if not math.isnan(v)), 0.0)


def _spread(places: Sequence[float], gap: float) -> list[float]:
    """Return increasing places that are *gap* apart, as near as possible to those given.

    >>> _spread([0.5, 0.5, 0.5], 0.1)
    [0.4, 0.5, 0.6]
    """
    groups: list[list[float]] = []  # of each: the place of its middle, and its size
    for place in places:
        groups.append([place, 1])
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], gap):
            (middle, size), (other, more) = groups[-2], groups.pop()
            groups[-1] = [(middle * size + other * more) / (size + more), size + more]
    return [
        round(middle + (at - (size - 1) / 2) * gap, 6)
        for middle, size in groups
        for at in range(int(size))
    ]


def _overlap(lower: Sequence[float], upper: Sequence[float], gap: float) -> bool:
    return upper[0] - lower[0] < gap * (lower[1] + upper[1]) / 2
