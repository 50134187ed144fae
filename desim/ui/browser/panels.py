"""Panels of the page: the status bar, the briefing, the last answer's effect, the observation."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen
from nicegui import ui

from desim.core.model import Model, model_of
from desim.core.reported import SeatBriefing
from desim.show.labels import is_number
from desim.ui.answer_effects import AnswerEffect, Change
from desim.ui.browser.widgets import heading, show_group
from desim.ui.game import Game
from desim.ui.layout import NamedValue, ValueGroup, lay_out, time_figure
from desim.ui.texts import briefing_of, name_text, rules_paragraphs

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


# -- the briefing ----------------------------------------------------------------------------------


def show_briefing(game: Game, role: str, title: str) -> None:
    """Show the briefing of a role that decides for the first time.

    Args:
        game: The game.
        role: The role.
        title: The title of the page, which is not repeated.
    """
    briefing = briefing_of(game.model, role)
    with ui.element("section").classes("panel stack gap-2").props("data-briefing"):
        heading("Before you begin" if briefing.title == title else briefing.title)
        _show_answers(briefing)


def rules_dialog(game: Game) -> ui.dialog:
    """Return the dialog with briefing and rules of each of the person's seats."""
    with ui.dialog().props('aria-label="Rules"') as dialog, ui.card().classes("stack gap-3 rules"):
        for role in game.seats:
            briefing = briefing_of(game.model, role)
            heading(briefing.title)
            _show_answers(briefing)
            heading(f"All rules: {name_text(game.model, role)}", 3)
            for paragraph in rules_paragraphs(game.model, role):
                ui.label(paragraph).classes("wrap whitespace-pre-line")
        ui.button("Close", on_click=dialog.close).props("no-caps").classes("self-end")
    return dialog


def _show_answers(briefing: SeatBriefing) -> None:
    with ui.element("dl").classes("briefing"):
        for begin, answer in briefing.answers():
            with ui.element("dt"):
                ui.label(begin)
            with ui.element("dd"):
                ui.label(answer).classes("wrap")


# -- what is seen ----------------------------------------------------------------------------------


def show_effect(effect: AnswerEffect) -> None:
    """Show the last answer, and the world's sentence about it.

    Figures before and after are in the status bar and in the observation.
    """
    with ui.element("section").classes("panel stack gap-2").props("data-effect"):
        heading("Since your last answer")
        ui.label(effect.answer).classes("font-semibold wrap")
        if effect.sentence:
            ui.label(effect.sentence).classes("wrap")


def show_observation(seen: ValueGroup, changes: Mapping[str, Change]) -> None:
    """Show an observation.

    Args:
        seen: The observation without what the status bar shows.
        changes: Changes since the last decision, by label.
    """
    if not (seen.groups or seen.tables or seen.figures or seen.texts):
        return
    with ui.element("section").classes("panel stack gap-3 min-w-0").props("data-seen"):
        heading("What you see")
        show_group(seen, changes=changes)
