"""The panel with the effect of the last answer, above the next decision."""

from nicegui import ui

from desim.ui.answer_effects import AnswerEffect
from desim.ui.browser.widgets import heading


def show_effect(effect: AnswerEffect) -> None:
    """Show the last answer, the world's sentence about it, and figures before and after."""
    with ui.element("section").classes("panel stack gap-2").props("data-effect"):
        heading("Since your last answer", 3)
        ui.label(effect.answer).classes("font-semibold wrap")
        if effect.sentence:
            ui.label(effect.sentence).classes("wrap")
        with ui.element("div").classes("flex flex-row flex-wrap gap-x-6 gap-y-1"):
            for change in effect.changes:
                ui.label(f"{change.label}: {change.before} \u2192 {change.after}").classes("wrap")
