"""The past as a chart: small multiples, each with its own scale, as options of ECharts."""

from collections.abc import Sequence
from typing import Any

from desim.doors.past import Axis, Series

__all__ = ["COLUMNS", "height", "options"]

#: Charts side by side, at most so many in all, and the room of one.
COLUMNS, MOST = 3, 12
_ROW = 200
#: With more points than this a line says it all.
_FEW = 40

_INK, _LINE, _GRID = "#44525a", "#2f6f73", "#e3e8ea"


def height(series: Sequence[Series]) -> int:
    """Return how tall the chart is, in pixels."""
    return _ROW * _rows(min(len(series), MOST))


def options(series: Sequence[Series], axis: Axis) -> dict[str, Any]:
    """Return ECharts' options of one small chart a series, each with both axes labelled."""
    shown = series[:MOST]
    each = range(len(shown))
    return {
        "animation": False,
        "textStyle": {"color": _INK},
        "tooltip": {"trigger": "axis"},
        "title": [_title(n, len(shown), one.label) for n, one in enumerate(shown)],
        "grid": [_grid(n, len(shown)) for n in each],
        "xAxis": [_x_axis(n, axis) for n in each],
        "yAxis": [_y_axis(n) for n in each],
        "series": [_series(n, one) for n, one in enumerate(shown)],
    }


def _rows(count: int) -> int:
    return -(-count // COLUMNS)


def _place(number: int, count: int) -> tuple[float, int, float]:
    """Return a chart's left edge in percent, its top in pixels, its width in percent."""
    columns = min(count, COLUMNS)
    width = 100 / columns
    return (number % columns) * width, (number // columns) * _ROW, width


def _title(number: int, count: int, text: str) -> dict[str, Any]:
    left, top, _ = _place(number, count)
    style = {"fontSize": 13, "fontWeight": 600, "color": _INK}
    return {"text": text, "left": f"{left + 1:.2f}%", "top": top + 4, "textStyle": style}


def _grid(number: int, count: int) -> dict[str, Any]:
    left, top, width = _place(number, count)
    return {
        "left": f"{left + 1:.2f}%",
        "top": top + 34,
        "width": f"{width - 4:.2f}%",
        "height": _ROW - 88,
        "containLabel": True,
    }


def _x_axis(number: int, axis: Axis) -> dict[str, Any]:
    return {
        "gridIndex": number,
        "type": "category",
        "data": list(axis.values),
        "name": axis.label,
        "nameLocation": "middle",
        "nameGap": 24,
        "axisTick": {"show": False},
    }


def _y_axis(number: int) -> dict[str, Any]:
    line = {"lineStyle": {"color": _GRID}}
    return {
        "gridIndex": number,
        "type": "value",
        "scale": True,
        "splitNumber": 3,
        "splitLine": line,
    }


def _series(number: int, one: Series) -> dict[str, Any]:
    return {
        "type": "line",
        "name": one.label,
        "xAxisIndex": number,
        "yAxisIndex": number,
        "data": list(one.values),
        "showSymbol": len(one.values) <= _FEW,
        "symbolSize": 5,
        "sampling": "lttb",
        "lineStyle": {"color": _LINE, "width": 2},
        "itemStyle": {"color": _LINE},
    }
