"""The picture of one episode: its series over time by role or part, with the decisions marked."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from desim.core.model import Model
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.reports.elements.drawing import check_plot, write_picture
from desim.reports.elements.page import clean
from desim.reports.record.measured import EpisodeSeries, Measured, is_unchanged
from desim.reports.record.record_read import policies_text
from desim.reports.record.series_charts import Shown, draw_panel, roles_chart
from desim.show.labels import number_text

if TYPE_CHECKING:  # matplotlib is an extra
    from matplotlib.figure import Figure as Drawing
    from matplotlib.gridspec import GridSpec


#: Inches: the width and the height of a panel, the height of a role's lane, of a line of the title
#: and of the room around it.
_WIDTH, _HEIGHT, _LANE, _LINE, _AROUND = 4.4, 2.1, 0.24, 0.17, 0.33

#: Letters of the title per inch.
_LETTERS = 13

#: Panels side by side, in order of preference, and of all series of an episode.
_ACROSS, _MOST = (3, 4), 60

#: Roles with a lane each, and characters of the title.
_MOST_ROLES, _LONGEST = 20, 150


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
    all roles; with several roles a panel on top shows when each role decided.

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
    drawn = _series(episode)
    lines = [line for line in drawn.series if line.values]
    if not lines:
        raise UsageError("the episode has no series that could be drawn")
    shown = ([line for line in lines if not is_unchanged(line.values)] or lines)[:_MOST]
    across, rows = _arranged(shown)
    has_roles = 1 < len(drawn.decided) <= _MOST_ROLES
    lanes = [_LANE * len(drawn.decided) + 0.7] if has_roles else []
    heights = [*lanes, *[_HEIGHT] * len(rows)]
    title = wrap(_title(episode, lines, shown), int(_WIDTH * across * _LETTERS))

    def draw(figure: "Drawing") -> None:
        figure.suptitle("\n".join(title), x=0.01, ha="left", fontsize=10)
        grid = figure.add_gridspec(len(heights), across, height_ratios=heights)
        if has_roles:
            x, is_dated = drawn.timeline.label, drawn.timeline.is_dated
            roles_chart(figure.add_subplot(grid[0, :]), drawn.decided, x=x, is_dated=is_dated)
        _draw_rows(figure, grid, rows, int(has_roles), drawn)

    write_picture(file, _WIDTH * across, sum(heights) + _AROUND + _LINE * len(title), draw)
    return file


def _draw_rows(
    figure: "Drawing",
    grid: "GridSpec",
    rows: Sequence[Sequence[Measured]],
    first: int,
    drawn: EpisodeSeries,
) -> None:
    """Draw a panel for each series, in the rows of a grid from the first on."""
    for down, row in enumerate(rows, first):
        for place, line in enumerate(row):
            head = f"{line.group}: {line.title}" if line.group else line.title
            panel = figure.add_subplot(grid[down, place])
            draw_panel(panel, [Shown("", 0, line, drawn.decided)], head, drawn.span)


def _arranged(shown: Sequence[Measured]) -> tuple[int, Sequence[Sequence[Measured]]]:
    """Return how many panels stand side by side, and the rows of series.

    As few places as possible are empty; of two numbers with equally many the smaller one is taken.
    """
    return min(
        ((across, _rows(shown, across)) for across in _ACROSS if across <= len(shown)),
        key=lambda found: found[0] * len(found[1]),
        default=(len(shown), [shown]),
    )


def _series(episode: Episode) -> EpisodeSeries:
    inside = episode.inside
    if inside is None:
        raise UsageError(
            "the episode was not played in this process, so it has no series; "
            "desim.replay(FILE, series=True) plays a record again"
        )
    return EpisodeSeries.of(inside.model, *inside.series, inside.points, episode.steps)


def _rows(lines: Sequence[Measured], across: int) -> list[list[Measured]]:
    """Return series in rows; each group begins a row where it fills more than half of one."""
    groups: dict[str, list[Measured]] = {}
    for line in lines:
        groups.setdefault(line.group, []).append(line)
    rows: list[list[Measured]] = [[]]
    for mine in groups.values():
        if rows[-1] and len(rows[-1]) + len(mine) > across:
            rows.append([])
        for line in mine:
            if len(rows[-1]) == across:
                rows.append([])
            rows[-1].append(line)
    return rows


def _title(episode: Episode, lines: Sequence[Measured], shown: Sequence[Measured]) -> str:
    head = episode.header
    name = f"{head.model}/{head.preset}" if head.preset else head.model
    text = f"{name}, seed {head.seed}: {policies_text(head.policies)}"
    if episode.result is not None:
        text += f"; score {number_text(episode.result.score)}"
    still = sum(is_unchanged(line.values) for line in lines if line not in shown)
    more = len(lines) - len(shown) - still
    out = [f"{still} series that never change"] if still else []
    out += [f"{more} further series"] if more else []
    return clean(text, _LONGEST) + (f" (not drawn: {', '.join(out)})" if out else "")
