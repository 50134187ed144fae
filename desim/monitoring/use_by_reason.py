"""The ticks for which the units of a resource were in use, by the reason of the request."""

from collections import Counter
from typing import TypeVar

from simpy.resources.resource import Request, Resource

from desim.core.points import checked_name
from desim.core.world import World

_Request = TypeVar("_Request", bound=Request)


def with_reason(request: _Request, reason: str) -> _Request:
    """Return a request of a resource, which has a reason from now on.

    Monitors and traces show it: `with with_reason(desk.request(), "repair") as turn:`.

    Args:
        request: From `Resource.request`.
        reason: Words in snake_case.

    Raises:
        UsageError: The reason is not words in snake_case.
    """
    vars(request)["reason"] = checked_name(reason, "a reason")
    return request


def reason_of(request: Request) -> str:
    """Return the reason of a request; empty if it has none."""
    reason: str = vars(request).get("reason", "")
    return reason


class UseByReason:
    """The ticks for which the units of a resource were in use, by reason.

    Args:
        clock: The world.
        resource: The one that is used.
        warm_up: The time before this tick does not count.
    """

    def __init__(self, clock: World, resource: Resource, warm_up: int) -> None:
        self._clock, self._resource = clock, resource
        self._start = self._last = max(clock.now, warm_up)
        self._users: list[Request] = list(resource.users)
        self._ticks: Counter[str] = Counter()

    def note(self) -> None:
        """Count the uses since the last call; to be called whenever they have changed."""
        passed = max(0, self._clock.now - self._last)
        # Reasons are read now, because a request that is granted at once has none yet.
        for request in self._users:
            self._ticks[reason_of(request)] += passed
        self._last += passed
        self._users = list(self._resource.users)

    def means(self) -> dict[str, float]:
        """Return the mean units in use by reason, in the order of their first use.

        The use by requests without a reason is "other"; empty if no request has had a reason.
        """
        self.note()
        passed = self._last - self._start
        if not passed or not self._ticks.keys() - {""}:
            return {}
        return {reason or "other": each / passed for reason, each in self._ticks.items()}
