"""The actions of a recorded episode."""

from collections.abc import Collection
from typing import Self

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

    reaches = ("file",)

    @classmethod
    def seated(cls, seat: Seat, file: str, role: str = "") -> Self:
        """Read a record, whole or cut.

        Args:
            seat: The model, the role and the seed.
            file: The record.
            role: The role whose actions are taken; empty stands for the seat's own, or for the one
                of that name in a part of the recorded model.

        Raises:
            UsageError: The record holds no action of that role, or those of several parts.
            BadRecord: The record cannot be read.
        """
        steps = Episode.read(file, whole=False).steps
        recorded = dict.fromkeys(step.role for step in steps)
        wanted = role or _recorded_role(seat, recorded, file)
        actions = [step.action for step in steps if step.role == wanted]
        if not actions:
            raise UsageError(f"{file} holds no action of {wanted!r}")
        return cls(f"the record {file}", iter(actions))


def _recorded_role(seat: Seat, recorded: Collection[str], file: str) -> str:
    """Return the recorded role that a seat is: in the same model, or in a part played alone."""
    role = seat.role
    if seat.name in recorded or role in recorded:
        return seat.name if seat.name in recorded else role
    same = [each for each in recorded if each.endswith(f".{role}")]
    if len(same) > 1:
        raise UsageError(
            f"{file} holds actions of {' and '.join(map(repr, same))}; say which with role=ROLE"
        )
    return same[0] if same else role
