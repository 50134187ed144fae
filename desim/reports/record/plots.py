"""The plots of episodes: a panel for each series, with the decisions marked below its values."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from desim.core.model import Model
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.reports.drawing import (
    COLOURS,
    DASHES,
    MARKERS,
    check_plot,
    drawable,
    drawn,
    finish,
    write_picture,
)
from desim.reports.page import clean
from desim.reports.record.record_read import policies_text
from desim.reports.record.series import EpisodeSeries, Line, is_unchanged
from desim.show.labels import number_text

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


#: Inches: the width and the height of a panel, and a line of its legend or of a picture's title.
_WIDTH, _HEIGHT, _TEXT = 4.4, 2.3, 0.17

#: Panels of a picture side by side and in all, letters of its title per inch and in all.
_ACROSS, _MOST, _LETTERS, _LONGEST = 3, 60, 13, 150

#: Most values of a line with a marker for each, and characters of a record's name in a legend.
_MOST_MARKERS, _NAME = 40, 60

#: Shares of an axis: left free at each end, and the height of the marks.
_ROOM, _SHARE = 0.03, 0.06

#: The lowest value as a share of the highest one, above which an axis does not begin at 0.
_FAR = 0.6

#: The first and the last place on an axis.
Span = tuple[float, float]


def panel_chart(
    lines: Mapping[str, Line], marks: Sequence[float] = (), span: Span | None = None
) -> str:
    """Draw one series of one or several records, with a legend below if they have names.

    The arguments are those of `draw_panel`; a data URI is returned.
    """

    def draw(figure: "Drawing") -> None:
        draw_panel(figure.subplots(), lines, marks, span)
        if any(lines):
            figure.legend(loc="outside lower left", frameon=False, ncols=1, handlelength=3.5)

    return drawn(_WIDTH, _HEIGHT + _TEXT * sum(map(bool, lines)), draw)


def draw_panel(
    panel: "Axes",
    lines: Mapping[str, Line],
    marks: Sequence[float] = (),
    span: Span | None = None,
    title: str = "",
) -> None:
    """Draw one series of one or several records of the same world.

    Args:
        panel: The panel to draw on.
        lines: At least one, by the name of its record in a legend; empty without a legend.
        marks: The places of decisions.
        span: The first and the last place of the episode's timeline, so that all its panels have
            the same axis.
        title: The title of the panel; empty if a text above it has title and unit.
    """
    first = next(iter(lines.values()))
    for number, (name, line) in enumerate(lines.items()):
        few = len(line.places) <= _MOST_MARKERS and not line.is_held
        panel.plot(
            line.places,
            drawable(line.values),
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=1.3,
            # A figure of a period is drawn at its end, and a point holds until the next one.
            drawstyle="steps-post" if line.is_held else "default",
            marker=MARKERS[number % len(MARKERS)] if few else None,
            markersize=3.5,
            markerfacecolor="white",
            label=name[:_NAME] or None,
        )
    _set_limits(panel, [value for line in lines.values() for value in line.values])
    if marks and first.in_time:
        _mark(panel, marks)
    if span and first.in_time:
        room = (span[1] - span[0]) * _ROOM
        panel.set_xlim(span[0] - room, span[1] + room)
    finish(panel, title, first.x, first.unit if title else "", "x")
    _time_axis(panel, is_dated=first.is_dated)


def _time_axis(panel: "Axes", *, is_dated: bool) -> None:
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


def _set_limits(panel: "Axes", values: Sequence[float]) -> None:
    """Set the vertical limits: include 0 if it is near, and use whole numbers for counts."""
    from matplotlib.ticker import MaxNLocator

    known = [value for value in drawable(values) if not math.isnan(value)]
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


def _mark(panel: "Axes", places: Sequence[float]) -> None:
    """Draw a short vertical line at each place, below the values."""
    low, high = panel.get_ylim()
    panel.set_ylim(low - (high - low) * _SHARE / (1 - _SHARE), high)
    across = panel.get_xaxis_transform()
    panel.vlines(places, 0.008, _SHARE - 0.012, transform=across, color="0.35", linewidth=0.8)


def check_episode_plot(model: Model[Any], path: str | Path) -> None:
    """Check before an episode is played that its plot can be drawn and written.

    Raises:
        UsageError: The model declares no series, matplotlib is not installed, or the path is not a
            new .png, .svg or .pdf file.
    """
    check_plot(Path(path))
    if model.series is None and not model.figures.series:
        raise UsageError(
            f"--plot draws series, and {type(model).__name__} declares none: it has neither "
            "series(state) nor figures.series"
        )


def plot_episode(episode: Episode, path: str | Path) -> Path:
    """Draw the series of an episode, with its decisions marked, and write the picture.

    Each series has a panel: time below, in dates or in the periods of the model, and the unit at
    the left. Short lines at the bottom mark the decisions of the series' role or part, or else of
    all roles.

    Args:
        episode: An episode from `play(..., series=True)` or `replay(..., series=True)`.
        path: A new .png, .svg or .pdf file.

    Returns:
        The file.

    Raises:
        UsageError: The episode has no series, matplotlib is not installed, or the file exists or
            cannot be written.
    """
    file = Path(path)
    check_plot(file)
    found = _series(episode)
    lines = [line for line in found.lines if line.values]
    if not lines:
        raise UsageError("the episode has no series that could be drawn")
    shown = ([line for line in lines if not is_unchanged(line.values)] or lines)[:_MOST]
    across = min(_ACROSS, len(shown))
    down = math.ceil(len(shown) / across)
    title = wrap(_title(episode, len(lines) - len(shown)), int(_WIDTH * across * _LETTERS))

    def draw(figure: "Drawing") -> None:
        figure.suptitle("\n".join(title), x=0.01, ha="left", fontsize=10)
        for at, line in enumerate(shown, 1):
            head = f"{line.group}: {line.title}" if line.group else line.title
            panel, marks = figure.add_subplot(down, across, at), found.marks(line.group)
            draw_panel(panel, {"": line}, marks, found.span, head)

    write_picture(file, _WIDTH * across, _HEIGHT * down + _TEXT * (len(title) + 2), draw)
    return file


def _series(episode: Episode) -> EpisodeSeries:
    inside = episode.inside
    if inside is None:
        raise UsageError(
            "the episode was not played in this process, so it has no series; "
            "desim.replay(FILE, series=True) plays a record again"
        )
    return EpisodeSeries.of(inside.model, *inside.series, inside.points, episode.steps)


def _title(episode: Episode, left_out: int) -> str:
    head = episode.header
    name = f"{head.model}/{head.preset}" if head.preset else head.model
    text = f"{name}, seed {head.seed}: {policies_text(head.policies)}"
    if episode.result is not None:
        text += f"; score {number_text(episode.result.score)}"
    out = f" (not drawn: {left_out} series that never change or are too many)" if left_out else ""
    return clean(text, _LONGEST) + out
