"""The answers of a recorded episode."""

from collections.abc import Iterator
from typing import Any, Self

from attrs import define

from desim import Episode, Seat
from desim.errors import PolicyFailed, UsageError

__all__ = ["Replay"]


@define
class Replay:
    """Give one role's recorded answers again, in order.

    Unlike `desim replay` it compares nothing: the world may differ, and then other things happen.

    Attributes:
        file: The record, for error texts.
        actions: Tagged objects still to be answered.
    """

    file: str
    actions: Iterator[Any]

    @classmethod
    def seated(cls, seat: Seat, file: str, role: str = "") -> Self:
        """Read a record, which may be cut.

        Args:
            seat: Where the policy sits.
            file: The record.
            role: Whose answers to give; empty stands for the seat's own role.

        Raises:
            UsageError: The record holds no answers of that role.
            BadRecord: The record cannot be read.
        """
        wanted = role or seat.role
        actions = [s.action for s in Episode.read(file, whole=False).steps if s.role == wanted]
        if not actions:
            raise UsageError(f"{file} holds no answers of {wanted!r}")
        return cls(file, iter(actions))

    def decide(self, _: Any) -> Any:
        """Answer as recorded."""
        try:
            return next(self.actions)
        except StopIteration:
            raise PolicyFailed(
                f"the record {self.file} has ended, but another action is needed"
            ) from None
