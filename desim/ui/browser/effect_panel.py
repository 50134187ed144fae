"""The panel with the effect of the last answer."""

from nicegui import ui

from desim.ui.answer_effects import AnswerEffect
from desim.ui.browser.widgets import heading


def show_effect(effect: AnswerEffect) -> None:
    """Show the last answer, and the world's sentence about it.

    Figures before and after are in the status bar and in the observation.
    """
    with ui.element("section").classes("panel stack gap-2").props("data-effect"):
        heading("Since your last answer")
        ui.label(effect.answer).classes("font-semibold wrap")
        if effect.sentence:
            ui.label(effect.sentence).classes("wrap")
