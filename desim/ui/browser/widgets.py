"""Widgets of the page: headings, figures, tables and texts of an observation."""

from collections.abc import Mapping

from nicegui import ui

from desim.show.labels import NOTHING
from desim.show.table import Table
from desim.ui.answer_effects import Change
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


def expansion(label: str) -> ui.expansion:
    """Show a panel that opens, which screen readers call what is written on it."""
    panel = ui.expansion(label).classes("w-full line")
    # Without a name of its own, the panel is named by its content; the arrow has no text then.
    panel.props("dense :toggle-aria-label=null").props["expand-icon"] = "M7 10l5 5 5-5z"
    return panel


def show_group(group: ValueGroup, changes: Mapping[str, Change] = {}) -> None:
    """Show a laid-out observation.

    Args:
        group: The observation, or a mapping in it.
        changes: Changes of its figures since the last decision, by label.
    """
    if group.label:
        heading(group.label, 3)
    _explain(group.help)
    filled = [figure for figure in group.figures if figure.text != NOTHING]
    if filled:
        with ui.element("dl").classes("figures"):
            for figure in filled:
                _figure(figure, changes.get(figure.label))
    if empty := [_emptied(each, changes) for each in group.figures if each.text == NOTHING]:
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
    # Scrolled sideways by keys as well, which needs the focus.
    with ui.element("div").classes("wide").props("tabindex=0 role=group") as scroller:
        element = ui.table(columns=columns, rows=rows, row_key="key", pagination=paged)
    scroller.props["aria-label"] = table.title
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


def _figure(figure: NamedValue, change: Change | None) -> None:
    with ui.element("div").classes("figure"):
        with ui.element("dt"):
            ui.label(figure.label)
        with ui.element("dd").classes("long" if len(figure.text) > _SHORT else ""):
            ui.label(figure.text)
            if change:
                ui.label(change.difference or f"was {change.before}").classes("change")
            if figure.help:
                ui.label(figure.help).classes("help").props["title"] = figure.help


def _emptied(figure: NamedValue, changes: Mapping[str, Change]) -> str:
    change = changes.get(figure.label)
    return f"{figure.label} (was {change.before})" if change else figure.label


def _long_text(text: NamedValue) -> None:
    heading(text.label, 3)
    _explain(text.help)
    ui.label(text.text).classes("message").props("tabindex=0")


def _explain(help: str) -> None:  # noqa: A002
    if help:
        ui.label(help).classes("help")
