"""The invariant of transfers between parts, verified at each transfer while tests run."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

from desim.composition.group import Group
from desim.errors import UsageError


class Created(AssertionError):
    """A transfer created cash or lost some."""


@contextmanager
def checked() -> Iterator[None]:
    """Verify every `Group.transfer` until the context is left.

    After each transfer, accepted or refused, the two parts together hold as much cash as before,
    and the same intercompany balances cancel.

    Raises:
        Created: A transfer violated this; raised by that transfer.
    """
    transfer = Group.transfer

    @wraps(transfer)
    def checked_transfer(group: Group, sender: str, receiver: str, cents: int) -> None:
        before = _held(group, sender, receiver)
        try:
            transfer(group, sender, receiver, cents)
        finally:
            if before is not None and (after := _held(group, sender, receiver)) != before:
                raise Created(
                    f"{sender} and {receiver} held {before} cents and faults before the transfer "
                    f"of {cents} cents, and {after} after it"
                )

    setattr(Group, "transfer", checked_transfer)  # noqa: B010 (mypy forbids the assignment)
    try:
        yield
    finally:
        setattr(Group, "transfer", transfer)  # noqa: B010 (mypy forbids the assignment)


def _held(group: Group, *names: str) -> tuple[int, list[str]] | None:
    """Return the cash of two parts and the faults of the group; None if a part keeps no cash."""
    try:
        return sum(map(group.cash, names)), group.intercompany_faults()
    except (ValueError, UsageError):  # the transfer itself raises the error
        return None
