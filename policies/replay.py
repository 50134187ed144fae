"""The actions of a recorded episode."""

from typing import ClassVar, Self

from attrs import define

from desim import Episode, Seat
from desim.errors import UsageError
from policies.fixed_actions import FixedActions

__all__ = ["Replay"]


@define
class Replay(FixedActions):
    """Give one role's recorded answers again, in order.

    Unlike `desim replay` it compares nothing: in another world or with another seed the same
    actions lead to another episode.
    """

    reaches: ClassVar[tuple[str, ...]] = ("file",)

    @classmethod
    def seated(cls, seat: Seat, file: str, role: str = "") -> Self:
        """Read a record, whole or cut.

        Args:
            seat: The model, the role and the seed.
            file: The record.
            role: The role whose actions are taken; empty stands for the seat's own.

        Raises:
            UsageError: The record holds no action of that role.
            BadRecord: The record cannot be read.
        """
        wanted = role or seat.role
        actions = [s.action for s in Episode.read(file, whole=False).steps if s.role == wanted]
        if not actions:
            raise UsageError(f"{file} holds no action of {wanted!r}")
        return cls(f"the record {file}", iter(actions))
