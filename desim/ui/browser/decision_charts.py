"""Charts of a role's decisions: options for ECharts, one chart for the series of one unit.

Lines differ in dashes as well as in colour, so that they differ in grey, too.
"""

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from desim.show.labels import is_number, label_text
from desim.ui.history import History, Series

#: Charts on the page.
CHARTS_MAX = 12

#: Points are marked on lines of up to so many.
_MARKED_MAX = 40

#: Letters of the answers at one point.
_ANSWER = 60

_INK, _GRID = "#44525a", "#e3e8ea"

#: Colours that people with any colour vision tell apart, and the dashes of the lines.
_COLOURS = ("#0072b2", "#b34a00", "#222222", "#00795c", "#a2417f")
_DASHES: tuple[Any, ...] = ("solid", [8, 4], [2, 3], [10, 3, 2, 3], [4, 2])

#: Numbers of an axis as text, such as 1.5M; a function in the language of the page.
_COMPACT = "new Intl.NumberFormat('en-US', {notation: 'compact', maximumSignificantDigits: 5})"


def show_charts(past: History, answers: Sequence[str]) -> None:
    """Show the charts of a history, with its answers marked on the time axis.

    Args:
        past: The history.
        answers: The text of each decision's answer.
    """
    if not past.series:
        ui.label("Numbers are drawn here once they have changed.").classes("help")
        return
    marks = answer_marks(past.points, answers)
    with ui.element("div").classes("charts"):
        for together in past.charts()[:CHARTS_MAX]:
            chart = ui.echart(chart_options(together, past.axis, marks)).classes("chart")
            chart.props("role=img").props["aria-label"] = chart_text(together)


def chart_text(together: Sequence[Series]) -> str:
    """Return the content of a chart in words: each series with its last number."""
    last = [next((v for v in reversed(one.values) if v is not None), None) for one in together]
    named = zip(together, last, strict=True)
    return "Chart: " + "; ".join(f"{one.label}, last {number} {one.unit}" for one, number in named)


def answer_marks(points: Sequence[Any], answers: Sequence[str]) -> list[tuple[Any, str]]:
    """Return by point of the axis the answers that were given there, in one line."""
    by_point: dict[Any, list[str]] = {}
    for point, answer in zip(points, answers, strict=True):
        by_point.setdefault(point, []).append(answer)
    return [(point, _joined(given)) for point, given in by_point.items()]


def _joined(given: Sequence[str]) -> str:
    text = given[0] if len(given) == 1 else f"{len(given)} answers, last {given[-1]}"
    return text if len(text) <= _ANSWER else f"{text[: _ANSWER - 1]}…"


def chart_options(
    together: Sequence[Series],
    axis: Series,
    marks: Sequence[tuple[Any, str]] = (),
    title: str = "",
) -> dict[str, Any]:
    """Return the options of one chart: series of one unit over the time, with a legend.

    Args:
        together: The series.
        axis: The horizontal axis: numbers, or dates with times.
        marks: The answers by point of the axis.
        title: What is drawn, with its unit; empty for the only series, or for the unit of several.
    """
    if not title:
        title = together[0].label if len(together) == 1 else label_text(together[0].unit)
        title += f" ({together[0].unit})" * bool(len(together) == 1 and together[0].unit)
    style = {"fontSize": 13, "fontWeight": 600, "color": _INK}
    return {
        "animation": False,
        "textStyle": {"color": _INK},
        "tooltip": {"trigger": "axis", "confine": True},
        "title": {"text": title, "left": 0, "top": 0, "textStyle": style},
        "legend": {
            "show": len(together) > 1,
            "top": 20,
            "left": 0,
            "data": [one.label for one in together],
        },
        "grid": {
            "left": 4,
            "right": 16,
            "top": _legend_bottom(together),
            "bottom": 24,
            "containLabel": True,
        },
        "xAxis": _horizontal(axis),
        "yAxis": [_vertical(together[0].unit), {"show": False, "min": 0, "max": 1}],
        "series": [
            *(_chart_line(one, axis, number) for number, one in enumerate(together)),
            _answers(marks),
        ],
    }


def _legend_bottom(together: Sequence[Series]) -> int:
    """Return the pixels above the lines: a title, answers, and rows of the legend on a phone."""
    rows = 0 if len(together) == 1 else (len(together) + 1) // 2
    return 40 + 22 * rows


def _horizontal(axis: Series) -> dict[str, Any]:
    return {
        "type": "value" if all(map(is_number, axis.values)) else "time",
        "name": axis.label,
        "nameLocation": "middle",
        "nameGap": 24,
        "min": "dataMin",
        "max": "dataMax",
        "minInterval": 1,
        "splitLine": {"show": False},
        "axisLabel": {"hideOverlap": True},
    }


def _vertical(unit: str) -> dict[str, Any]:
    sign = {"dollars": "'$' + ", "%": ""}.get(unit, "")
    after = " + ' %'" if unit == "%" else ""
    return {
        "type": "value",
        "scale": True,
        "splitNumber": 3,
        "splitLine": {"lineStyle": {"color": _GRID}},
        "axisLabel": {":formatter": f"value => {sign}{_COMPACT}.format(value){after}"},
    }


def _chart_line(series: Series, axis: Series, number: int) -> dict[str, Any]:
    colour = _COLOURS[number % len(_COLOURS)]
    return {
        "type": "line",
        "name": series.label,
        "data": [list(point) for point in zip(axis.values, series.values, strict=True)],
        "showSymbol": len(series.values) <= _MARKED_MAX,
        "symbolSize": 5,
        "sampling": "lttb",
        "lineStyle": {"color": colour, "width": 2, "type": _DASHES[number % len(_DASHES)]},
        "itemStyle": {"color": colour},
    }


def _answers(marks: Sequence[tuple[Any, str]]) -> dict[str, Any]:
    """Return triangles at the top where the role decided, whose labels show on hover."""
    return {
        "type": "scatter",
        "name": "Your answers",
        "yAxisIndex": 1,
        "symbol": "triangle",
        "symbolSize": 7,
        "symbolRotate": 180,
        "symbolOffset": [0, -7],  # above lines that reach the top
        "itemStyle": {"color": _INK},
        "tooltip": {"show": False},
        "label": {"show": False, "formatter": "{b}", "position": "bottom", "color": _INK},
        "emphasis": {"label": {"show": True}},
        "data": [{"name": text, "value": [point, 1]} for point, text in marks],
    }
