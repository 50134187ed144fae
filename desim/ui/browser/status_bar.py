"""The status bar of the page: role, time of total, and the key figures with their last change."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen
from nicegui import ui

from desim.core.model import Model, model_of
from desim.show.labels import is_number
from desim.ui.answer_effects import Change
from desim.ui.layout import NamedValue, ValueGroup, lay_out, time_figure

#: Figures in the bar, at most.
_FIGURES = 5


@frozen
class SeatStatus:
    """An observation in two parts: what the status bar shows, and the rest.

    Attributes:
        time: The time that the role observes; None if it observes none.
        total: The last time, or the length of an episode; empty if it is not known.
        key: The fields of high priority, the highest first; without any, those that are money.
        rest: The observation without what the bar shows.
    """

    time: NamedValue | None
    total: str
    key: tuple[NamedValue, ...]
    rest: ValueGroup


def seat_status(model: Model[Any], role: str, observation: Any, date: str = "") -> SeatStatus:
    """Return the status of a role that decides.

    Args:
        model: The model.
        role: The role.
        observation: What it observes.
        date: The date in the bar, which the rest leaves out; may be empty.
    """
    group = lay_out(observation, model.roles[role].observation)
    time = time_figure(observation, model.roles[role].observation)
    part, inside = model_of(model, role)
    last = [one for one in group.figures if time and one.name in time.column.of]
    key = _key_figures(group)
    shown = {one.name for one in (*key, *last, *([time] if time else []))}
    rest = tuple(
        one
        for one in group.figures
        if one.name not in shown and one.value != inside and one.text != (date or None)
    )
    total = last[0].text if last else part.time.length
    return SeatStatus(time, total, key, evolve(group, figures=rest))


def _key_figures(group: ValueGroup) -> tuple[NamedValue, ...]:
    first = [one for one in group.figures if one.column.priority > 0]
    money = [one for one in group.figures if one.column.kind == "money" and is_number(one.value)]
    found = sorted(first or money, key=lambda one: -one.column.priority)
    return tuple(found[:_FIGURES])


def show_time(status: SeatStatus, date: str) -> None:
    """Show the time of total, and the date unless the time holds it."""
    time = status.time
    # The time of some models is a date already.
    if date and not (time and date in time.text):
        show_fact("date", date)
    if time:
        counted = is_number(time.value) and status.total
        show_fact(time.label.lower(), time.text, f"of {status.total}" if counted else "")
    if status.total and not (time and is_number(time.value)):
        show_fact("length", status.total)


def show_key_figures(status: SeatStatus, changes: Mapping[str, Change]) -> None:
    """Show the key figures, each with its change since the last decision, by label."""
    for figure in status.key:
        change = changes.get(figure.label)
        show_fact(figure.label, figure.text, change.difference if change else "", figure.help)


def show_fact(name: str, text: str, more: str = "", about: str = "") -> None:
    """Show a fact of the bar: its name, its text, what follows it, and an explanation on hover."""
    with ui.element("div").classes("fact") as row:
        ui.label(name).classes("fact-name")
        ui.label(text).classes("font-semibold").props(f'data-fact="{name}"')
        if more:
            ui.label(more).classes("fact-name")
    if about:
        row.props["title"] = about
