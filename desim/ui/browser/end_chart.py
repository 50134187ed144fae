"""The chart at the end of a game: the person's course over those of two rules."""

from collections.abc import Sequence
from typing import Any

from desim.ui.ending.trails import Trail

_INK, _GRID = "#44525a", "#e3e8ea"

#: Pixels: the height of the title, of a line of the legend, and of the gap below it.
_TITLE, _LEGEND_LINE, _GAP = 32, 24, 14

#: Colour, dashes and width of the lines in their order, which differ in grey as well.
_STYLES = (
    ("#00796b", "solid", 3),
    ("#0072B2", "dashed", 2),
    ("#D55E00", "dotted", 2),
)


def end_chart(title: str, period: str, courses: Sequence[tuple[str, Trail]]) -> dict[str, Any]:
    """Return the options of the chart.

    Args:
        title: What is drawn, with its unit.
        period: The name of the periods.
        courses: The lines by name, the person's first.
    """
    most = max(len(trail.values) for _, trail in courses)
    return {
        "animation": False,
        "textStyle": {"color": _INK},
        "aria": {"enabled": False},
        "tooltip": {"trigger": "axis", "confine": True},
        "title": {"text": title, "left": 0, "textStyle": {"fontSize": 14, "color": _INK}},
        "legend": {
            "top": _TITLE,
            "left": 0,
            "orient": "vertical",
            "itemWidth": 40,
            "textStyle": {"color": _INK},
        },
        "grid": {
            "left": 6,
            "right": 18,
            "top": _TITLE + _LEGEND_LINE * len(courses) + _GAP,
            "bottom": 26,
            "containLabel": True,
        },
        "xAxis": {
            "type": "category",
            "data": list(range(1, most + 1)),
            "name": period,
            "nameLocation": "middle",
            "nameGap": 26,
        },
        "yAxis": {"type": "value", "scale": True, "splitLine": {"lineStyle": {"color": _GRID}}},
        "series": [
            _course_options(name, trail, style)
            for (name, trail), style in zip(courses, _STYLES, strict=False)
        ],
    }


def _course_options(name: str, trail: Trail, style: tuple[str, Any, int]) -> dict[str, Any]:
    colour, dashes, width = style
    return {
        "type": "line",
        "name": name,
        "data": list(trail.values),
        "showSymbol": False,
        "symbol": "none",
        "lineStyle": {"color": colour, "type": dashes, "width": width},
        "itemStyle": {"color": colour},
    }
