"""Actions that are known before the episode begins, handed out in order."""

from collections.abc import Iterator
from typing import Any

from attrs import define

from desim import Policy
from desim.errors import PolicyFailed

__all__ = ["FixedActions"]


@define
class FixedActions(Policy):
    """Answers with given actions, in order.

    Attributes:
        source: Where the actions come from, for the error text.
        actions: The actions that are left: instances or tagged objects.
    """

    source: str
    actions: Iterator[Any]

    def decide(self, _: Any) -> Any:
        """Return the next action.

        Raises:
            PolicyFailed: No action is left.
        """
        try:
            return next(self.actions)
        except StopIteration:
            raise PolicyFailed(f"{self.source} has ended, but another action is needed") from None
