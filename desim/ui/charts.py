"""A series as a small chart, in the form of options for ECharts."""

from typing import Any

from desim.ui.history import Axis, Series

__all__ = ["CHARTS_MAX", "options"]

#: Charts on the page.
CHARTS_MAX = 12
#: Points are marked on lines of up to so many.
_MARKED_MAX = 40

_INK, _LINE, _GRID = "#44525a", "#2f6f73", "#e3e8ea"


def options(series: Series, axis: Axis) -> dict[str, Any]:
    """Return the options of one chart, both axes labelled: the vertical one by the title."""
    style = {"fontSize": 13, "fontWeight": 600, "color": _INK}
    return {
        "animation": False,
        "textStyle": {"color": _INK},
        "tooltip": {"trigger": "axis", "confine": True},
        "title": {"text": series.label, "left": 0, "top": 0, "textStyle": style},
        "grid": {"left": 4, "right": 12, "top": 32, "bottom": 24, "containLabel": True},
        "xAxis": _horizontal(axis),
        "yAxis": {
            "type": "value",
            "scale": True,
            "splitNumber": 3,
            "splitLine": {"lineStyle": {"color": _GRID}},
        },
        "series": [_line(series)],
    }


def _horizontal(axis: Axis) -> dict[str, Any]:
    return {
        "type": "category",
        "data": list(axis.values),
        "name": axis.label,
        "nameLocation": "middle",
        "nameGap": 24,
        "axisTick": {"show": False},
    }


def _line(series: Series) -> dict[str, Any]:
    return {
        "type": "line",
        "name": series.label,
        "data": list(series.values),
        "showSymbol": len(series.values) <= _MARKED_MAX,
        "symbolSize": 5,
        "sampling": "lttb",
        "lineStyle": {"color": _LINE, "width": 2},
        "itemStyle": {"color": _LINE},
    }
