"""The plots of an episode: its series with decisions marked, and the times of decisions by role."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from desim.reports.elements.drawing import (
    COLOURS,
    DASHES,
    MARKERS,
    drawable,
    drawn,
    finish,
    name_rows,
)
from desim.reports.record.measured import Measured, marks
from desim.show.labels import number_text

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


#: Inches: the width of a panel on a page, its height without a legend, a line of the legend.
_WIDTH, _HEIGHT, _LINE = 4.6, 2.35, 0.17

#: Inches: the height of a role's lane, and of the room around the lanes.
_LANE, _AROUND = 0.24, 0.55

#: Most values of a line with a marker for each.
_MOST_MARKERS = 40

#: Most records whose decisions are marked in one panel, and the share of its height for each.
MOST_MARKED, _SHARE = 4, 0.06

#: Most characters of a record's name in a legend, which fit a panel.
_NAME = 60

#: The share of the axis that is left free at each end.
_ROOM = 0.03

#: The lowest value as a share of the highest one, above which an axis does not begin at 0.
_FAR = 0.6

#: The first and the last place on an axis.
Span = tuple[float, float]


@frozen
class Shown:
    """The line of one record in a panel.

    Attributes:
        label: The label in the legend; empty without a legend.
        number: The number of the record, from 0, which sets its colour and dashes.
        series: The series that is drawn.
        decided: The places of each role's decisions.
    """

    label: str
    number: int
    series: Measured
    decided: Mapping[str, Sequence[float]]


def panel_chart(lines: Sequence[Shown], span: Span | None = None) -> str:
    """Draw one series of one or several records, with a legend below if there are several.

    The arguments are those of `draw_panel`.
    """

    def draw(figure: "Drawing") -> None:
        panel = figure.subplots()
        draw_panel(panel, lines, span=span)
        if lines[0].label:
            figure.legend(loc="outside lower left", frameon=False, ncols=1, handlelength=3.5)

    return drawn(_WIDTH, _HEIGHT + _LINE * sum(bool(line.label) for line in lines), draw)


def draw_panel(
    panel: "Axes", lines: Sequence[Shown], title: str = "", span: Span | None = None
) -> None:
    """Draw one series of one or several records of the same world.

    Args:
        panel: The panel to draw on.
        lines: At least one.
        title: The title of the panel; empty if a text above it is its title.
        span: The first and the last place of the episode's timeline, so that all its panels have
            the same axis.
    """
    first = lines[0].series
    for line in lines:
        _draw_line(panel, line)
    set_limits(panel, [value for line in lines for value in line.series.values])
    marked = [line for line in lines if line.series.in_time]
    if len(marked) <= MOST_MARKED:
        _marks(panel, marked)
    if span and first.in_time:
        room = (span[1] - span[0]) * _ROOM
        panel.set_xlim(span[0] - room, span[1] + room)
    finish(panel, title, first.x, first.unit, "x")
    time_axis(panel, is_dated=first.is_dated)


def time_axis(panel: "Axes", *, is_dated: bool) -> None:
    """Set dates or whole numbers below a panel."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if is_dated:
        locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        panel.xaxis.set_major_locator(locator)
        panel.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
        return
    panel.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))


def _draw_line(panel: "Axes", line: Shown) -> None:
    series, at = line.series, line.number
    few = len(series.places) <= _MOST_MARKERS and not series.is_held
    panel.plot(
        series.places,
        drawable(series.values),
        color=COLOURS[at % len(COLOURS)],
        linestyle=DASHES[at % len(DASHES)],
        linewidth=1.3,
        # A figure of a period is drawn at its end, and a point holds until the next one.
        drawstyle="steps-post" if series.is_held else "default",
        marker=MARKERS[at % len(MARKERS)] if few else None,
        markersize=3.5,
        markerfacecolor="white",
        label=line.label[:_NAME] or None,
    )


def set_limits(panel: "Axes", values: Sequence[float]) -> None:
    """Set the vertical limits: include 0 if it is near, and use whole numbers for counts."""
    from matplotlib.ticker import MaxNLocator

    known = [value for value in drawable(values) if value == value]  # noqa: PLR0124 (NaN)
    low, high = min(known, default=0.0), max(known, default=0.0)
    whole = all(value.is_integer() for value in known)
    # With 0, a line far from it would be flat; without 0, a small change would look large.
    if 0 <= low <= _FAR * high or low == high > 0:
        low = 0.0
    if low * _FAR <= high <= 0 or low == high < 0:
        high = 0.0
    if low == high:
        high = 1.0
    if low < 0 < high:
        panel.axhline(0, color="0.3", linewidth=0.8)
    above = (high - low) * _SHARE
    panel.set_ylim(low - (above if low else 0), high + above)
    panel.yaxis.set_major_locator(MaxNLocator(5, integer=whole, steps=[1, 2, 2.5, 5, 10]))


def _marks(panel: "Axes", lines: Sequence[Shown]) -> None:
    """Draw a short vertical line for each decision, in a lane of each record below its values."""
    found = [(line, marks(line.series.group, line.decided)) for line in lines]
    found = [(line, places) for line, places in found if places]
    low, high = panel.get_ylim()
    room = len(found) * _SHARE
    panel.set_ylim(low - (high - low) * room / (1 - room) if found else low, high)
    for lane, (line, places) in enumerate(reversed(found)):
        bottom = lane * _SHARE
        panel.vlines(
            places,
            bottom + 0.008,
            bottom + _SHARE - 0.012,
            transform=panel.get_xaxis_transform(),
            color=COLOURS[line.number % len(COLOURS)] if len(found) > 1 else "0.35",
            linewidth=0.8,
        )


def decided_chart(decided: Mapping[str, Sequence[float]], *, x: str, is_dated: bool) -> str:
    """Draw the times of each role's decisions, with a lane for each role."""

    def draw(figure: "Drawing") -> None:
        roles_chart(figure.subplots(), decided, x=x, is_dated=is_dated)

    return drawn(_WIDTH * 1.8, _AROUND + _LANE * len(decided), draw)


def roles_chart(
    panel: "Axes", decided: Mapping[str, Sequence[float]], *, x: str, is_dated: bool
) -> None:
    """Draw the times of each role's decisions, with a lane for each role, the first on top."""
    for lane, (role, places) in enumerate(decided.items()):
        at = marks(role, {role: places})
        panel.vlines(at, lane - 0.35, lane + 0.35, color=COLOURS[0], linewidth=0.9)
    name_rows(panel, list(decided))
    finish(panel, "", x, "", "xy")
    panel.grid(visible=False, axis="y")
    time_axis(panel, is_dated=is_dated)
