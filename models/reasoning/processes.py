"""The processes of an episode: windows of items arrive, and the analyst answers one by one."""

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from desim import World
from models.reasoning.actions import Command
from models.reasoning.item import Item
from models.reasoning.params import ReasoningParams
from models.reasoning.state import Desk

Process = Generator[Any, Any, None]

#: The only role.
ANALYST = "analyst"


def begin(world: World, params: ReasoningParams) -> Desk:
    """Put the items in order and start the analyst's work."""
    desk = Desk(world, params, _ordered(world, params))
    world.process(work(world, desk))
    return desk


def work(world: World, desk: Desk) -> Process:
    """Answer window after window; an answer is posted when the time that it takes is over."""
    items, window = desk.items, desk.params.window
    for first in range(0, len(items), window):
        places = range(first, min(first + window, len(items)))
        desk.arrive(len(places))
        for at in places:
            desk.put = at + 1
            command: Command = yield world.ask(ANALYST, partial(desk.observe, at))
            yield world.timeout(desk.params.seconds_per_item)
            desk.answer(items[at], command)
        desk.close_window()
    world.end("all answered")


def redraw(world: World, desk: Desk) -> None:
    """Shuffle the items again that the analyst has not seen."""
    if desk.params.order == "shuffled":
        desk.items[desk.put :] = _shuffled(world, desk.items[desk.put :])


def _ordered(world: World, params: ReasoningParams) -> list[Item]:
    items = params.chosen_items
    return list(items) if params.order == "given" else _shuffled(world, items)


def _shuffled(world: World, items: Sequence[Item]) -> list[Item]:
    return [items[at] for at in world.stream("order").permutation(len(items))]
