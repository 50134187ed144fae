"""The panel of a role's observation: figures with their last change, groups and tables."""

from collections.abc import Mapping

from nicegui import ui

from desim.ui.answer_effects import Change
from desim.ui.browser.widgets import heading, show_group
from desim.ui.layout import ValueGroup


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
