"""The panel of a role's observation: figures with their last change, and cards."""

from collections.abc import Callable, Mapping

from attrs import evolve
from nicegui import ui

from desim.ui.answer_effects import Change
from desim.ui.browser.pins import Card, Pins, show_card
from desim.ui.browser.widgets import heading, show_group
from desim.ui.layout import ValueGroup


def show_observation(
    seen: ValueGroup,
    changes: Mapping[str, Change],
    when: str,
    pins: Pins,
    changed: Callable[[], None],
) -> None:
    """Show an observation, and above it the cards that are pinned.

    Args:
        seen: The observation without what the status bar shows.
        changes: Changes since the last decision, by label.
        when: The decision, for cards that are pinned now.
        pins: The pinned cards.
        changed: Called after a card was pinned or unpinned.
    """
    show_pinned(pins, changed)
    cards = [Card(one.label, when, one) for one in seen.groups]
    cards += [Card(one.title, when, one) for one in seen.tables]
    left = [card for card in cards if card not in pins.cards]
    if not (left or seen.figures or seen.texts):
        return
    with ui.element("section").classes("panel stack gap-3 min-w-0").props("data-seen"):
        heading("What you see")
        show_group(evolve(seen, groups=(), tables=()), changes=changes)
        for card in left:
            show_card(card, pins, changed)


def show_pinned(pins: Pins, changed: Callable[[], None]) -> None:
    """Show the pinned cards, if there are any."""
    if pins.cards:
        with ui.element("section").classes("panel stack gap-3 min-w-0").props("data-pinned"):
            heading("Pinned")
            for card in pins.cards:
                show_card(card, pins, changed)
