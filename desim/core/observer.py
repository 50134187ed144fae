"""Observers of a run: objects that are called just before every event.

They are how an episode is traced and logged. A run without one takes no time for them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from desim.core.protocols import offers
from desim.core.world import World

__all__ = [
    "MAX_EVENTS",
    "FollowsCauses",
    "Observed",
    "Observer",
    "before_events",
    "on_causes",
]


#: Of the last events of a run, as many are kept at most.
MAX_EVENTS = 100_000


class Observed(Protocol):
    """What an observer may read of the run that it observes; it changes nothing there."""

    model: Any
    world: World
    state: Any


class Observer(Protocol):
    """Looks at one run; the episode is the same with and without it."""

    def attach(self, run: Observed, /) -> None:
        """Prepare for a run, whose model has not begun: it has no state yet."""
        ...

    def event(self, world: World, /) -> None:
        """Look at the event that is processed next: the first of the world's calendar.

        Args:
            world: The run's world, or the one of a part of its model.
        """
        ...


@runtime_checkable
class FollowsCauses(Protocol):
    """An observer that asks which decision has caused what an event does."""

    def cause(self, world: World, role: str, /) -> None:
        """Note that what the present event does from here on is caused by a role's last answer.

        Args:
            world: The run's world, or the one of a part of its model.
            role: Its name in that world; empty where its cause is again its own.
        """
        ...


def on_causes(observers: Sequence[Observer]) -> Callable[[World, str], object] | None:
    """Return what a world calls where a model states a cause; None where none is followed."""
    calls = tuple(one.cause for one in observers if offers(one, FollowsCauses))
    return partial(_call_all_with_role, calls) if calls else None


def before_events(calls: Sequence[Callable[[World], object]]) -> Callable[[World], object] | None:
    """Return what a world calls before every event: all of these; None where there are none."""
    if len(calls) < 2:  # noqa: PLR2004 (one alone needs no loop)
        return calls[0] if calls else None
    return partial(_call_all, tuple(calls))


def _call_all(calls: tuple[Callable[[World], object], ...], world: World) -> None:
    for call in calls:
        call(world)


def _call_all_with_role(
    calls: tuple[Callable[[World, str], object], ...], world: World, role: str
) -> None:
    for call in calls:
        call(world, role)
