"""The reason of a request, such as "repair": monitors divide the use of a resource by it."""

from typing import TypeVar

from simpy.resources.resource import Request

from desim.core.points import checked_name

_Request = TypeVar("_Request", bound=Request)

_REASON = "reason"


def with_reason(request: _Request, reason: str) -> _Request:
    """Return a request of a resource, which has a reason from now on.

    Monitors and traces show it: `with with_reason(desk.request(), "repair") as turn:`.

    Args:
        request: From `Resource.request`.
        reason: Words in snake_case.

    Raises:
        UsageError: The reason is not words in snake_case.
    """
    vars(request)[_REASON] = checked_name(reason, "a reason")
    return request


def reason_of(request: Request) -> str:
    """Return the reason of a request; empty if it has none."""
    reason: str = vars(request).get(_REASON, "")
    return reason
