"""Observers of a run, which are called before every event, such as a trace."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from desim.core.world import World


class Observed(Protocol):
    """The run as an observer may read it; an observer must not change it."""

    model: Any
    world: World
    state: Any
    decisions: int


class Observer:
    """Looks at one run; the episode is the same with and without it.

    The world is the run's, or the one of a part of its model.
    """

    def attach(self, run: Observed) -> None:
        """Prepare for a run, whose model has not begun: it has no state yet."""

    def event(self, world: World) -> None:
        """Look at the event that is processed next, the first of `world.scheduled()`."""


def together(calls: Iterable[Callable[..., object]]) -> Callable[..., object] | None:
    """Return one function that makes all of these calls; None without calls."""
    each = tuple(calls)
    if len(each) < 2:  # noqa: PLR2004 (one alone needs no loop)
        return each[0] if each else None

    def call_all(*arguments: Any) -> None:
        for call in each:
            call(*arguments)

    return call_all
