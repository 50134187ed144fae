"""The option of the highest value, in any world whose role offers options."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from attrs import frozen

from desim import Option, Policy, Role, Seat
from desim.errors import UsageError


@frozen
class Greedy(Policy):
    """Take the option with the highest immediate value, the first of equals."""

    memoryless = True
    takes_options = True
    takes_role = True

    def seated(self, seat: Seat) -> None:
        """Check the role.

        Raises:
            UsageError: The role does not offer options.
        """
        check_options(seat)

    def decide(self, observation: Any, role: Role | None = None) -> Any:
        """Return the action of the best option."""
        return max(options(role, observation), key=attrgetter("value")).action


def check_options(seat: Seat) -> None:
    """Raise a UsageError where the role of a seat does not offer options."""
    if seat.spec.options is None:
        raise UsageError(
            f"role {seat.role!r} offers no options, so no policy can choose among them"
        )


def options(role: Role | None, observation: Any) -> Sequence[Option]:
    """Return the sensible actions of a role that offers options, at least one."""
    assert role, "a policy that takes its role is asked with it"
    assert role.options, "the seat was checked"
    return role.options(observation)
