"""Widgets of the page: headings, figures, tables and texts of an observation.

A series as a small chart, in the form of options for ECharts.
"""

from typing import Any

from nicegui import ui

from desim.show.labels import NOTHING
from desim.show.table import Table
from desim.ui.history import Series
from desim.ui.layout import NamedValue, ValueGroup

#: Rows of a table on one page.
_PAGE_ROWS = 10

#: Longer values are shown in a smaller font.
_SHORT = 16

#: Cells of a column up to so long, such as dates, stay in one line; longer words may break.
_UNBROKEN = 10


def heading(text: str, level: int = 2) -> ui.element:
    """Show a heading that screen readers find, of level 1 to 3."""
    size = {1: "text-xl", 2: "text-lg", 3: "text-base"}[level]
    with ui.element(f"h{level}").classes(f"{size} font-semibold m-0 leading-snug") as element:
        ui.label(text)
    return element


def complain(label: ui.label, text: str) -> None:
    """Show an error in the label of a form; nothing for an empty text.

    An answer that was taken has replaced the form, and NiceGUI logs a stack trace for a change of
    an element that is gone.
    """
    if text and not label.is_deleted:
        label.text = text


def missing_help(text: str) -> None:
    """Show which help a model failed to give; nothing for an empty text."""
    if text:
        ui.label(text).classes("missing").props("role=status data-missing")


def show_group(group: ValueGroup, level: int = 3) -> None:
    """Show a laid-out observation."""
    if group.label:
        heading(group.label, level)
        _explain(group.help)
    filled = [figure for figure in group.figures if figure.text != NOTHING]
    if filled:
        with ui.element("dl").classes("figures"):
            for figure in filled:
                _figure(figure)
    if empty := [figure.label for figure in group.figures if figure.text == NOTHING]:
        ui.label(f"Empty now: {', '.join(empty)}").classes("help")
    for text in group.texts:
        _long_text(text)
    for table in group.tables:
        heading(table.title, 3)
        _explain(" ".join(table.legend))
        show_table(table)
    for inner in group.groups:
        with ui.element("section").classes("nested stack gap-2"):
            show_group(inner)


def show_table(table: Table, *, mark: str = "", page: int = _PAGE_ROWS) -> None:
    """Show a table of texts.

    Args:
        table: The table.
        mark: Rows with a cell of this text are highlighted.
        page: Rows on one page; 0 shows all.
    """
    columns = [
        {
            "name": str(n),
            "label": label,
            "field": str(n),
            "align": _side(table, n),
            "classes": "unbroken" if _is_short(table, n) else "words",
        }
        for n, label in enumerate(table.heads)
    ]
    rows = [
        {"key": key, **{str(n): text for n, text in enumerate(row)}}
        for key, row in enumerate(table.lines)
    ]
    paged = {"rowsPerPage": page} if 0 < page < len(rows) else None
    element = ui.table(columns=columns, rows=rows, row_key="key", pagination=paged)
    element.props("dense flat bordered wrap-cells").classes("w-full")
    element.props["aria-label"] = table.title
    if mark:
        keys = [key for key, row in enumerate(table.lines) if mark in row]
        element.props(f":table-row-class-fn=\"row => {keys}.includes(row.key) ? 'marked' : ''\"")


def _side(table: Table, column: int) -> str:
    return "left" if column in table.left else "right"


def _is_short(table: Table, column: int) -> bool:
    """Return whether a column holds numbers, or short texts alone."""
    return column not in table.left or all(len(row[column]) <= _UNBROKEN for row in table.lines)


def _figure(figure: NamedValue) -> None:
    with ui.element("div").classes("figure"):
        with ui.element("dt"):
            ui.label(figure.label)
        with ui.element("dd").classes("long" if len(figure.text) > _SHORT else ""):
            ui.label(figure.text)
        if figure.help:
            ui.label(figure.help).classes("help").props["title"] = figure.help


def _long_text(text: NamedValue) -> None:
    heading(text.label, 3)
    _explain(text.help)
    ui.label(text.text).classes("message")


def _explain(help: str) -> None:  # noqa: A002
    if help:
        ui.label(help).classes("help")


#: Charts on the page.
CHARTS_MAX = 12

#: Points are marked on lines of up to so many.
_MARKED_MAX = 40

_INK, _LINE, _GRID = "#44525a", "#2f6f73", "#e3e8ea"


def options(series: Series, axis: Series) -> dict[str, Any]:
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
        "series": [_chart_line(series)],
    }


def _horizontal(axis: Series) -> dict[str, Any]:
    return {
        "type": "category",
        "data": list(axis.values),
        "name": axis.label,
        "nameLocation": "middle",
        "nameGap": 24,
        "axisTick": {"show": False},
    }


def _chart_line(series: Series) -> dict[str, Any]:
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
