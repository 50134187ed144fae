"""Pieces of the page: figures, tables and texts of what somebody sees."""

from nicegui import ui

from desim.doors.figures import Figure, Grid, Section
from desim.doors.words import NONE

__all__ = ["heading", "show_grid", "show_section"]

#: Rows of a table that are shown at once.
_PAGE = 10
#: Longer values are written smaller.
_SHORT = 16


def heading(text: str, level: int = 2) -> ui.element:
    """Show a heading that screen readers find."""
    size = {1: "text-xl", 2: "text-lg", 3: "text-base"}[level]
    with ui.element(f"h{level}").classes(f"{size} font-semibold m-0 leading-snug") as element:
        ui.label(text)
    return element


def show_section(section: Section, level: int = 3) -> None:
    """Show a laid-out observation."""
    if section.label:
        heading(section.label, level)
        _explain(section.help)
    filled = [figure for figure in section.figures if figure.text != NONE]
    if filled:
        with ui.element("dl").classes("figures"):
            for figure in filled:
                _figure(figure)
    if empty := [figure.label for figure in section.figures if figure.text == NONE]:
        ui.label(f"Empty now: {', '.join(empty)}").classes("help")
    for text in section.texts:
        _text(text)
    for grid in section.grids:
        heading(grid.label, 3)
        _explain(grid.help)
        show_grid(grid)
    for inner in section.sections:
        with ui.element("section").classes("nested stack gap-2"):
            show_section(inner)


def show_grid(grid: Grid, *, mark: str = "", page: int = _PAGE) -> None:
    """Show a table of texts.

    Args:
        grid: The table.
        mark: A row that has this text in it stands out.
        page: Rows shown at once; 0 shows all.
    """
    columns = [
        {"name": str(n), "label": label, "field": str(n), "align": _side(grid, n)}
        for n, label in enumerate(grid.columns)
    ]
    rows = [
        {"key": key, **{str(n): text for n, text in enumerate(row)}}
        for key, row in enumerate(grid.rows)
    ]
    paged = {"rowsPerPage": page} if 0 < page < len(rows) else None
    table = ui.table(columns=columns, rows=rows, row_key="key", pagination=paged)
    table.props("dense flat bordered wrap-cells").classes("w-full")
    table.props["aria-label"] = grid.label
    if mark:
        found = [key for key, row in enumerate(grid.rows) if mark in row]
        table.props(f":table-row-class-fn=\"row => {found}.includes(row.key) ? 'marked' : ''\"")


def _side(grid: Grid, column: int) -> str:
    return "right" if grid.numeric[column] else "left"


def _figure(figure: Figure) -> None:
    with ui.element("div").classes("figure"):
        with ui.element("dt"):
            ui.label(figure.label)
        with ui.element("dd").classes("long" if len(figure.text) > _SHORT else ""):
            ui.label(figure.text)
        if figure.help:
            ui.label(figure.help).classes("help").props["title"] = figure.help


def _text(text: Figure) -> None:
    heading(text.label, 3)
    _explain(text.help)
    ui.label(text.text).classes("message")


def _explain(help: str) -> None:  # noqa: A002
    if help:
        ui.label(help).classes("help")
