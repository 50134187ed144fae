"""Replies and tables stay in view until they are unpinned."""

from desim.ui.browser.pins import PINS_MAX, Card, Pins
from desim.ui.layout import ValueGroup


def card(number: int) -> Card:
    """Return a card of one decision."""
    return Card("Reply", f"decision {number}", ValueGroup("Reply"))


def test_a_card_is_pinned_until_it_is_unpinned() -> None:
    """The latest comes first; the same reply of another decision is another card."""
    pins = Pins()
    for number in (1, 2):
        pins.toggle(card(number))
    assert pins.cards == [card(2), card(1)]
    pins.toggle(card(1))
    assert pins.cards == [card(2)]


def test_a_card_too_many_takes_the_place_of_the_oldest() -> None:
    """So that the page stays short."""
    pins = Pins()
    for number in range(PINS_MAX + 3):
        pins.toggle(card(number))
    assert len(pins.cards) == PINS_MAX
    assert pins.cards[0] == card(PINS_MAX + 2)
