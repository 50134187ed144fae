"""The ticks for which the units of a resource were in use, by the reason of the request."""

from collections import Counter
from collections.abc import Collection
from typing import Any, TypeVar

from simpy.resources.resource import Release, Request

from desim.core.points import checked_name
from desim.core.world import World
from desim.errors import UsageError

#: The most reasons of one resource: each is a metric.
MOST_REASONS = 100


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
        warm_up: The time before this tick does not count.
    """

    def __init__(self, clock: World, warm_up: int) -> None:
        self._clock = clock
        self._start = max(clock.now, warm_up)
        self._since: dict[Request, int] = {}
        self._ticks: Counter[str] = Counter()

    def note(self, event: Any) -> None:
        """Note that a request was granted, or released."""
        if isinstance(event, Release):
            self._end(event.request)
        elif event.triggered:
            self.begin(event)

    def begin(self, request: Request) -> None:
        """Note that a request uses a unit from now on."""
        self._since[request] = self._clock.now

    def end_all_but(self, users: Collection[Request]) -> None:
        """End the uses of all requests but the present users."""
        for request in [each for each in self._since if each not in users]:
            self._end(request)

    def means(self) -> dict[str, float]:
        """Return the mean units in use by reason, in the order of their first end.

        The use by requests without a reason is "other"; empty if no request has had a reason.

        Raises:
            UsageError: There are more than `MOST_REASONS` reasons.
        """
        ticks = self._ticks.copy()
        for request, since in self._since.items():
            ticks[reason_of(request)] += self._lasted(since)
        if not ticks.keys() - {""}:
            return {}
        passed = self._clock.now - self._start
        return {reason or "other": each / passed for reason, each in ticks.items() if passed > 0}

    def _end(self, request: Request) -> None:
        # A request that lost its unit is released again at the end of its `with`.
        since = self._since.pop(request, None)
        if since is None:
            return
        # Read here, because a request that is granted at once has no reason yet at its grant.
        self._ticks[reason_of(request)] += self._lasted(since)
        if len(self._ticks) > MOST_REASONS:
            raise UsageError(
                f"requests have had {len(self._ticks)} reasons; {MOST_REASONS} are possible"
            )

    def _lasted(self, since: int) -> int:
        ticks: int = self._clock.now - max(since, self._start)
        return max(0, ticks)
