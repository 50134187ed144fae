"""The charts of reports: means with intervals, lines over levels, shares, fans; each as a picture.

Every function takes plain numbers (None and NaN leave gaps) and returns a data URI.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.reports.drawing import (
    COLOURS,
    DASHES,
    HATCHES,
    MARKERS,
    drawable,
    drawn,
    finish,
    name_rows,
    short,
)
from desim.statistics.intervals import Interval

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


#: Inches: the width of a page, the height of a line of dots, and of the room around them.
_WIDTH, _LINE, _AROUND = 8.2, 0.27, 0.95

#: Panels side by side.
_ACROSS = 3

#: Inches around and between the panels of fans: their numbers, labels and titles.
_LEFT, _BELOW, _ABOVE, _BETWEEN = 0.95, 0.5, 0.25, 0.42

#: Most characters of a level's name below a panel, and most that fit side by side.
_TICK, _FLAT = 20, 6

#: Most values of a parameter that are all written at the axis.
_MOST_TICKS = 8


@frozen
class Curve:
    """Means over levels.

    Attributes:
        label: The label in the legend; empty without a legend.
        xs: One number for each mean.
        means: With their intervals; None leaves a gap.
    """

    label: str
    xs: Sequence[float]
    means: Sequence[Interval | None]


@frozen
class Panel:
    """Curves over one axis.

    Attributes:
        title: The title of the panel.
        x: The label of the axis.
        curves: Curves over the same levels, at least one.
        names: The names of the levels 0, 1, ...; empty if levels are numbers.
        legend: The head of the legend, which only a single panel has.
    """

    title: str
    x: str
    curves: Sequence[Curve]
    names: Sequence[str] = ()
    legend: str = ""


@frozen
class Fan:
    """Quantiles period by period.

    Attributes:
        label: The label of the group.
        low: The 5 % quantile; may be a numpy array.
        median: The median.
        high: The 95 % quantile.
    """

    label: str
    low: Any
    median: Any
    high: Any


def dots(
    labels: Sequence[str],
    means: Sequence[Interval | None],
    x: str,
    *,
    zero: bool = False,
    beside: Mapping[str, Sequence[float | None]] | None = None,
) -> str:
    """Draw a mean with its interval for each label, the first on top.

    Args:
        labels: One for each mean.
        means: None leaves the line empty.
        x: The label of the axis.
        zero: Whether a line marks 0.
        beside: Further numbers, such as published ones, by their name in the legend.
    """

    def draw(figure: "Drawing") -> None:
        panel = figure.subplots()
        places = list(range(len(labels)))
        _bars(panel, places, means, across=True, fmt="o", color=COLOURS[0])
        for number, (name, values) in enumerate((beside or {}).items(), 1):
            panel.plot(
                drawable(values),
                places,
                linestyle="none",
                marker=MARKERS[number],
                color=COLOURS[number],
                markerfacecolor="white",
                label=short(name),
            )
        if zero:
            panel.axvline(0, color="0.3", linewidth=0.9)
        name_rows(panel, labels)
        finish(panel, x=x, named="y")
        if beside:
            panel.legend(frameon=False)

    return drawn(_WIDTH, _AROUND + _LINE * len(labels), draw)


def lines(panels: Sequence[Panel], y: str) -> str:
    """Draw curves with intervals in panels side by side that share their vertical axis."""

    def draw(figure: "Drawing") -> None:
        across = min(len(panels), _ACROSS)
        grid = figure.subplots(math.ceil(len(panels) / across), across, squeeze=False, sharey=True)
        for place, axes in enumerate(grid.flat):
            if place >= len(panels):
                axes.set_visible(False)
                continue
            _curves(axes, panels[place])
            # Only the panels at the left have numbers beside them.
            given, named = panels[place], "x" if panels[place].names else ""
            finish(axes, given.title, given.x, y if place % across == 0 else "", named)
        if len(panels) == 1 and panels[0].curves[0].label:
            title = panels[0].legend or None
            figure.legend(loc="outside right upper", frameon=False, title=title)

    down = math.ceil(len(panels) / _ACROSS)
    return drawn(_WIDTH, 3.5 * down if len(panels) <= _ACROSS else 2.9 * down, draw)


def shares(labels: Sequence[str], parts: Mapping[str, Sequence[float]], x: str) -> str:
    """Draw bars of parts that add up to a whole for each label."""

    def draw(figure: "Drawing") -> None:
        panel = figure.subplots()
        left = [0.0] * len(labels)
        for number, (name, values) in enumerate(parts.items()):
            panel.barh(
                range(len(labels)),
                values,
                left=left,
                height=0.7,
                color=COLOURS[number % len(COLOURS)],
                alpha=0.55,
                hatch=HATCHES[number % len(HATCHES)],
                edgecolor="black",
                linewidth=0.5,
                label=short(name),
            )
            left = [a + b for a, b in zip(left, values, strict=True)]
        name_rows(panel, labels)
        panel.set_xlim(0, max(left, default=1) or 1)
        finish(panel, x=x, named="y")
        panel.grid(visible=False, axis="y")
        figure.legend(loc="outside right upper", frameon=False)

    return drawn(_WIDTH, _AROUND + max(_LINE * len(labels), 0.17 * len(parts)), draw)


def fans(
    each: Sequence[Fan],
    xs: Sequence[float],
    x: str,
    y: str,
    limits: tuple[float, float] | None = None,
) -> str:
    """Draw the median and the band from 5 to 95 % of each group, in panels with the same axes.

    Args:
        each: One for each panel.
        xs: The places of the values.
        x: The label of the axis.
        y: The label at the left.
        limits: Values that the vertical axis includes, so that several figures share a scale.
    """

    def draw(figure: "Drawing") -> None:
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        figure.subplots_adjust(
            left=_LEFT / _WIDTH,
            right=0.995,
            bottom=_BELOW / height,
            top=1 - _ABOVE / height,
            wspace=0.06,
            hspace=_BETWEEN * down / (height - _BELOW - _ABOVE - _BETWEEN * (down - 1)),
        )
        for place, panel in enumerate(grid.flat):
            if place >= len(each):
                panel.set_visible(False)
                continue
            fan = each[place]
            low, high, median = map(drawable, (fan.low, fan.high, fan.median))
            panel.fill_between(xs, low, high, color="0.82", linewidth=0)
            for edge in (low, high):
                panel.plot(xs, edge, color="0.45", linewidth=0.7, linestyle="--")
            panel.plot(xs, median, color=COLOURS[0], linewidth=1.5)
            if limits:
                panel.update_datalim([(xs[0], value) for value in drawable(limits)])
                panel.autoscale_view()
            bottom = place >= len(each) - across
            finish(panel, fan.label, x if bottom else "", y if place % across == 0 else "")
            panel.tick_params(labelbottom=bottom)

    # A model has many series, so these panels have fixed places and are not fitted.
    across = min(len(each), _ACROSS)
    down = math.ceil(len(each) / across)
    height = _BELOW + _ABOVE + (1.9 if down == 1 else 1.2) * down + _BETWEEN * (down - 1)
    return drawn(_WIDTH, height, draw, fitted=False)


def _curves(panel: "Axes", given: Panel) -> None:
    for number, curve in enumerate(given.curves):
        _bars(
            panel,
            curve.xs,
            curve.means,
            fmt=MARKERS[number % len(MARKERS)],
            color=COLOURS[number % len(COLOURS)],
            # Names have no values in between, but lines show interactions of levels.
            linestyle="none" if given.names and not curve.label else DASHES[number % len(DASHES)],
            markerfacecolor="white",
            linewidth=1.3,
            label=short(curve.label),
        )
    levels = sorted({x for curve in given.curves for x in curve.xs})
    if not given.names and len(levels) <= _MOST_TICKS:
        panel.set_xticks(levels)
    if given.names:
        upright = max(map(len, given.names)) > _FLAT
        names = [short(name)[:_TICK] for name in given.names]
        panel.set_xticks(range(len(names)), names, rotation=30 if upright else 0)
    # Room for the caps of the outermost intervals.
    panel.margins(x=0.08)


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
