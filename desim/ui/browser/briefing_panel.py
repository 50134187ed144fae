"""The briefing on the page: five answers before the first decision, and all rules in a dialog."""

from nicegui import ui

from desim.core.reported import SeatBriefing
from desim.ui.briefings import briefing_of, rules_paragraphs
from desim.ui.browser.widgets import heading
from desim.ui.game import Game
from desim.ui.part_texts import name_text


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
