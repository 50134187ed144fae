"""The charts of reports: means with intervals, lines over numbers, fans; each as a picture.

Every function takes plain numbers (None and NaN leave gaps) and returns a data URI.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from desim.reports.drawing import (
    COLOURS,
    DASHES,
    MARKERS,
    drawable,
    drawn,
    finish,
    short,
)
from desim.statistics.intervals import Interval

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


#: Inches: the width of a page, the height of a line of dots, and of the room around them.
_WIDTH, _LINE, _AROUND = 4.8, 0.27, 0.95

#: Panels of fans side by side, and inches below and above all of them.
_ACROSS, _BELOW, _ABOVE = 2, 0.5, 0.3

#: Most values of a parameter that are all written at the axis.
_MOST_TICKS = 8


#: Means with their intervals over numbers; None leaves a gap.
Curve = Mapping[float, Interval | None]

#: Three quantiles period by period, 5 %, the median and 95 %; may be numpy arrays.
Fan = Sequence[Any]


def dots(
    labels: Sequence[str],
    means: Sequence[Interval | None],
    x: str,
    published: Sequence[float | None] = (),
) -> str:
    """Draw a mean with its interval for each label, the first on top.

    Args:
        labels: One for each mean.
        means: None leaves the line empty.
        x: The label of the axis.
        published: What a paper prints for each label; empty if it prints none of them.
    """

    def draw(figure: "Drawing") -> None:
        panel, places = figure.subplots(), list(range(len(labels)))
        _bars(panel, places, means, across=True, fmt="o", color=COLOURS[0])
        if published:
            panel.plot(
                drawable(published),
                places,
                linestyle="none",
                marker=MARKERS[1],
                color=COLOURS[1],
                markerfacecolor="white",
                label="published",
            )
            panel.legend(frameon=False)
        panel.set_yticks(places, [short(label) for label in labels])
        panel.set_ylim(len(labels) - 0.4, -0.6)
        finish(panel, x=x, named="y")

    return drawn(_WIDTH, _AROUND + _LINE * len(labels), draw)


def lines(curves: Mapping[str, Curve], x: str, y: str) -> str:
    """Draw curves with intervals over the same axis, with a legend of their names below."""

    def draw(figure: "Drawing") -> None:
        panel = figure.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            _bars(
                panel,
                [*curve],
                [*curve.values()],
                fmt=MARKERS[number % len(MARKERS)],
                color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[number % len(DASHES)],
                markerfacecolor="white",
                linewidth=1.3,
                label=short(name),
            )
        levels = sorted({x for curve in curves.values() for x in curve})
        if len(levels) <= _MOST_TICKS:
            panel.set_xticks(levels)
        # Room for the caps of the outermost intervals.
        panel.margins(x=0.08)
        finish(panel, x=x, y=y)
        figure.legend(loc="outside lower left", frameon=False)

    return drawn(_WIDTH, 3.0 + 0.18 * len(curves), draw)


def fans(each: Mapping[str, Fan], step: int, x: str) -> str:
    """Draw the median and the band from 5 to 95 % of each group, in panels with the same axes.

    Args:
        each: One for each panel, by the panel's title.
        step: The periods from one value to the next; the first value is that of period 1.
        x: The label of the axis.
    """
    across = min(len(each), _ACROSS)
    down = math.ceil(len(each) / across)

    def draw(figure: "Drawing") -> None:
        # A sweep has many series: fitting their panels takes as long as drawing them.
        figure.set_layout_engine(None)
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        bottom, top = _BELOW / height, 1 - _ABOVE / height
        figure.subplots_adjust(0.17, bottom, 0.99, top, wspace=0.07, hspace=0.3)
        for panel in grid.flat[len(each) :]:
            panel.set_visible(False)
        for place, (panel, (name, fan)) in enumerate(zip(grid.flat, each.items(), strict=False)):
            low, median, high = map(drawable, fan)
            xs = [1 + step * number for number in range(len(median))]
            panel.fill_between(xs, low, high, color="0.82", linewidth=0)
            for edge in (low, high):
                panel.plot(xs, edge, color="0.45", linewidth=0.7, linestyle="--")
            panel.plot(xs, median, color=COLOURS[0], linewidth=1.5)
            is_last = place >= len(each) - across
            finish(panel, name, x if is_last else "")
            panel.tick_params(labelbottom=is_last)

    height = _BELOW + _ABOVE + (1.7 if down == 1 else 1.4) * down
    return drawn(_WIDTH, height, draw)


def _bars(
    panel: "Axes",
    places: Sequence[Any],
    means: Sequence[Interval | None],
    *,
    across: bool = False,
    **shown: Any,
) -> None:
    """Draw means with their intervals; a mean without one has no bar."""
    middle = drawable(one.mean if one else None for one in means)
    below = drawable(one.mean - one.low if one and one.low is not None else 0 for one in means)
    above = drawable(one.high - one.mean if one and one.high is not None else 0 for one in means)
    # A bar that cannot be drawn must not remove the mean; rounding may make one negative.
    ends = [[0.0 if e != e else max(0.0, e) for e in end] for end in (below, above)]  # noqa: PLR0124 (NaN)
    style = {"capsize": 3, "markersize": 5, **shown}
    if across:
        panel.errorbar(middle, places, xerr=ends, **style)
    else:
        panel.errorbar(places, middle, yerr=ends, **style)
