"""Replies and tables that a person keeps in view, until they unpin them."""

from collections.abc import Callable

from attrs import define, field, frozen
from nicegui import ui

from desim.show.table import Table
from desim.ui.browser.widgets import heading, show_group, show_table
from desim.ui.layout import ValueGroup

#: Cards that are kept; a further one takes the place of the oldest.
PINS_MAX = 8


@frozen
class Card:
    """A reply or a table as it was at one decision.

    Attributes:
        title: Its name.
        when: The decision at which it was shown.
        content: Its values.
    """

    title: str
    when: str
    content: ValueGroup | Table = field(eq=False)


@define(eq=False)
class Pins:
    """The cards that are pinned, the latest first; all tabs of a game show the same."""

    cards: list[Card] = field(factory=list)

    def toggle(self, card: Card) -> None:
        """Pin a card, or unpin it if it is pinned."""
        if card in self.cards:
            self.cards.remove(card)
        else:
            self.cards.insert(0, card)
            del self.cards[PINS_MAX:]


def show_card(card: Card, pins: Pins, changed: Callable[[], None]) -> None:
    """Show a card with the button that pins or unpins it.

    Args:
        card: The card.
        pins: The pinned cards.
        changed: Called after the button was pressed.
    """
    pinned = card in pins.cards

    def toggle() -> None:
        pins.toggle(card)
        changed()

    with ui.element("section").classes("card stack gap-2"):
        with ui.row().classes("items-center w-full no-wrap"):
            heading(card.title, 3)
            if pinned:
                ui.label(card.when).classes("help")
            does = "Unpin" if pinned else "Pin"
            button = ui.button(does, on_click=toggle).classes("ml-auto")
            button.props("no-caps outline dense size=sm data-pin")
            button.props["aria-label"] = f"{does} {card.title}"
        if isinstance(card.content, Table):
            show_table(card.content)
        else:
            show_group(card.content, headed=False)
